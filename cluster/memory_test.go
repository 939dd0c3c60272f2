package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
)

func TestMemoryDecidesAndWrites(t *testing.T) {
	m := cluster.NewMemory(toy(), fixedNow)
	empty := m.Checksum()

	v, wrote := m.Do(&raise{Name: "a"}, command.ID{1}, false)
	require.Equal(t, raised{OK: true, Value: 1}, v)
	require.True(t, wrote)
	require.NotEqual(t, empty, m.Checksum())

	before := m.Checksum()
	v, wrote = m.Do(&raise{Name: "a"}, command.ID{2}, false)
	require.Equal(t, raised{Value: 1}, v)
	require.False(t, wrote)
	require.Equal(t, before, m.Checksum(), "a refusal leaves no trace")

	v, wrote = m.Do(&raise{Name: "a"}, command.ID{1}, true)
	require.Equal(t, raised{OK: true, Value: 1, Again: true}, v, "same command, same answer")
	require.False(t, wrote)
	require.Equal(t, uint64(1), find(m.View(), "a").Value)

	_, wrote = m.Do(&forget{Name: "a"}, command.ID{3}, false)
	require.True(t, wrote)
	require.Zero(t, find(m.View(), "a").Value)
	require.NotPanics(t, func() { m.Do(&forget{Name: "a"}, command.ID{4}, false) }, "deleting what is not there")
}

func TestStateTimeNeverRunsBack(t *testing.T) {
	now := time.UnixMilli(5000)
	m := cluster.NewMemory(toy(), func() time.Time { return now })
	var last int64
	for i, stamp := range []int64{5000, 4000, 5001, 0, -7, 6000} {
		now = time.UnixMilli(stamp)
		v, _ := m.Do(&set{Name: fmt.Sprint(i)}, command.ID{byte(i)}, false)
		meta := v.(command.Meta)
		require.GreaterOrEqual(t, meta.At, last)
		require.GreaterOrEqual(t, meta.At, stamp)
		require.Equal(t, uint64(i+1), meta.Seq)
		last = meta.At
	}
	require.Equal(t, int64(6000), last)
}

// TestBatchBordersLeaveNoTrace: the same commands, cut into entries and
// transactions in any way, give the same state.
func TestBatchBordersLeaveNoTrace(t *testing.T) {
	cmds := goldenCommands(2000)
	var want [32]byte
	for i, size := range []int{1, 2, 7, 64, 256} {
		for _, together := range []int{1, 3, 64} {
			m := cluster.NewMemory(toy(), fixedNow)
			var entries [][]byte
			for at := 0; at < len(cmds); at += size {
				entries = append(entries, cluster.Entry(cmds[at:min(at+size, len(cmds))]...))
			}
			for at := 0; at < len(entries); at += together {
				require.NoError(t, m.ApplyEntries(entries[at:min(at+together, len(entries))]))
			}
			if i == 0 && together == 1 {
				want = m.Checksum()
			}
			require.Equal(t, want, m.Checksum(), "entries of %d commands, %d together", size, together)
		}
	}
}

// TestDecideSeesItsBatch: every command is decided on what those before it left.
func TestDecideSeesItsBatch(t *testing.T) {
	m := cluster.NewMemory(toy(), fixedNow)
	var cmds []cluster.EncodedCommand
	for i := range 100 {
		cmds = append(cmds, cluster.EncodedCommand{
			Kind: kindRaise, ID: command.ID{1, byte(i)}, At: 1, Body: cluster.Encode(&raise{Name: "a", Known: uint64(i / 2)}),
		})
	}
	require.NoError(t, m.ApplyEntry(cluster.Entry(cmds...)))
	require.Equal(t, uint64(50), find(m.View(), "a").Value, "of two with the same knowledge one wins")
}

func TestUnknownKind(t *testing.T) {
	unknown := cluster.EncodedCommand{Kind: 99, At: 7, Body: []byte("not even CBOR")}
	known := cluster.EncodedCommand{Kind: kindSet, ID: command.ID{1}, At: 3, Body: cluster.Encode(&set{Name: "a"})}

	t.Run("stops", func(t *testing.T) {
		m := cluster.NewMemory(toy(), fixedNow)
		before := m.Checksum()
		err := m.ApplyEntry(cluster.Entry(known, unknown))
		require.ErrorContains(t, err, "kind 99")
		require.Equal(t, before, m.Checksum(), "nothing of the entry was written")
	})
	t.Run("is skipped when it may be", func(t *testing.T) {
		m := cluster.NewMemory(toy(), fixedNow)
		unknown.Flags = cluster.FlagIgnorable
		require.NoError(t, m.ApplyEntry(cluster.Entry(unknown, known)))
		row := find(m.View(), "a")
		require.Equal(t, uint64(2), row.Seq, "what was skipped has its place in the sequence")
		require.Equal(t, int64(7), row.At, "and its time")
	})
	t.Run("is marked by its proposer", func(t *testing.T) {
		older := toy()
		delete(older.Commands, kindHint)
		n := open(t, config(t, ""))
		_, index, err := n.Propose(t.Context(), &hint{set{Name: "a"}})
		require.NoError(t, err)
		require.NoError(t, cluster.NewMemory(older, fixedNow).ApplyEntry(entryAt(t, n, index)))
	})
}

func TestUnknownFieldsAreTolerated(t *testing.T) {
	m := cluster.NewMemory(toy(), fixedNow)
	body := cluster.Encode(map[int]any{1: "a", 2: 5, 77: "from a newer version"})
	require.NoError(t, m.ApplyEntry(cluster.Entry(cluster.EncodedCommand{Kind: kindSet, Body: body})))
	require.Equal(t, uint64(5), find(m.View(), "a").Value)
}

func TestBadBodyStops(t *testing.T) {
	m := cluster.NewMemory(toy(), fixedNow)
	for _, body := range [][]byte{nil, {0xff}, []byte("\x62ab"), {0xa2, 1, 0x61, 'a', 1, 0x61, 'b'}} {
		require.Error(t, m.ApplyEntry(cluster.Entry(cluster.EncodedCommand{Kind: kindSet, Body: body})))
	}
}

func TestMachineIsChecked(t *testing.T) {
	for name, spoil := range map[string]func(*cluster.Machine){
		"table without prototype": func(m *cluster.Machine) { delete(m.Rows, "others") },
		"prototype without table": func(m *cluster.Machine) { delete(m.Tables, "others") },
		"prototype is a value":    func(m *cluster.Machine) { m.Rows["others"] = func() any { return register{} } },
		"table name is taken":     func(m *cluster.Machine) { m.Tables["cluster"] = m.Tables["others"] },
		"kind calls itself another": func(m *cluster.Machine) {
			m.Commands[9] = func() command.Command { return new(set) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := toy()
			spoil(&m)
			require.Panics(t, func() { cluster.NewMemory(m, fixedNow) })
			c := config(t, "")
			c.Machine = m
			_, err := cluster.Open(t.Context(), c)
			require.Error(t, err)
		})
	}
}
