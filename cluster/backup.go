package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/go-memdb"
	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// Backup takes the state with everything that was acknowledged before the call.
// Commands go on meanwhile.
func (n *Node) Backup(ctx context.Context) (*machine.Backup, error) {
	if err := n.barrier(ctx); err != nil {
		return nil, err
	}
	return n.core.Backup(n.stopped)
}

// Restore makes an empty folder hold the state of a backup, as that of a
// cluster of one: the members, invites and authorities of the cluster that it
// was taken of are left out, because the nodes that join now are others. The
// folder is then for Open.
//
// raft.Restore, which replaces the state of a running cluster, is not used: it
// commits ahead of its followers.
func Restore(c Config, backup io.Reader) (err error) {
	if c, err = c.withDefaults(); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	n := &Node{config: c, log: c.Logger}
	defer func() { err = errors.Join(err, n.closeFiles()) }()
	if err := n.openFiles(); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	fresh, err := n.folder.IsFresh()
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	instanceID, err := integrity.ReadInstanceIDFile(n.config.Dir)
	switch {
	case err != nil:
		return fmt.Errorf("restore: %w", err)
	case !fresh || !n.folder.PeerList.Empty() || instanceID != nil:
		return errors.New("restore: the data directory belongs to a cluster already")
	}
	if err := n.core.Restore(backup); err != nil {
		return err
	}
	n.core.Edit(func(txn *memdb.Txn) { member.Forget(txn, func(*member.Member) bool { return false }) })
	if n.id, err = n.folder.Identity(); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := n.folder.Store.Stable.SetUint64([]byte(store.KeyTerm), 1); err != nil {
		return fmt.Errorf("restore: write term: %w", err)
	}
	if err := n.writeState(max(n.core.Applied(), 1), 1); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// writeState writes the state as a snapshot, in which this node is the only
// voter.
func (n *Node) writeState(index, term uint64) error {
	alone := raft.Configuration{Servers: []raft.Server{{ID: n.id, Address: raft.ServerAddress(n.id)}}}
	_, transport := raft.NewInmemTransport(raft.ServerAddress(n.id)) // only encodes the configuration
	sink, err := n.folder.Snapshots.Create(raft.SnapshotVersionMax, index, term, alone, index, transport)
	if err != nil {
		return fmt.Errorf("create snapshot: %w", err)
	}
	s := fsmSnapshot{core: n.core, txn: n.core.View(), applied: index}
	if err := s.Persist(sink); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return nil
}
