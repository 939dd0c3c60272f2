package chaos

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// replaced puts a new node in the place of one that is gone for good.
func replaced() fault {
	return fault{
		name: "replacement of a node", majority: true, moves: 4,
		inject: func(r *round) error {
			old := r.c.all()[nodes-1]
			next := r.c.add(old.name + "x")
			r.c.invite(next, "cluster", "replace", old.name, "--name", next.name)
			old.release()
			r.c.forget(old)
			return next.start()
		},
		bit: func(r *round) bool {
			names := r.c.voters()
			for _, n := range r.c.all() {
				if !slices.Contains(names, n.name) {
					return false
				}
			}
			return len(names) == nodes
		},
		// The others learn where the links to the new node are.
		heal: func(r *round) error {
			r.leader = r.c.leader()
			if r.leader == nil {
				return errors.New("nobody leads after a replacement")
			}
			return rolling().inject(r)
		},
	}
}

// trailing is how much of the log the nodes of TestSnapshots keep.
const trailing = 64

// leftBehind cuts a follower off until the others have dropped the log that it
// lacks. With kill it is killed while it installs the snapshot.
func leftBehind(kill bool) fault {
	var follower *node
	f := fault{
		name: "a follower left behind", lasts: time.Second, majority: true, moves: 1,
		inject: func(r *round) error {
			follower = r.other(r.leader)
			return eachPair(r.around(follower), func(p pair) error { return r.c.links.disturb(p, "hole", "") })
		},
		bit: func(r *round) bool { return newestSnapshot(r.leader) > lastApplied(follower)+trailing },
		heal: func(r *round) error {
			err := eachPair(r.around(follower), func(p pair) error { return r.c.links.calm(p, "hole") })
			if !kill {
				return err
			}
			r.hits(follower)
			installing := func() bool {
				unfinished, _ := filepath.Glob(filepath.Join(follower.dir, "raft", "snapshots", "*.tmp"))
				return len(unfinished) > 0
			}
			// It may be done before we look: then it is killed right after.
			until(5*time.Second, func() bool { return installing() || lastApplied(follower) > 0 && follower.ready() })
			follower.process().kill()
			return errors.Join(err, r.restart())
		},
	}
	if kill {
		f.name += ", killed at the snapshot"
	}
	return f
}

// newestSnapshot is the index of a node's newest snapshot, 0 if it has none.
func newestSnapshot(n *node) (newest uint64) {
	entries, err := os.ReadDir(filepath.Join(n.dir, "raft", "snapshots"))
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

// lastApplied is what a node has applied, which it says itself.
func lastApplied(n *node) uint64 {
	s, err := n.checksum()
	if err != nil {
		return 0
	}
	return s.Applied
}
