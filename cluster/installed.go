package cluster

import (
	"fmt"

	"github.com/hashicorp/raft"
)

// Raft names the snapshot that it installs, restores it, and only then drops the
// log that it replaces. A node that was killed in between has a log that ends
// before its snapshot begins: raft would say that its last entry is the
// snapshot's and be sent the next one, and the log, which takes no gap, would
// end the process, at this start and at each after it.

// dropReplaced drops such a log before raft runs. Raft begins with the newest
// snapshot that can be restored, so only that one counts: one that can't be, of a
// newer version of the program for instance, leaves the log to those before it.
func (n *Node) dropReplaced(snapshots raft.SnapshotStore) error {
	last, err := n.stores.logs.LastIndex()
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	if last == 0 {
		return nil
	}
	taken, err := snapshots.List() // the newest first
	if err != nil {
		return fmt.Errorf("list snapshots: %w", err)
	}
	for _, s := range taken {
		if s.Index <= last {
			return nil
		}
		if !n.restores(snapshots, s.ID) {
			continue
		}
		first, err := n.stores.logs.FirstIndex()
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		n.log.Warn("cluster: a snapshot was installed and the log that it replaces was not dropped yet", "snapshot", s.Index, "log", last)
		if err := n.stores.logs.DeleteRange(first, last); err != nil {
			return fmt.Errorf("drop the log that a snapshot replaces: %w", err)
		}
		return nil
	}
	return nil
}

// restores says whether a snapshot can be restored. Raft says why not.
func (n *Node) restores(snapshots raft.SnapshotStore, id string) bool {
	_, r, err := snapshots.Open(id)
	if err != nil {
		return false
	}
	defer func() { _ = r.Close() }()
	_, _, err = n.core.read(r)
	return err == nil
}
