package machine_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

func TestSnapshotRestores(t *testing.T) {
	for _, rows := range []int{0, 1, 511, 512, 513, 3000} {
		m := machinetest.Filled(rows)
		var buf bytes.Buffer
		require.NoError(t, m.Save(&buf))

		r := machinetest.Filled(5) // a restore replaces these rows
		changed := []<-chan struct{}{r.Changed("registers"), r.Changed("others")}
		require.NoError(t, r.Load(&buf))
		require.Equal(t, m.Checksum(), r.Checksum(), "%d rows", rows)
		for _, ch := range changed {
			<-ch // a restore may have changed any table
		}
		a, _ := m.Do(&machinetest.Set{Name: "next"}, command.ID{9}, false)
		b, _ := r.Do(&machinetest.Set{Name: "next"}, command.ID{9}, false)
		require.Equal(t, a, b, "sequence and time continue")
	}
}

func TestDamagedSnapshotChangesNothing(t *testing.T) {
	var buf bytes.Buffer
	require.NoError(t, machinetest.Filled(20).Save(&buf))
	good := buf.Bytes()
	m := machinetest.Filled(3)
	before := m.Checksum()
	refused := func(data []byte, what string, at int) {
		t.Helper()
		require.Error(t, m.Load(bytes.NewReader(data)), "%s at %d", what, at)
	}
	for i := range good {
		refused(good[:i], "cut", i)
		if i >= 8 && i < 16 {
			continue // the index of the snapshot, which raft's checksum covers
		}
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		refused(bad, "flipped bit", i)
	}
	require.Equal(t, before, m.Checksum())

	less := machinetest.Toy()
	delete(less.Tables, "others")
	delete(less.Rows, "others")
	require.ErrorContains(t, machine.NewMemory(less, machinetest.FixedNow).Load(bytes.NewReader(good)), "is unknown or out of order")
}

// TestNewTableKeepsChecksum: a later version with an additional table replays an old log
// to the same checksum.
func TestNewTableKeepsChecksum(t *testing.T) {
	less := machinetest.Toy()
	delete(less.Tables, "others")
	delete(less.Rows, "others")
	older, newer := machine.NewMemory(less, machinetest.FixedNow), machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
	older.Do(&machinetest.Set{Name: "a"}, command.ID{1}, false)
	newer.Do(&machinetest.Set{Name: "a"}, command.ID{1}, false)
	require.Equal(t, older.Checksum(), newer.Checksum())
}

// TestSnapshotDoesNotStopCommands: commands are applied while a snapshot is being
// written, and are not in it.
func TestSnapshotDoesNotStopCommands(t *testing.T) {
	m := machinetest.Filled(20000)
	before := m.Checksum()
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() { written <- m.Save(w) }()
	head := make([]byte, 20)
	_, err := io.ReadFull(r, head) // the write has begun, and blocks until it is read
	require.NoError(t, err)
	for i := range 100 {
		_, wrote := m.Do(&machinetest.Set{Name: fmt.Sprint(i), Value: 99}, command.ID{7, byte(i)}, false)
		require.True(t, wrote)
	}
	restored := machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
	require.NoError(t, restored.Load(io.MultiReader(bytes.NewReader(head), r)))
	require.NoError(t, <-written)
	require.Equal(t, before, restored.Checksum())
	require.NotEqual(t, before, m.Checksum())
}

func FuzzReadSnapshot(f *testing.F) {
	var buf bytes.Buffer
	require.NoError(f, machinetest.Filled(3).Save(&buf))
	f.Add(buf.Bytes())
	f.Add([]byte("cluster\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
		before := m.Checksum()
		if err := m.Load(bytes.NewReader(data)); err != nil {
			require.Equal(t, before, m.Checksum())
		}
	})
}
