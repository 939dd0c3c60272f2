package cluster

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/hashicorp/go-memdb"
	"github.com/hashicorp/raft"
)

// fsm gives raft's log to the core. Its methods are called by one goroutine of
// raft, Persist by another.
type fsm struct {
	core   *core
	fatal  func(error)
	stop   <-chan struct{} // closed when snapshots under way are to be given up
	before func()          // for tests
	steps  []step          // buffer of ApplyBatch
	last   uint64          // index of the last entry that raft gave

	snapshots *privateSnapshots
	begun     uint64 // index of the snapshot that raft began with
	replayed  replayed
	committed *committed

	running  atomic.Bool // raft has started: what is restored now was installed
	installs installWatch
}

var _ raft.BatchingFSM = (*fsm)(nil)

func newFSM(c *core, fatal func(error), s *privateSnapshots, done *committed) *fsm {
	return &fsm{core: c, fatal: fatal, snapshots: s, committed: done, replayed: replayed{ready: make(chan struct{})}}
}

// ApplyBatch implements raft.BatchingFSM: all entries that were committed
// together are one transaction. The response to an entry is its []outcome.
func (f *fsm) ApplyBatch(logs []*raft.Log) []any {
	if f.before != nil {
		f.before()
	}
	<-f.replayed.ready
	responses := make([]any, len(logs))
	steps := f.steps[:0]
	for _, l := range logs {
		if f.isNews(l) {
			steps = append(steps, step{index: l.Index, data: l.Data})
		}
	}
	if len(steps) > 0 {
		if err := f.core.apply(steps); err != nil {
			f.fatal(err)
			panic("cluster: Config.Fatal returned after: " + err.Error())
		}
	}
	i := 0
	for j, l := range logs {
		if f.isNews(l) {
			responses[j] = steps[i].outcomes
			i++
		}
	}
	end := logs[len(logs)-1]
	f.last = end.Index
	f.committed.note(logPosition{end.Index, end.Term})
	if f.running.Load() {
		f.installs.applied(end.Index)
	}
	clear(steps)
	f.steps = steps
	return responses
}

// isNews says that an entry is a command which the state does not have. Nobody
// waits for the outcome of one that it has: this process did not propose it.
func (f *fsm) isNews(l *raft.Log) bool {
	return l.Type == raft.LogCommand && l.Index > f.replayed.through
}

// Apply implements raft.FSM. raft calls ApplyBatch instead.
func (f *fsm) Apply(l *raft.Log) any { return f.ApplyBatch([]*raft.Log{l})[0] }

// Restore implements raft.FSM. A follower that is sent one snapshot after the
// other and never gets on is started again as a process, which heals it.
func (f *fsm) Restore(r io.ReadCloser) error {
	if f.running.Load() {
		<-f.replayed.ready
	}
	if err := f.core.restore(r); err != nil {
		return err
	}
	if !f.running.Load() {
		f.begun = f.snapshots.opened.Load()
		return nil
	}
	f.replayed.through = 0 // the state is that of the snapshot
	f.committed.replace(logPosition{index: f.core.progress.applied()})
	if f.installs.installed(f.core.progress.applied()) {
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
	case <-f.replayed.ready:
	default:
		return nil, raft.ErrNothingNewToSnapshot
	}
	if f.last < f.replayed.through {
		return nil, raft.ErrNothingNewToSnapshot
	}
	s := &fsmSnapshot{schema: f.core.schema, stop: f.stop, witness: f.core.witness}
	f.core.progress.with(func(index uint64) { s.txn, s.applied = f.core.view(), index })
	return s, nil
}

// fsmSnapshot is written while commands are applied to newer versions.
type fsmSnapshot struct {
	schema  *schema
	txn     *memdb.Txn
	applied uint64
	stop    <-chan struct{}
	witness Witness
}

// Persist implements raft.FSMSnapshot. raft cancels the sink on an error.
func (s *fsmSnapshot) Persist(sink raft.SnapshotSink) error {
	if s.witness != nil {
		if err := s.witness.Flush(); err != nil {
			return fmt.Errorf("write snapshot: %w", err)
		}
	}
	if err := s.schema.writeSnapshot(sink, s.txn, s.applied, s.stop); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return sink.Close()
}

// Release implements raft.FSMSnapshot.
func (s *fsmSnapshot) Release() { s.txn = nil }
