package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/go-memdb"
	"github.com/hashicorp/raft"
)

// A Backup is the state at one moment.
type Backup struct {
	Seq   uint64 // of the last command in it
	At    int64  // state time, ms since the Unix epoch
	Index uint64 // in the log
	Level uint32 // feature level in use
	Rows  map[string]uint64

	// SharedSeq and Term are set by Salvage: the Seq up to which all nodes are known to
	// have decided the same, and the term of the last entry of raft's log.
	SharedSeq, Term uint64

	schema *schema
	txn    *memdb.Txn
	stop   <-chan struct{}
}

// Backup takes the state with everything that was acknowledged before the call.
// Commands go on meanwhile.
func (n *Node) Backup(ctx context.Context) (*Backup, error) {
	if err := n.barrier(ctx); err != nil {
		return nil, err
	}
	return n.core.backup(n.stopped)
}

// backup returns a Backup of the present state. Backup.Write ends early when stop is
// closed.
func (c *core) backup(stop <-chan struct{}) (*Backup, error) {
	b := &Backup{schema: c.schema, stop: stop, Rows: make(map[string]uint64)}
	c.progress.with(func(index uint64) { b.txn, b.Index = c.view(), index })
	s := readStatus(b.txn)
	b.Seq, b.At, b.Level = s.Seq, s.At, s.Level
	for name := range b.schema.tables {
		rows, err := b.txn.Get(name, "id")
		if err != nil {
			return nil, fmt.Errorf("read table %q: %w", name, err)
		}
		for rows.Next() != nil {
			b.Rows[name]++
		}
	}
	return b, nil
}

// View returns the state that the backup holds, to read.
func (b *Backup) View() *memdb.Txn { return b.txn }

// Write writes the state. It is not sealed.
func (b *Backup) Write(w io.Writer) error { return b.schema.writeSnapshot(w, b.txn, b.Index, b.stop) }

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
	snapshots, err := n.openFiles()
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	fresh, err := n.isFresh(snapshots)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	instanceID, err := readInstanceIDFile(n.config.Dir)
	switch {
	case err != nil:
		return fmt.Errorf("restore: %w", err)
	case !fresh || !n.peerList.empty() || instanceID != nil:
		return errors.New("restore: the data directory belongs to a cluster already")
	}
	if err := n.core.restore(backup); err != nil {
		return err
	}
	n.core.forgetMembers(func(*Member) bool { return false })
	if n.id, err = n.identity(); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := n.stores.stable.SetUint64([]byte(keyTerm), 1); err != nil {
		return fmt.Errorf("restore: write term: %w", err)
	}
	if err := n.writeState(snapshots, max(n.core.progress.applied(), 1), 1); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// forgetMembers drops members, with what could bring others in, from a state
// that no raft runs on.
func (c *core) forgetMembers(keep func(*Member) bool) {
	txn := c.db.Load().Txn(true)
	kept := 0
	for _, m := range members(txn) {
		if keep(m) {
			kept++
			continue
		}
		mustDelete(txn, membersTable, m)
	}
	for _, i := range list[invite](txn, invitesTable) {
		mustDelete(txn, invitesTable, i)
	}
	if kept == 0 {
		for _, a := range list[authority](txn, authoritiesTable) {
			mustDelete(txn, authoritiesTable, a)
		}
	}
	txn.Commit()
}

func mustDelete(txn *memdb.Txn, table string, row any) {
	if err := txn.Delete(table, row); err != nil {
		panic(fmt.Sprintf("cluster: delete a row that was just read: %v", err))
	}
}

// writeState writes the state as a snapshot, in which this node is the only
// voter.
func (n *Node) writeState(snapshots raft.SnapshotStore, index, term uint64) error {
	alone := raft.Configuration{Servers: []raft.Server{{ID: n.id, Address: raft.ServerAddress(n.id)}}}
	_, transport := raft.NewInmemTransport(raft.ServerAddress(n.id)) // only encodes the configuration
	sink, err := snapshots.Create(raft.SnapshotVersionMax, index, term, alone, index, transport)
	if err != nil {
		return fmt.Errorf("create snapshot: %w", err)
	}
	s := fsmSnapshot{schema: n.core.schema, txn: n.core.view(), applied: index}
	if err := s.Persist(sink); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return nil
}
