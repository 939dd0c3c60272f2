package machine_test

import (
	"bytes"
	"testing"

	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

// sum is the sum of all registers.
type sum struct{ value uint64 }

// summing returns the toy machine with the sum of its registers as a derived value, and
// the number of times the sum was computed.
func summing() (m machine.Machine, made *int) {
	m, made = machinetest.Toy(), new(int)
	m.Derived = &machine.Derived{Table: "sum", From: []string{"registers"}, Make: func(txn *memdb.Txn) any {
		*made++
		s := new(sum)
		rows, err := txn.Get("registers", "id")
		if err != nil {
			panic(err)
		}
		for row := rows.Next(); row != nil; row = rows.Next() {
			s.value += row.(*machinetest.Register).Value
		}
		return s
	}}
	return m, made
}

func sumOf(t *testing.T, txn *memdb.Txn) uint64 {
	t.Helper()
	row, err := txn.First("sum", "id", true)
	require.NoError(t, err)
	return row.(*sum).value
}

// seesSum is Set, and records the derived value that it sees.
type seesSum struct {
	machinetest.Set
	t    *testing.T
	seen *[]uint64
}

func (c *seesSum) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	*c.seen = append(*c.seen, sumOf(c.t, txn))
	return c.Set.Decide(txn, m)
}

func TestDerivedFollowsItsTables(t *testing.T) {
	toy, made := summing()
	m, plain := machine.NewMemory(toy, machinetest.FixedNow), machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
	require.Zero(t, sumOf(t, m.View()), "an empty state has a derived value")
	set := func(table, name string, value uint64, id byte) {
		for _, to := range []*machine.Memory{m, plain} {
			to.Do(&machinetest.Set{Table: table, Name: name, Value: value}, command.ID{id}, false)
		}
	}
	set("registers", "a", 2, 1)
	before := m.View()
	set("registers", "b", 3, 2)
	require.EqualValues(t, 5, sumOf(t, m.View()))
	require.EqualValues(t, 2, sumOf(t, before), "an older view keeps its derived value")
	times := *made
	set("others", "a", 7, 3)
	require.Equal(t, times, *made, "a write to another table does not recompute the derived value")
	require.EqualValues(t, 5, sumOf(t, m.View()))

	require.Equal(t, plain.Checksum(), m.Checksum(), "the derived value is not in the checksum")
	var snapshot bytes.Buffer
	require.NoError(t, m.Save(&snapshot))
	restored, _ := summing()
	r := machine.NewMemory(restored, machinetest.FixedNow)
	require.NoError(t, r.Load(bytes.NewReader(snapshot.Bytes())))
	require.EqualValues(t, 5, sumOf(t, r.View()))
	require.NoError(t, plain.Load(bytes.NewReader(snapshot.Bytes())), "the derived value is not in the snapshot")
}

// TestDerivedWithinAnEntry: a command sees the derived value after the earlier commands
// of its entry.
func TestDerivedWithinAnEntry(t *testing.T) {
	toy, _ := summing()
	var seen []uint64
	toy.Commands[machinetest.KindSet] = func() command.Command { return &seesSum{t: t, seen: &seen} }
	m := machine.NewMemory(toy, machinetest.FixedNow)
	var cmds []machine.Encoded
	for i, name := range []string{"a", "b", "a"} {
		body := machinetest.Encode(&machinetest.Set{Name: name, Value: uint64(i + 1)})
		cmds = append(cmds, machine.Encoded{Kind: machinetest.KindSet, ID: command.ID{byte(i)}, Body: body})
	}
	require.NoError(t, m.Apply(machinetest.Entry(cmds...)))
	require.Equal(t, []uint64{0, 1, 3}, seen)
	require.EqualValues(t, 5, sumOf(t, m.View()))
}

func TestDerivedTableIsChecked(t *testing.T) {
	for name, d := range map[string]machine.Derived{
		"a table of rows":  {Table: "others", From: []string{"registers"}},
		"an unknown table": {Table: "sum", From: []string{"nothing"}},
	} {
		m := machinetest.Toy()
		m.Derived = &d
		_, err := machine.New(m, nil)
		require.Error(t, err, name)
	}
	toy, _ := summing()
	m, err := machine.New(toy, nil)
	require.NoError(t, err)
	_, err = m.Preview(&machinetest.Set{Table: "sum", Name: "a"}, command.Meta{}, 1)
	require.Error(t, err, "a command can't write the derived table")
}
