package chaos

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// damaged changes the data of a stopped follower, and an operator replaces it by a new
// node. Judged: the follower detects the damage and stops, because it would serve data
// that was not decided.
func damaged(what string, spoil func(*round, *node) error) fault {
	return fault{
		name: what, majority: true, moves: 5,
		inject: func(r *round) error {
			n := r.other(r.leader)
			r.hits(n)
			n.Process().Kill()
			if err := spoil(r, n); err != nil {
				return err
			}
			r.strike()
			return n.start()
		},
		hadEffect: func(r *round) bool {
			n := r.victims[0]
			return !n.Running() && n.Process().Command.ProcessState.ExitCode() > 0
		},
		heal: func(r *round) error {
			n := r.victims[0]
			if n.Ready() {
				r.h.addFault("S8: %s is ready with %s", n.Name, what)
			}
			if err := r.replace(n); err != nil {
				return err
			}
			if !testkit.Until(eventually, r.complete) {
				return errors.New("the new node does not become a voter")
			}
			return r.relink()
		},
	}
}

// flippedBit changes one bit of an id in a sealed segment: every command stays decodable,
// but one differs. Judged: the same as for damaged.
func flippedBit() fault {
	segmentsOf := func(n *node) []string {
		list, _ := filepath.Glob(filepath.Join(n.Dir, "raft", "log", "*.wal")) // the pattern is valid
		slices.Sort(list)
		return list
	}
	f := damaged("a bit flipped in the log", func(r *round, n *node) error {
		segments := segmentsOf(n)
		for _, file := range segments[:len(segments)-1] { // the last one is not sealed
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, o := range r.h.all() {
				id, err := hex.DecodeString(o.Grant)
				if err != nil || len(id) == 0 {
					continue
				}
				if at := bytes.Index(text, id); at >= 0 {
					text[at+rand.IntN(len(id))] ^= 1 << rand.IntN(8)
					return os.WriteFile(file, text, 0o600)
				}
			}
		}
		return errors.New("no sealed segment has a grant")
	})
	inject := f.inject
	f.inject = func(r *round) error {
		if !testkit.Until(maxStart, func() bool { return len(segmentsOf(r.leader)) > 3 }) {
			return errors.New("no segments are sealed")
		}
		return inject(r)
	}
	return f
}

// truncatedSnapshot halves the snapshots. Judged: the same as of damaged.
func truncatedSnapshot() fault {
	return damaged("snapshots cut short", func(_ *round, n *node) error {
		files, err := filepath.Glob(filepath.Join(n.Dir, "raft", "snapshots", "*", "state.bin"))
		if err != nil || len(files) == 0 {
			return errors.Join(err, errors.New("there is no snapshot"))
		}
		for _, file := range files {
			s, err := os.Stat(file)
			if err != nil {
				return err
			}
			if err := os.Truncate(file, s.Size()/2); err != nil {
				return err
			}
		}
		return nil
	})
}
