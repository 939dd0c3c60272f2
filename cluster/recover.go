package cluster

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// Recover makes the folder of the only node that is left a cluster of one, with
// all that its log has. It is for when a majority is lost for good: what was
// acknowledged by the others alone is lost with them, and a node that was
// thought lost must never be started again with its old folder. No process may
// use the folder. See Recovered for what is left to do at the next start.
func Recover(c Config) (err error) {
	if c, err = c.withDefaults(); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	if err := checkRemoved(c.Dir); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	n := &Node{config: c, log: c.Logger}
	defer func() { err = errors.Join(err, n.closeFiles()) }()
	snapshots, err := n.openFiles()
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	fresh, err := n.isFresh(snapshots)
	switch {
	case err != nil:
		return fmt.Errorf("recover: %w", err)
	case fresh:
		return errNothingToRecover
	}
	if n.id, err = n.identity(); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	if _, listed := n.roster.member(string(n.id)); !listed && !n.roster.empty() {
		return fmt.Errorf("recover: %w", ErrRemoved)
	}
	known, err := mayKnow(c.Dir)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	state := &survivor{fsm: newFSM(n.core, c.Fatal, snapshots, &n.committed), node: n, known: known.index}
	close(state.replayed.ready) // with nothing in it
	conf := n.raftConfig(newLogger(n.log))
	conf.NotifyCh = nil
	_, transport := raft.NewInmemTransport(raft.ServerAddress(n.id)) // only encodes the configuration
	alone := raft.Configuration{Servers: []raft.Server{{ID: n.id, Address: raft.ServerAddress(n.id)}}}
	if err := raft.RecoverCluster(conf, state, n.stores.logs, n.stores.stable, snapshots, transport, alone); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	// Whatever this node has lost, there is nobody left whom that could harm.
	if err := errors.Join(replaceNote(c.Dir, logPosition{}), n.noteBirth()); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	if err := n.keepOnlyMyself(); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	if err := n.completeRecovery(); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	return nil
}

// survivor is the state machine of a node that goes on alone.
type survivor struct {
	*fsm
	node  *Node
	known uint64 // index up to which the log was committed for sure; 0: nothing says so

	ahead  bool   // the log had more than that
	shared uint64 // Seq at known, where it had
}

// Apply implements raft.FSM. The end of the log may be of a leader that nobody
// followed any more: the others decided something else there. A folder that does
// not say how far its log was committed is taken by its word.
func (s *survivor) Apply(l *raft.Log) any {
	if !s.ahead && s.known > 0 && l.Index > s.known {
		s.ahead, s.shared = true, readStatus(s.core.view()).Seq
	}
	return s.fsm.Apply(l)
}

// Snapshot implements raft.FSM. It is called when the whole log was applied, and
// before anything is written.
func (s *survivor) Snapshot() (raft.FSMSnapshot, error) {
	if !s.ahead {
		s.shared = readStatus(s.core.view()).Seq
	}
	if err := s.node.markRecovery(s.shared); err != nil {
		return nil, err
	}
	s.core.forgetMembers(func(m *Member) bool { return m.ID == string(s.node.id) })
	return s.fsm.Snapshot()
}

// keepOnlyMyself makes the list of peers that of the state.
func (n *Node) keepOnlyMyself() error {
	list := n.roster.get()
	if len(list.Members) == 0 {
		return nil // it had no network
	}
	var kept []Member
	for _, m := range list.Members {
		if m.ID == string(n.id) {
			kept = append(kept, m)
		}
	}
	list.Members, list.Seq = kept, min(list.Seq, max(readStatus(n.core.view()).Seq, 1))
	return n.roster.replace(list)
}
