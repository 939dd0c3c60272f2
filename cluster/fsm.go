package cluster

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

// fsm gives raft's log to the core. Its methods are called by one goroutine of
// raft, Persist by another.
type fsm struct {
	core        *machine.State
	fatal       func(error)
	stop        <-chan struct{} // closed when snapshots under way are to be given up
	beforeApply func()          // for tests
	entries     []machine.Entry // buffer of ApplyBatch
	lastApplied uint64          // index of the last entry that raft gave

	snapshots     *store.Snapshots
	restoredIndex uint64 // index of the snapshot that raft began with
	replay        localReplay
	marker        *integrity.CommitMarker

	running  atomic.Bool // raft has started: what is restored now was installed
	installs installWatch
}

var _ raft.BatchingFSM = (*fsm)(nil)

func newFSM(c *machine.State, fatal func(error), s *store.Snapshots, done *integrity.CommitMarker) *fsm {
	return &fsm{core: c, fatal: fatal, snapshots: s, marker: done, replay: localReplay{ready: make(chan struct{})}}
}

// ApplyBatch implements raft.BatchingFSM: all entries that were committed
// together are one transaction. The response to an entry is its []outcome.
func (f *fsm) ApplyBatch(logs []*raft.Log) []any {
	if f.beforeApply != nil {
		f.beforeApply()
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

// isNew says that an entry is a command which the state does not have. Nobody
// waits for the outcome of one that it has: this process did not propose it.
func (f *fsm) isNew(l *raft.Log) bool {
	return l.Type == raft.LogCommand && l.Index > f.replay.through
}

// Apply implements raft.FSM. raft calls ApplyBatch instead.
func (f *fsm) Apply(l *raft.Log) any { return f.ApplyBatch([]*raft.Log{l})[0] }

// Restore implements raft.FSM. A follower that is sent one snapshot after the
// other and never gets on is started again as a process, which heals it.
func (f *fsm) Restore(r io.ReadCloser) error {
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

// ErrLivelock is given to Config.Fatal by a node that starting again heals.
var ErrLivelock = errors.New("this node installs snapshots and never gets on (hashicorp/raft #697); starting it again heals that")

// Snapshot implements raft.FSM. The state is immutable, so that taking it is
// taking a pointer. Raft must have given all that is in it, since it says how far
// the snapshot goes.
func (f *fsm) Snapshot() (raft.FSMSnapshot, error) {
	select {
	case <-f.replay.ready:
	default:
		return nil, raft.ErrNothingNewToSnapshot
	}
	if f.lastApplied < f.replay.through {
		return nil, raft.ErrNothingNewToSnapshot
	}
	s := &fsmSnapshot{core: f.core, stop: f.stop, flush: f.core.Flush}
	s.txn, s.applied = f.core.ViewIndex()
	return s, nil
}

// fsmSnapshot is written while commands are applied to newer versions.
type fsmSnapshot struct {
	core    *machine.State
	txn     *memdb.Txn
	applied uint64
	stop    <-chan struct{}
	flush   func() error // called before the state is written; may be nil
}

// Persist implements raft.FSMSnapshot. raft cancels the sink on an error.
func (s *fsmSnapshot) Persist(sink raft.SnapshotSink) error {
	if s.flush != nil {
		if err := s.flush(); err != nil {
			return fmt.Errorf("write snapshot: %w", err)
		}
	}
	if err := s.core.WriteSnapshot(sink, s.txn, s.applied, s.stop); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return sink.Close()
}

// Release implements raft.FSMSnapshot.
func (s *fsmSnapshot) Release() { s.txn = nil }
