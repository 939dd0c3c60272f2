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
// use the folder.
func Recover(c Config) (err error) {
	if c, err = c.withDefaults(); err != nil {
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
		return errors.New("recover: there is no data in the directory")
	}
	if n.id, err = n.identity(); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	state := &survivor{newFSM(n.core, c.Fatal, snapshots, &n.committed), string(n.id)}
	close(state.replayed.ready) // with nothing in it
	conf := n.raftConfig(newLogger(n.log))
	conf.NotifyCh = nil
	_, transport := raft.NewInmemTransport(raft.ServerAddress(n.id)) // only encodes the configuration
	alone := raft.Configuration{Servers: []raft.Server{{ID: n.id, Address: raft.ServerAddress(n.id)}}}
	if err := raft.RecoverCluster(conf, state, n.stores.logs, n.stores.stable, snapshots, transport, alone); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	// Whatever this node has lost, there is nobody left whom that could harm.
	if err := errors.Join(forgetCommitted(c.Dir), n.noteBirth()); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	return n.keepOnlyMyself()
}

// survivor is the state machine of a node that goes on alone.
type survivor struct {
	*fsm
	id string
}

// Snapshot implements raft.FSM, when the whole log was applied.
func (s *survivor) Snapshot() (raft.FSMSnapshot, error) {
	s.core.forgetMembers(func(m *Member) bool { return m.ID == s.id })
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
