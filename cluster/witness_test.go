package cluster_test

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
)

// observer is a Witness that knows what it was told, and what of it is on disk.
type observer struct {
	mu            sync.Mutex
	told, flushed uint64
	fail          error // of Flush
}

func (o *observer) Applied(_ *memdb.Txn, _ cluster.Command, _ cluster.Decision, m cluster.Meta) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told = m.Seq
}

func (o *observer) Restored(seq uint64, _ int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told, o.flushed = seq, seq
}

func (o *observer) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fail == nil {
		o.flushed = o.told
	}
	return o.fail
}

// TestSnapshotWaitsForTheWitness: a snapshot replaces the log, from which a
// witness that lost what it was told would be told again. So there is none before
// what was told is on disk.
func TestSnapshotWaitsForTheWitness(t *testing.T) {
	o := &observer{fail: errors.New("the disk is full")}
	c := config(t, "")
	c.Witness = o
	n := open(t, c)
	for range 3 {
		_, _, err := n.Propose(t.Context(), &set{Name: "a"})
		require.NoError(t, err)
	}
	taken := func() (names []string) {
		names, err := filepath.Glob(filepath.Join(c.Dir, "snapshots", "*-*"))
		require.NoError(t, err)
		return names
	}
	require.ErrorContains(t, n.Snapshot(), o.fail.Error())
	require.Empty(t, taken())

	o.mu.Lock()
	o.fail = nil
	o.mu.Unlock()
	require.NoError(t, n.Snapshot())
	require.Len(t, taken(), 1)
	require.Equal(t, n.Seq(), o.flushed)

	// What the snapshot has is not told again after a crash; the rest is.
	_, _, err := n.Propose(t.Context(), &set{Name: "b"})
	require.NoError(t, err)
	last := n.Seq()
	shut(t, n)
	again := new(observer)
	c.Witness = again
	open(t, c)
	require.Equal(t, last, again.told)
	require.Equal(t, last-1, again.flushed)
}
