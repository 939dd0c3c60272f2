package store

import (
	"testing"

	"github.com/hashicorp/raft"
	"github.com/hashicorp/raft-wal/verifier"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/machine"
)

// testVerifyingStore is the log of one node, with the results of its verifications.
type testVerifyingStore struct {
	*verifyingStore
	t       *testing.T
	reports chan verifier.VerificationReport
}

func newTestVerifyingStore(t *testing.T, below raft.LogStore) *testVerifyingStore {
	l := &testVerifyingStore{t: t, reports: make(chan verifier.VerificationReport, 10)}
	l.verifyingStore = newVerifyingStore(below, func(r verifier.VerificationReport) { l.reports <- r })
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func (l *testVerifyingStore) store(term, first, last uint64) {
	l.t.Helper()
	for i := first; i <= last; i++ {
		require.NoError(l.t, l.StoreLog(&raft.Log{Index: i, Term: term, Data: []byte{machine.EntryBatch, byte(term), byte(i)}}))
	}
}

func (l *testVerifyingStore) checkpoint(term, index uint64) verifier.VerificationReport {
	l.t.Helper()
	require.NoError(l.t, l.StoreLog(&raft.Log{Index: index, Term: term, Data: machine.CheckpointEntry()}))
	return <-l.reports
}

// TestTruncatedEntriesAreNotChecksummed: an isolated leader writes entries that are not
// replicated, and replaces them by those of the next leader. When it leads again, its
// checkpoint covers only entries of the log.
func TestTruncatedEntriesAreNotChecksummed(t *testing.T) {
	l := newTestVerifyingStore(t, raft.NewInmemStore())
	l.store(2, 1, 9)
	require.NoError(t, l.checkpoint(2, 10).Err)
	l.store(2, 11, 15)
	require.NoError(t, l.DeleteRange(13, 15))
	l.store(3, 13, 20)
	r := l.checkpoint(4, 21)
	require.NoError(t, r.Err)
	require.EqualValues(t, 13, r.Range.Start)
	l.store(4, 22, 30)
	r = l.checkpoint(4, 31)
	require.NoError(t, r.Err)
	require.EqualValues(t, 21, r.Range.Start)
}

// TestLogBehindASnapshotIsNotChecksummed: after a snapshot is installed, the log
// continues at another index.
func TestLogBehindASnapshotIsNotChecksummed(t *testing.T) {
	l := newTestVerifyingStore(t, raft.NewInmemStore())
	l.store(2, 1, 9)
	require.NoError(t, l.DeleteRange(1, 9))
	l.store(3, 101, 120)
	r := l.checkpoint(3, 121)
	require.NoError(t, r.Err)
	require.EqualValues(t, 101, r.Range.Start)
}

// TestDroppedBeginningIsChecksummed: compaction does not interrupt the verification.
func TestDroppedBeginningIsChecksummed(t *testing.T) {
	l := newTestVerifyingStore(t, raft.NewInmemStore())
	l.store(2, 1, 9)
	require.NoError(t, l.checkpoint(2, 10).Err)
	l.store(2, 11, 15)
	require.NoError(t, l.DeleteRange(1, 9))
	r := l.checkpoint(2, 16)
	require.NoError(t, r.Err)
	require.EqualValues(t, 10, r.Range.Start)
}

// A slowLog blocks reads until it is released.
type slowLog struct {
	*raft.InmemStore
	reads, proceed chan struct{}
}

func (s *slowLog) GetLog(index uint64, log *raft.Log) error {
	s.reads <- struct{}{}
	<-s.proceed
	return s.InmemStore.GetLog(index, log)
}

// TestTruncatedWhileItIsRead: no result is reported for a range whose end was truncated
// during the verification.
func TestTruncatedWhileItIsRead(t *testing.T) {
	slow := &slowLog{raft.NewInmemStore(), make(chan struct{}, 100), make(chan struct{})}
	l := newTestVerifyingStore(t, slow)
	l.store(2, 1, 9)
	require.NoError(t, l.StoreLog(&raft.Log{Index: 10, Term: 2, Data: machine.CheckpointEntry()}))
	<-slow.reads
	require.NoError(t, l.DeleteRange(5, 10))
	l.store(3, 5, 9)
	close(slow.proceed)
	require.NoError(t, l.checkpoint(3, 10).Err, "the first report is about the new range")
	require.Empty(t, l.reports)
}
