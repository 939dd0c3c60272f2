package cluster_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
)

// filled is a machine with rows in both tables and a status.
func filled(t testing.TB, rows int) *cluster.Memory {
	m := cluster.NewMemory(toy(), fixedNow)
	for i := range rows {
		m.Do(&set{Name: fmt.Sprint(i), Value: uint64(i), Pad: []byte("pad")}, command.ID{byte(i)}, false)
		m.Do(&set{Name: fmt.Sprint(i), Table: "others"}, command.ID{byte(i), 1}, false)
	}
	return m
}

func TestSnapshotRestores(t *testing.T) {
	for _, rows := range []int{0, 1, 511, 512, 513, 3000} {
		m := filled(t, rows)
		var buf bytes.Buffer
		require.NoError(t, m.Save(&buf))

		r := filled(t, 5) // what was there before is gone
		changed := []<-chan struct{}{r.Changed("registers"), r.Changed("others")}
		require.NoError(t, r.Load(&buf))
		require.Equal(t, m.Checksum(), r.Checksum(), "%d rows", rows)
		for _, ch := range changed {
			<-ch // a restore may have changed any table
		}
		a, _ := m.Do(&set{Name: "next"}, command.ID{9}, false)
		b, _ := r.Do(&set{Name: "next"}, command.ID{9}, false)
		require.Equal(t, a, b, "sequence and time go on")
	}
}

func TestDamagedSnapshotChangesNothing(t *testing.T) {
	var buf bytes.Buffer
	require.NoError(t, filled(t, 20).Save(&buf))
	good := buf.Bytes()
	m := filled(t, 3)
	before := m.Checksum()
	refused := func(data []byte, what string, at int) {
		t.Helper()
		require.Error(t, m.Load(bytes.NewReader(data)), "%s at %d", what, at)
	}
	for i := range good {
		refused(good[:i], "cut", i)
		if i >= 8 && i < 16 {
			continue // the index it was taken at, which raft's own checksum covers
		}
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		refused(bad, "flipped bit", i)
	}
	require.Equal(t, before, m.Checksum())

	less := toy()
	delete(less.Tables, "others")
	delete(less.Rows, "others")
	require.ErrorContains(t, cluster.NewMemory(less, fixedNow).Load(bytes.NewReader(good)), "unknown table")
}

// TestNewTableKeepsChecksum: a later version that adds a table replays an old
// log to the same checksum.
func TestNewTableKeepsChecksum(t *testing.T) {
	less := toy()
	delete(less.Tables, "others")
	delete(less.Rows, "others")
	older, newer := cluster.NewMemory(less, fixedNow), cluster.NewMemory(toy(), fixedNow)
	older.Do(&set{Name: "a"}, command.ID{1}, false)
	newer.Do(&set{Name: "a"}, command.ID{1}, false)
	require.Equal(t, older.Checksum(), newer.Checksum())
}

// TestSnapshotDoesNotStopCommands: commands are applied while a snapshot is
// being written, and are not in it.
func TestSnapshotDoesNotStopCommands(t *testing.T) {
	m := filled(t, 20000)
	before := m.Checksum()
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() { written <- m.Save(w) }()
	head := make([]byte, 20)
	_, err := io.ReadFull(r, head) // it has begun, and hangs until it is read
	require.NoError(t, err)
	for i := range 100 {
		_, wrote := m.Do(&set{Name: fmt.Sprint(i), Value: 99}, command.ID{7, byte(i)}, false)
		require.True(t, wrote)
	}
	restored := cluster.NewMemory(toy(), fixedNow)
	require.NoError(t, restored.Load(io.MultiReader(bytes.NewReader(head), r)))
	require.NoError(t, <-written)
	require.Equal(t, before, restored.Checksum())
	require.NotEqual(t, before, m.Checksum())
}

func FuzzReadSnapshot(f *testing.F) {
	var buf bytes.Buffer
	require.NoError(f, filled(f, 3).Save(&buf))
	f.Add(buf.Bytes())
	f.Add([]byte("cluster\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := cluster.NewMemory(toy(), fixedNow)
		before := m.Checksum()
		if err := m.Load(bytes.NewReader(data)); err != nil {
			require.Equal(t, before, m.Checksum())
		}
	})
}
