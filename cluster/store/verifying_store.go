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

// verifyingStore compares the log with those of other nodes: it computes a checksum of
// what is written and, at each checkpoint entry of the leader, reads the range back.
//
// raft-wal's verifier does that, but it continues its sum when entries at the end of the
// log are removed: those that a leader wrote and did not replicate, or all that a
// snapshot replaces. When that node leads again, its next checkpoint has a sum of entries
// that no log has, and every node reports its own log as damaged. So verifyingStore then
// starts a new verifier.
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

// restart starts a new verifier. A verification in progress on the old one has a range
// that no longer exists, so its result is not reported.
func (s *verifyingStore) restart() {
	var v *verifier.LogStore
	began := make(chan struct{})
	v = verifier.NewLogStore(nopCloseStore{s.LogStore}, isCheckpoint, func(r verifier.VerificationReport) {
		if <-began; s.current.Load() == v {
			s.report(r)
		}
	}, &metrics.NoOpCollector{})
	close(began)
	if before := s.current.Swap(v); before != nil {
		_ = before.Close()
	}
}

// StoreLog implements raft.LogStore.
func (s *verifyingStore) StoreLog(log *raft.Log) error { return s.current.Load().StoreLog(log) }

// StoreLogs implements raft.LogStore.
func (s *verifyingStore) StoreLogs(logs []*raft.Log) error { return s.current.Load().StoreLogs(logs) }

// DeleteRange implements raft.LogStore. Raft truncates the end of a log in the goroutine
// that also writes to it, and deletes the beginning in another one.
func (s *verifyingStore) DeleteRange(first, last uint64) error {
	end, err := s.LastIndex()
	if err != nil {
		return err
	}
	if last >= end {
		s.restart()
	}
	return s.LogStore.DeleteRange(first, last)
}

// IsMonotonic implements raft.MonotonicLogStore.
func (s *verifyingStore) IsMonotonic() bool { return s.current.Load().IsMonotonic() }

// Close closes the log. Raft must have stopped.
func (s *verifyingStore) Close() error {
	err := s.current.Swap(nil).Close()
	if below, ok := s.LogStore.(io.Closer); ok {
		err = errors.Join(err, below.Close())
	}
	return err
}

// nopCloseStore is a log that its verifier does not close.
type nopCloseStore struct{ raft.LogStore }

// IsMonotonic implements raft.MonotonicLogStore.
func (s nopCloseStore) IsMonotonic() bool {
	m, ok := s.LogStore.(raft.MonotonicLogStore)
	return ok && m.IsMonotonic()
}

// isCheckpoint reports to the verifier, for every stored entry, whether it is a
// checkpoint.
func isCheckpoint(l *raft.Log) (bool, error) {
	return l.Type == raft.LogCommand && machine.IsCheckpointEntry(l.Data), nil
}
