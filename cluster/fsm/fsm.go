package fsm

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/hashicorp/go-memdb"
	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// FSM applies raft's log to the state. Its methods are called by one goroutine of
// raft, Persist by another.
type FSM struct {
	// Stop is closed when snapshots under way are to be given up. It may be nil.
	Stop <-chan struct{}
	// BeforeApply is called before each batch, for tests. It may be nil.
	BeforeApply func()

	core        *machine.State
	fatal       func(error)
	entries     []machine.Entry // buffer of ApplyBatch
	lastApplied uint64          // index of the last entry that raft gave

	snapshots     *store.Snapshots
	restoredIndex uint64 // index of the snapshot that raft began with
	replay        localReplay
	marker        *integrity.CommitMarker

	running  atomic.Bool // raft has started: a snapshot that is restored now was installed
	installs installWatch
}

var _ raft.BatchingFSM = (*FSM)(nil)

// New returns an FSM that applies nothing before its local replay is over. fatal is
// called with an entry that can't be applied. It must not return.
func New(c *machine.State, fatal func(error), s *store.Snapshots, marker *integrity.CommitMarker) *FSM {
	return &FSM{core: c, fatal: fatal, snapshots: s, marker: marker, replay: localReplay{ready: make(chan struct{})}}
}

// Started records that raft has started: from now on Restore is called for installed
// snapshots only.
func (f *FSM) Started() { f.running.Store(true) }

// ApplyBatch implements raft.BatchingFSM: all entries that were committed
// together are one transaction. The response to an entry is its []machine.Outcome.
func (f *FSM) ApplyBatch(logs []*raft.Log) []any {
	if f.BeforeApply != nil {
		f.BeforeApply()
	}
	<-f.replay.ready
	responses := make([]any, len(logs))
	steps := f.entries[:0]
	for _, l := range logs {
		if f.isNew(l) {
			steps = append(steps, machine.Entry{Index: l.Index, Data: l.Data})
		}
	}
	if len(steps) > 0 {
		if err := f.core.Apply(steps); err != nil {
			f.fatal(err)
			panic("cluster: Config.Fatal returned after: " + err.Error())
		}
	}
	i := 0
	for j, l := range logs {
		if f.isNew(l) {
			responses[j] = steps[i].Outcomes
			i++
		}
	}
	end := logs[len(logs)-1]
	f.lastApplied = end.Index
	f.marker.Advance(integrity.Position{Index: end.Index, Term: end.Term})
	if f.running.Load() {
		f.installs.applied(end.Index)
	}
	clear(steps)
	f.entries = steps
	return responses
}

// isNew reports whether an entry is a command that the state does not have. Nobody
// waits for the outcome of one that it has: this process did not propose it.
func (f *FSM) isNew(l *raft.Log) bool {
	return l.Type == raft.LogCommand && l.Index > f.replay.through
}

// Apply implements raft.FSM. raft calls ApplyBatch instead.
func (f *FSM) Apply(l *raft.Log) any { return f.ApplyBatch([]*raft.Log{l})[0] }

// Restore implements raft.FSM. A follower that is sent one snapshot after the
// other and makes no progress is started again as a process, which heals it.
func (f *FSM) Restore(r io.ReadCloser) error {
	if f.running.Load() {
		<-f.replay.ready
	}
	if err := f.core.Restore(r); err != nil {
		return err
	}
	if !f.running.Load() {
		f.restoredIndex = f.snapshots.OpenedIndex.Load()
		return nil
	}
	f.replay.through = 0 // the state is that of the snapshot
	f.marker.Replace(integrity.Position{Index: f.core.Applied()})
	if f.installs.installed(f.core.Applied()) {
		f.fatal(ErrLivelock)
	}
	return nil
}

// ErrLivelock is given to fatal by a node that a restart of the process heals.
var ErrLivelock = errors.New("this node installs snapshots and makes no progress (hashicorp/raft #697); a restart heals that")

// Snapshot implements raft.FSM. The state is immutable, so a snapshot is a pointer to
// it. raft must have given all entries that are in the state, since it determines the
// index of the snapshot.
func (f *FSM) Snapshot() (raft.FSMSnapshot, error) {
	select {
	case <-f.replay.ready:
	default:
		return nil, raft.ErrNothingNewToSnapshot
	}
	if f.lastApplied < f.replay.through {
		return nil, raft.ErrNothingNewToSnapshot
	}
	s := &Snapshot{Core: f.core, stop: f.Stop, flush: f.core.Flush}
	s.Txn, s.Applied = f.core.ViewIndex()
	return s, nil
}

// Snapshot is a state that is written while commands are applied to newer versions.
type Snapshot struct {
	Core    *machine.State
	Txn     *memdb.Txn
	Applied uint64

	stop  <-chan struct{}
	flush func() error // called before the state is written; may be nil
}

// Persist implements raft.FSMSnapshot. raft cancels the sink on an error.
func (s *Snapshot) Persist(sink raft.SnapshotSink) error {
	if s.flush != nil {
		if err := s.flush(); err != nil {
			return fmt.Errorf("write snapshot: %w", err)
		}
	}
	if err := s.Core.WriteSnapshot(sink, s.Txn, s.Applied, s.stop); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return sink.Close()
}

// Release implements raft.FSMSnapshot.
func (s *Snapshot) Release() { s.Txn = nil }
