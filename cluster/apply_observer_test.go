package cluster_test

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

// recordingObserver is an Observer that records the sequence number of the last command
// applied and of the last one flushed.
type recordingObserver struct {
	mu                     sync.Mutex
	appliedSeq, flushedSeq uint64
	fail                   error // returned by Flush
}

func (o *recordingObserver) Applied(_ *memdb.Txn, _ command.Command, _ command.Decision, m command.Meta) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.appliedSeq = m.Seq
}

func (o *recordingObserver) Restored(seq uint64, _ int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.appliedSeq, o.flushedSeq = seq, seq
}

func (o *recordingObserver) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fail == nil {
		o.flushedSeq = o.appliedSeq
	}
	return o.fail
}

// TestSnapshotWaitsForTheApplyObserver: a snapshot replaces the log entries it covers, so
// they are not replayed to the observer after a restart. The node therefore takes no
// snapshot until Flush has succeeded.
func TestSnapshotWaitsForTheApplyObserver(t *testing.T) {
	t.Parallel()
	o := &recordingObserver{fail: errors.New("the disk is full")}
	c := config(t, "")
	c.ApplyObserver = o
	n := open(t, c)
	for range 3 {
		_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
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
	require.Equal(t, n.Seq(), o.flushedSeq)

	// After a crash the observer sees only the commands after the snapshot.
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "b"})
	require.NoError(t, err)
	last := n.Seq()
	shut(t, n)
	again := new(recordingObserver)
	c.ApplyObserver = again
	open(t, c)
	require.Equal(t, last, again.appliedSeq)
	require.Equal(t, last-1, again.flushedSeq)
}
