package recovery

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/hashicorp/go-memdb"
	"github.com/hashicorp/raft"
	"github.com/hashicorp/raft-wal/verifier"

	"github.com/mintmark-auth/mintmark/cluster/fsm"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// Options is what the functions of this package need. The fields are those of
// cluster.Config, with its defaults filled in.
type Options struct {
	Dir           string
	Machine       machine.Machine
	Logger        *slog.Logger
	Now           func() time.Time
	Rand          io.Reader
	Fatal         func(error)
	ApplyObserver machine.Observer
	SegmentSize   int
}

// offline is a data folder that no node uses, and a state in memory.
type offline struct {
	Options
	id     raft.ServerID
	core   *machine.State
	folder *integrity.Folder
}

// open opens the folder, which is created if it does not exist. The state is empty.
func open(o Options) (*offline, error) {
	if o.Dir == "" {
		return nil, errors.New("no data directory given")
	}
	m, err := member.Extend(o.Machine)
	if err != nil {
		return nil, err
	}
	f := &offline{Options: o}
	if f.core, err = machine.New(m, o.ApplyObserver); err != nil {
		return nil, err
	}
	if err := store.PrivateDir(o.Dir); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	f.folder, err = integrity.Open(integrity.Options{Rand: o.Rand, Log: o.Logger, Store: store.Options{
		Dir: o.Dir, SegmentSize: o.SegmentSize, Log: store.NewLogger(o.Logger),
		Fatal: o.Fatal, Report: func(verifier.VerificationReport) {},
	}})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// errStopReplay ends replay before it writes anything.
var errStopReplay = errors.New("the state was taken")

// replay applies the whole log to the state in memory. Before it writes anything it
// calls taken with the state, and with the Seq up to which all nodes are known to
// have decided the same. If taken returns an error, replay returns it and changes
// nothing. Otherwise it makes this node the only one of raft's configuration.
func (f *offline) replay(taken func(view *memdb.Txn, shared uint64) error) error {
	known, err := integrity.ReadOptionalCommitMarker(f.Dir)
	if err != nil {
		return err
	}
	state := &replayFSM{FSM: fsm.New(f.core, f.Fatal, f.folder.Snapshots, &f.folder.Marker), offline: f, committedIndex: known.Index, onState: taken}
	state.SkipReplay()
	conf := raft.DefaultConfig()
	conf.Logger, conf.NoLegacyTelemetry = store.NewLogger(f.Logger), true
	conf.LocalID = cmp.Or(f.id, "unnamed")                                   // raft requires an id even if nothing is written
	_, transport := raft.NewInmemTransport(raft.ServerAddress(conf.LocalID)) // only encodes the configuration
	err = raft.RecoverCluster(conf, state, f.folder.Store.Logs, f.folder.Store.Stable, f.folder.Snapshots, transport, soleVoter(conf.LocalID))
	return cmp.Or(state.err, err) // raft's error does not wrap it
}

func soleVoter(id raft.ServerID) raft.Configuration {
	return raft.Configuration{Servers: []raft.Server{{ID: id, Address: raft.ServerAddress(id)}}}
}

// replayFSM applies the whole log of a folder, committed or not.
type replayFSM struct {
	*fsm.FSM
	offline        *offline
	committedIndex uint64 // index up to which the log was certainly committed; 0 if unknown
	onState        func(view *memdb.Txn, shared uint64) error

	pastCommitted bool   // the log had more than that
	sharedSeq     uint64 // Seq at committedIndex, if the log had more
	err           error  // of onState, or why an entry could not be applied
}

// Apply implements raft.FSM. The end of the log may be of a leader that had no
// followers any more: the other nodes decided something else there. If the folder
// does not record how far its log was committed, all of it counts. raft ignores what
// Apply returns: an entry that can't be applied fails Snapshot.
func (s *replayFSM) Apply(l *raft.Log) any {
	if s.err != nil {
		return nil
	}
	core := s.offline.core
	if !s.pastCommitted && s.committedIndex > 0 && l.Index > s.committedIndex {
		s.pastCommitted, s.sharedSeq = true, machine.ReadStatus(core.View()).Seq
	}
	s.err = core.Apply([]machine.Entry{{Index: l.Index, Data: l.Data}})
	return nil
}

// Snapshot implements raft.FSM. It is called when the whole log was applied, and
// before anything is written.
func (s *replayFSM) Snapshot() (raft.FSMSnapshot, error) {
	if s.err != nil {
		return nil, s.err
	}
	core := s.offline.core
	if !s.pastCommitted {
		s.sharedSeq = machine.ReadStatus(core.View()).Seq
	}
	if s.err = s.onState(core.View(), s.sharedSeq); s.err != nil {
		return nil, s.err
	}
	core.Edit(func(txn *memdb.Txn) {
		member.Forget(txn, func(m *member.Member) bool { return m.ID == string(s.offline.id) })
	})
	return s.FSM.Snapshot()
}
