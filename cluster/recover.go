package cluster

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/hashicorp/go-memdb"
	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// Recover makes the folder of the only node that is left a cluster of one, with
// all that its log has. It is for when a majority is lost for good: what was
// acknowledged by the others alone is lost with them, and a node that was
// thought lost must never be started again with its old folder. No process may
// use the folder. The next start has more to do, see Recovered: it gets attached
// as Recovery.Attached.
func Recover(c Config, attached []byte) (err error) {
	if c, err = c.withDefaults(); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	if err := checkRemoved(c.Dir); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	n := &Node{config: c, log: c.Logger}
	defer func() { err = errors.Join(err, n.closeFiles()) }()
	if err := n.openFiles(); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	fresh, err := n.folder.IsFresh()
	switch {
	case err != nil:
		return fmt.Errorf("recover: %w", err)
	case fresh:
		return errNothingToRecover
	}
	if n.id, err = n.folder.Identity(); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	if _, listed := n.folder.PeerList.Member(string(n.id)); !listed && !n.folder.PeerList.Empty() {
		return fmt.Errorf("recover: %w", member.ErrRemoved)
	}
	err = n.replayFolder(func(_ *memdb.Txn, shared uint64) error { return n.beginRecovery(shared, attached) })
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	// Whatever this node has lost, there is nobody left whom that could harm.
	if err := errors.Join(integrity.WriteCommitMarker(c.Dir, integrity.Position{}), n.folder.WriteInstanceIDFile()); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	if err := n.removeOtherPeers(); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	if err := n.completeRecovery(); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	return nil
}

// Salvage returns a backup of the folder c.Dir, with its whole log applied, and
// tells c.Observer what the log does. No process may use the folder, and its data
// does not change. It is the only way to read the folder of a node that was removed
// or given up. The backup lacks what only other nodes had.
func Salvage(c Config) (b *machine.Backup, err error) {
	if c, err = c.withDefaults(); err != nil {
		return nil, fmt.Errorf("read the folder: %w", err)
	}
	n := &Node{config: c, log: c.Logger}
	defer func() { err = errors.Join(err, n.closeFiles()) }()
	if err := n.openFiles(); err != nil {
		return nil, fmt.Errorf("read the folder: %w", err)
	}
	var last raft.Log
	if index, err := n.folder.Store.Logs.LastIndex(); err != nil {
		return nil, fmt.Errorf("read the folder: %w", err)
	} else if index > 0 {
		if err := n.folder.Store.Logs.GetLog(index, &last); err != nil {
			return nil, fmt.Errorf("read the folder: %w", err)
		}
	}
	err = n.replayFolder(func(_ *memdb.Txn, shared uint64) error {
		if b, err = n.core.Backup(nil); err == nil {
			b.SharedSeq, b.Term = shared, last.Term
			err = errStopReplay
		}
		return err
	})
	if !errors.Is(err, errStopReplay) {
		return nil, fmt.Errorf("read the folder: %w", err)
	}
	return b, nil
}

// errStopReplay ends replayFolder before it writes anything.
var errStopReplay = errors.New("the state was taken")

// replayFolder applies the whole log to the state in memory. Before it writes
// anything it calls taken with the state, and with the Seq up to which all nodes are
// known to have decided the same. If taken returns an error, replayFolder returns
// it and changes nothing. Otherwise it makes this node the only one of raft's
// configuration.
func (n *Node) replayFolder(taken func(view *memdb.Txn, shared uint64) error) error {
	known, err := integrity.ReadOptionalCommitMarker(n.config.Dir)
	if err != nil {
		return err
	}
	state := &recoveryFSM{fsm: newFSM(n.core, n.config.Fatal, n.folder.Snapshots, &n.folder.Marker), node: n, committedIndex: known.Index, onState: taken}
	close(state.replay.ready) // there is no local replay to wait for
	conf := n.raftConfig(store.NewLogger(n.log))
	conf.NotifyCh = nil
	conf.LocalID = cmp.Or(n.id, "unnamed")                                   // raft requires an id even if nothing is written
	_, transport := raft.NewInmemTransport(raft.ServerAddress(conf.LocalID)) // only encodes the configuration
	alone := raft.Configuration{Servers: []raft.Server{{ID: conf.LocalID, Address: raft.ServerAddress(conf.LocalID)}}}
	err = raft.RecoverCluster(conf, state, n.folder.Store.Logs, n.folder.Store.Stable, n.folder.Snapshots, transport, alone)
	return cmp.Or(state.err, err) // raft's error does not wrap it
}

// recoveryFSM is the state machine of a node that goes on alone.
type recoveryFSM struct {
	*fsm
	node           *Node
	committedIndex uint64 // index up to which the log was committed for sure; 0: nothing says so
	onState        func(view *memdb.Txn, shared uint64) error

	pastCommitted bool   // the log had more than that
	sharedSeq     uint64 // Seq at known, where it had
	err           error  // of taken, or why an entry could not be applied
}

// Apply implements raft.FSM. The end of the log may be of a leader that nobody
// followed any more: the others decided something else there. A folder that does
// not say how far its log was committed is taken by its word. raft does not look at
// what Apply returns: an entry that can't be applied fails Snapshot.
func (s *recoveryFSM) Apply(l *raft.Log) any {
	if s.err != nil {
		return nil
	}
	if !s.pastCommitted && s.committedIndex > 0 && l.Index > s.committedIndex {
		s.pastCommitted, s.sharedSeq = true, machine.ReadStatus(s.core.View()).Seq
	}
	s.err = s.core.Apply([]machine.Entry{{Index: l.Index, Data: l.Data}})
	return nil
}

// Snapshot implements raft.FSM. It is called when the whole log was applied, and
// before anything is written.
func (s *recoveryFSM) Snapshot() (raft.FSMSnapshot, error) {
	if s.err != nil {
		return nil, s.err
	}
	if !s.pastCommitted {
		s.sharedSeq = machine.ReadStatus(s.core.View()).Seq
	}
	if s.err = s.onState(s.core.View(), s.sharedSeq); s.err != nil {
		return nil, s.err
	}
	s.core.Edit(func(txn *memdb.Txn) {
		member.Forget(txn, func(m *member.Member) bool { return m.ID == string(s.node.id) })
	})
	return s.fsm.Snapshot()
}

// removeOtherPeers makes the list of peers that of the state.
func (n *Node) removeOtherPeers() error {
	list := n.folder.PeerList.Get()
	if len(list.Members) == 0 {
		return nil // it had no network
	}
	var kept []member.Member
	for _, m := range list.Members {
		if m.ID == string(n.id) {
			kept = append(kept, m)
		}
	}
	list.Members, list.Seq = kept, min(list.Seq, max(machine.ReadStatus(n.core.View()).Seq, 1))
	return n.folder.PeerList.Replace(list)
}
