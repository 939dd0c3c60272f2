package machine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

func TestMemoryDecidesAndWrites(t *testing.T) {
	m := machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
	empty := m.Checksum()

	v, wrote := m.Do(&machinetest.Raise{Name: "a"}, command.ID{1}, false)
	require.Equal(t, machinetest.Raised{OK: true, Value: 1}, v)
	require.True(t, wrote)
	require.NotEqual(t, empty, m.Checksum())

	before := m.Checksum()
	v, wrote = m.Do(&machinetest.Raise{Name: "a"}, command.ID{2}, false)
	require.Equal(t, machinetest.Raised{Value: 1}, v)
	require.False(t, wrote)
	require.Equal(t, before, m.Checksum(), "a refusal changes nothing")

	v, wrote = m.Do(&machinetest.Raise{Name: "a"}, command.ID{1}, true)
	require.Equal(t, machinetest.Raised{OK: true, Value: 1, Again: true}, v, "same command, same answer")
	require.False(t, wrote)
	require.Equal(t, uint64(1), machinetest.Find(m.View(), "a").Value)

	_, wrote = m.Do(&machinetest.Forget{Name: "a"}, command.ID{3}, false)
	require.True(t, wrote)
	require.Zero(t, machinetest.Find(m.View(), "a").Value)
	require.NotPanics(t, func() { m.Do(&machinetest.Forget{Name: "a"}, command.ID{4}, false) }, "deleting a missing row")
}

func TestStateTimeNeverRunsBack(t *testing.T) {
	now := time.UnixMilli(5000)
	m := machine.NewMemory(machinetest.Toy(), func() time.Time { return now })
	var last int64
	for i, stamp := range []int64{5000, 4000, 5001, 0, -7, 6000} {
		now = time.UnixMilli(stamp)
		v, _ := m.Do(&machinetest.Set{Name: fmt.Sprint(i)}, command.ID{byte(i)}, false)
		meta := v.(command.Meta)
		require.GreaterOrEqual(t, meta.At, last)
		require.GreaterOrEqual(t, meta.At, stamp)
		require.Equal(t, uint64(i+1), meta.Seq)
		last = meta.At
	}
	require.Equal(t, int64(6000), last)
}

// TestBatchBordersLeaveNoTrace: the same commands give the same state, however they are
// split into entries and transactions.
func TestBatchBordersLeaveNoTrace(t *testing.T) {
	cmds := goldenCommands(2000)
	var want [32]byte
	for i, size := range []int{1, 2, 7, 64, 256} {
		for _, together := range []int{1, 3, 64} {
			m := machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
			var entries [][]byte
			for at := 0; at < len(cmds); at += size {
				entries = append(entries, machinetest.Entry(cmds[at:min(at+size, len(cmds))]...))
			}
			for at := 0; at < len(entries); at += together {
				require.NoError(t, m.Apply(entries[at:min(at+together, len(entries))]...))
			}
			if i == 0 && together == 1 {
				want = m.Checksum()
			}
			require.Equal(t, want, m.Checksum(), "entries of %d commands, %d together", size, together)
		}
	}
}

// TestDecideSeesItsBatch: each command is decided on the result of those before it in the
// batch.
func TestDecideSeesItsBatch(t *testing.T) {
	m := machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
	var cmds []machine.Encoded
	for i := range 100 {
		cmds = append(cmds, machine.Encoded{
			Kind: machinetest.KindRaise, ID: command.ID{1, byte(i)}, At: 1, Body: machinetest.Encode(&machinetest.Raise{Name: "a", Known: uint64(i / 2)}),
		})
	}
	require.NoError(t, m.Apply(machinetest.Entry(cmds...)))
	require.Equal(t, uint64(50), machinetest.Find(m.View(), "a").Value, "of two commands with the same known value, one succeeds")
}

func TestUnknownKind(t *testing.T) {
	unknown := machine.Encoded{Kind: 99, At: 7, Body: []byte("not even CBOR")}
	known := machine.Encoded{Kind: machinetest.KindSet, ID: command.ID{1}, At: 3, Body: machinetest.Encode(&machinetest.Set{Name: "a"})}

	t.Run("stops", func(t *testing.T) {
		m := machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
		before := m.Checksum()
		err := m.Apply(machinetest.Entry(known, unknown))
		require.ErrorContains(t, err, "kind 99")
		require.Equal(t, before, m.Checksum(), "nothing of the entry was written")
	})
	t.Run("is skipped when it may be", func(t *testing.T) {
		m := machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
		unknown.Flags = machine.FlagIgnorable
		require.NoError(t, m.Apply(machinetest.Entry(unknown, known)))
		row := machinetest.Find(m.View(), "a")
		require.Equal(t, uint64(2), row.Seq, "a skipped command has a position in the sequence")
		require.Equal(t, int64(7), row.At, "a skipped command sets state time")
	})
}

func TestUnknownFieldsAreTolerated(t *testing.T) {
	m := machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
	body := machinetest.Encode(map[int]any{1: "a", 2: 5, 77: "from a newer version"})
	require.NoError(t, m.Apply(machinetest.Entry(machine.Encoded{Kind: machinetest.KindSet, Body: body})))
	require.Equal(t, uint64(5), machinetest.Find(m.View(), "a").Value)
}

func TestBadBodyStops(t *testing.T) {
	m := machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
	for _, body := range [][]byte{nil, {0xff}, []byte("\x62ab"), {0xa2, 1, 0x61, 'a', 1, 0x61, 'b'}} {
		require.Error(t, m.Apply(machinetest.Entry(machine.Encoded{Kind: machinetest.KindSet, Body: body})))
	}
}
