package chaos

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// replaced replaces a permanently lost node by a new one. Judged: the new node becomes a
// voter under load.
func replaced() fault {
	return fault{
		name: "replacement of a node", majority: true, moves: 4,
		inject: func(r *round) error {
			return r.replace(r.c.all()[nodes-1])
		},
		hadEffect: (*round).complete,
		heal:      (*round).relink,
	}
}

// replace starts a new node in place of another.
func (r *round) replace(old *node) error {
	next := r.c.add(old.Name + "x")
	old.Release()
	r.removeNode(old)
	r.c.invite(next, "cluster", "replace", old.Name, "--name", next.Name)
	return errors.Join(r.setClock(next, 0), next.start())
}

// complete reports whether the voters are exactly the existing nodes.
func (r *round) complete() bool {
	names := r.c.voters()
	for _, n := range r.c.all() {
		if !slices.Contains(names, n.Name) {
			return false
		}
	}
	return len(names) == nodes
}

// relink restarts all nodes, so that they learn the links to new ones.
func (r *round) relink() error {
	if !testkit.Until(eventually, func() bool { r.leader = r.c.leader(); return r.leader != nil }) {
		return errors.New("no leader after a change of members")
	}
	return rolling().inject(r)
}

// removeNode removes a node that is no longer a member.
func (w *env) removeNode(n *node) {
	w.c.forget(n)
	w.keyLog.nodeRemoved(n.Name)
}

// removed removes the leader from the cluster, and adds a new node. Judged: the old
// leader is no longer ready, though it runs, and the new node becomes a voter.
func removed() fault {
	var gone *node
	return fault{
		name: "removal of the leader", majority: true, planned: true, moves: 6,
		inject: func(r *round) error {
			gone = r.leader
			r.hits(gone)
			if a := r.other(gone).Decided("", "cluster", "remove", gone.Name, "--yes"); a.Code != exitOK {
				return fmt.Errorf("remove: exit code %d: %s", a.Code, a.Err)
			}
			r.removeNode(gone)
			return nil
		},
		// The old leader is refused, though it runs.
		hadEffect: func(r *round) bool {
			return gone.Running() && !gone.Ready() && r.c.leader() != nil && len(r.c.voters()) == nodes-1
		},
		heal: func(r *round) error {
			gone.Release()
			next := r.c.add(gone.Name + "x")
			r.c.invite(next, "cluster", "invite", "--name", next.Name)
			if err := errors.Join(r.setClock(next, 0), next.start()); err != nil {
				return err
			}
			if !testkit.Until(eventually, func() bool { return len(r.c.voters()) == nodes }) {
				return errors.New("the new node does not become a voter")
			}
			r.victims = nil
			return r.relink()
		},
	}
}

// trailing is the number of log entries that the nodes of TestSnapshots retain.
const trailing = 64

// leftBehind isolates a follower until the others have dropped the log that it lacks.
// With kill it is killed while it installs the snapshot. Judged: it catches up with a
// snapshot.
func leftBehind(kill bool) fault {
	var follower *node
	f := fault{
		name: "a follower left behind", lasts: time.Second, majority: true, moves: 1,
		inject: func(r *round) error {
			follower = r.other(r.leader)
			return eachPair(r.around(follower), func(p pair) error { return r.c.links.disturb(p, "hole", "") })
		},
		hadEffect: func(r *round) bool { return newestSnapshot(r.leader) > lastApplied(follower)+trailing },
		heal: func(r *round) error {
			err := eachPair(r.around(follower), func(p pair) error { return r.c.links.calm(p, "hole") })
			if !kill {
				return err
			}
			r.hits(follower)
			installing := func() bool {
				unfinished, _ := filepath.Glob(filepath.Join(follower.Dir, "raft", "snapshots", "*.tmp"))
				return len(unfinished) > 0
			}
			// The installation may end before it is seen: then the node is killed right
			// after it.
			testkit.Until(5*time.Second, func() bool { return installing() || lastApplied(follower) > 0 && follower.Ready() })
			follower.Process().Kill()
			return errors.Join(err, r.restart())
		},
	}
	if kill {
		f.name += ", killed at the snapshot"
	}
	return f
}

// newestSnapshot returns the index of a node's newest snapshot, 0 if it has none.
func newestSnapshot(n *node) (newest uint64) {
	entries, err := os.ReadDir(filepath.Join(n.Dir, "raft", "snapshots"))
	if err != nil {
		return 0
	}
	for _, e := range entries {
		var term, index, at uint64
		if _, err := fmt.Sscanf(e.Name(), "%d-%d-%d", &term, &index, &at); err == nil {
			newest = max(newest, index)
		}
	}
	return newest
}

// lastApplied returns the index that a node reports as applied.
func lastApplied(n *node) uint64 {
	s, err := n.Checksum()
	if err != nil {
		return 0
	}
	return s.Applied
}
