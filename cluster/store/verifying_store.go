package store

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/hashicorp/raft"
	"github.com/hashicorp/raft-wal/metrics"
	"github.com/hashicorp/raft-wal/verifier"

	"github.com/mintmark-auth/mintmark/cluster/machine"
)

// verifyingStore compares the log with those of other nodes: it sums up what is
// written and, at each checkpoint entry of the leader, reads the range back.
//
// raft-wal's verifier does that, but it goes on with its sum when entries at the
// end of the log are taken back: those that a leader wrote and nobody else took,
// or all that a snapshot replaces. When that node leads again its next checkpoint
// has a sum of entries that no log has, and every node calls its own damaged. So
// the verifier is begun anew then.
type verifyingStore struct {
	raft.LogStore
	report  verifier.ReportFn
	current atomic.Pointer[verifier.LogStore]
}

func newVerifyingStore(logs raft.LogStore, report verifier.ReportFn) *verifyingStore {
	c := &verifyingStore{LogStore: logs, report: report}
	c.restart()
	return c
}

// restart starts a verifier that has seen nothing yet. What an earlier one was
// reading is not what was compared any more, so nobody is told.
func (c *verifyingStore) restart() {
	var v *verifier.LogStore
	began := make(chan struct{})
	v = verifier.NewLogStore(nopCloseStore{c.LogStore}, isCheckpoint, func(r verifier.VerificationReport) {
		if <-began; c.current.Load() == v {
			c.report(r)
		}
	}, &metrics.NoOpCollector{})
	close(began)
	if before := c.current.Swap(v); before != nil {
		_ = before.Close()
	}
}

// StoreLog implements raft.LogStore.
func (c *verifyingStore) StoreLog(log *raft.Log) error { return c.current.Load().StoreLog(log) }

// StoreLogs implements raft.LogStore.
func (c *verifyingStore) StoreLogs(logs []*raft.Log) error { return c.current.Load().StoreLogs(logs) }

// DeleteRange implements raft.LogStore. Raft takes the end of a log back where it
// also writes to it, in one goroutine, and drops the beginning in another.
func (c *verifyingStore) DeleteRange(first, last uint64) error {
	end, err := c.LastIndex()
	if err != nil {
		return err
	}
	if last >= end {
		c.restart()
	}
	return c.LogStore.DeleteRange(first, last)
}

// IsMonotonic implements raft.MonotonicLogStore.
func (c *verifyingStore) IsMonotonic() bool { return c.current.Load().IsMonotonic() }

// Close closes the log. Raft must have stopped.
func (c *verifyingStore) Close() error {
	err := c.current.Swap(nil).Close()
	if below, ok := c.LogStore.(io.Closer); ok {
		err = errors.Join(err, below.Close())
	}
	return err
}

// nopCloseStore is a log that outlives its verifier.
type nopCloseStore struct{ raft.LogStore }

// IsMonotonic implements raft.MonotonicLogStore.
func (u nopCloseStore) IsMonotonic() bool {
	m, ok := u.LogStore.(raft.MonotonicLogStore)
	return ok && m.IsMonotonic()
}

// isCheckpoint is the verifier's question for every entry it stores.
func isCheckpoint(l *raft.Log) (bool, error) {
	return l.Type == raft.LogCommand && machine.IsCheckpointEntry(l.Data), nil
}
