package recovery

import (
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/go-memdb"
	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/fsm"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// Restore makes an empty folder hold the state of a backup, as that of a
// cluster of one: the members, invites and authorities of the cluster that it
// was taken of are left out, because the nodes that join now are others. The
// folder is then for cluster.Open.
//
// raft.Restore, which replaces the state of a running cluster, is not used: it
// commits ahead of its followers.
func Restore(o Options, backup io.Reader) error {
	f, err := open(o)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return errors.Join(f.restore(backup), f.folder.Close())
}

func (f *offline) restore(backup io.Reader) error {
	fresh, err := f.folder.IsFresh()
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	instanceID, err := integrity.ReadInstanceIDFile(f.Dir)
	switch {
	case err != nil:
		return fmt.Errorf("restore: %w", err)
	case !fresh || !f.folder.PeerList.Empty() || instanceID != nil:
		return errors.New("restore: the data directory belongs to a cluster already")
	}
	if err := f.core.Restore(backup); err != nil {
		return err
	}
	f.core.Edit(func(txn *memdb.Txn) { member.Forget(txn, func(*member.Member) bool { return false }) })
	if f.id, err = f.folder.Identity(); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := f.folder.Store.Stable.SetUint64([]byte(store.KeyTerm), 1); err != nil {
		return fmt.Errorf("restore: write term: %w", err)
	}
	if err := f.writeState(max(f.core.Applied(), 1), 1); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// writeState writes the state as a snapshot, in which this node is the only
// voter.
func (f *offline) writeState(index, term uint64) error {
	_, transport := raft.NewInmemTransport(raft.ServerAddress(f.id)) // only encodes the configuration
	sink, err := f.folder.Snapshots.Create(raft.SnapshotVersionMax, index, term, soleVoter(f.id), index, transport)
	if err != nil {
		return fmt.Errorf("create snapshot: %w", err)
	}
	s := fsm.Snapshot{Core: f.core, Txn: f.core.View(), Applied: index}
	if err := s.Persist(sink); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return nil
}
