package chaos

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// rolledBack gives a follower an older copy of its folder, as who goes back to the
// snapshot of a virtual machine does. In the end it has its newest folder again.
// Judged: the others, who remember that it had more, keep it away, and say why: with
// led the leader, otherwise the only other node that is left, with which it could
// elect a leader. It ends and has answered nobody.
func rolledBack(led bool) fault {
	name := "a folder rolled back"
	if !led {
		name += ", and no leader"
	}
	var newest string
	var witness *node
	f := fault{
		name: name, majority: led, moves: 2, lasts: time.Second,
		inject: func(r *round) error {
			n := r.other(r.leader)
			r.hits(n)
			newest = ""
			older := filepath.Join(r.c.dir, fmt.Sprintf("older-%d", r.c.now()))
			if err := errors.Join(n.process().stop(2*longest), copyDir(n.dir, older), n.start()); err != nil {
				return err
			}
			if !until(starts, n.ready) {
				return fmt.Errorf("%s is not ready after its copy was made", n.name)
			}
			since, had := r.c.now(), lastApplied(n)
			if !until(starts, func() bool { return r.h.written(since) >= leastWrites && lastApplied(n) > had+leastWrites }) {
				return errors.New("nothing was written after the copy was made")
			}
			// A node that does not hear what another acknowledges asks for it once a second.
			if r.leader = r.c.leader(); r.leader == nil || r.leader == n {
				return errors.New("the leader is another one")
			}
			time.Sleep(2 * time.Second)
			r.strike()
			n.process().kill()
			for witness = r.leader; !led && witness == r.leader; {
				witness = r.other(n)
			}
			if !led {
				r.hits(r.leader)
				r.leader.process().kill()
			}
			newest = older + "-newest"
			return errors.Join(os.Rename(n.dir, newest), copyDir(older, n.dir), n.start())
		},
		bit: func(r *round) bool {
			return !r.victims[0].running() && r.victims[0].process().command.ProcessState.ExitCode() > 0 &&
				strings.Contains(told(witness, r.victims[0]), "older copy")
		},
		heal: func(r *round) error {
			n := r.victims[0]
			n.release()
			for _, o := range r.h.since(r.struck) {
				if o.Node == n.name && o.wrote() && o.Kind != allow && o.Start > r.struck {
					r.h.wrong("with an older folder it was answered: %s", o)
				}
			}
			if newest == "" {
				return r.restart()
			}
			return errors.Join(os.RemoveAll(n.dir), os.Rename(newest, n.dir), r.restart())
		},
	}
	return f
}

// told is what a node says is wrong with another.
func told(by, of *node) string {
	s, err := by.status()
	if err != nil {
		return ""
	}
	for _, m := range s.Nodes {
		if m.Name == of.name {
			return m.Error
		}
	}
	return ""
}

// copyDir copies the files of a folder, and leaves out sockets.
func copyDir(from, to string) error {
	return filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, rest), 0o700)
		case !e.Type().IsRegular():
			return nil
		}
		return copyFile(path, filepath.Join(to, rest))
	})
}
