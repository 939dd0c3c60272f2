package chaos

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// rolledBack starts a follower with an older copy of its folder, as after restoring a
// snapshot of its virtual machine. In the end it gets its newest folder back. Judged:
// another node remembers that the follower had more, refuses it, and reports why. With
// led that node is the leader. Otherwise it is the only other node left, with which
// the follower could elect a leader. The follower stops, and has answered no client.
func rolledBack(led bool) fault {
	name := "a folder rolled back"
	if !led {
		name += ", and no leader"
	}
	var newest string
	var observer *node
	f := fault{
		name: name, majority: led, moves: 2, lasts: time.Second,
		inject: func(r *round) error {
			n := r.other(r.leader)
			r.hits(n)
			newest = ""
			older := filepath.Join(r.c.dir, fmt.Sprintf("older-%d", r.c.now()))
			if err := errors.Join(n.Process().Stop(syscall.SIGTERM, 2*maxRequestTime), copyDir(n.Dir, older), n.start()); err != nil {
				return err
			}
			if !testkit.Until(maxStart, n.Ready) {
				return fmt.Errorf("%s is not ready after its copy was made", n.Name)
			}
			since, had := r.c.now(), lastApplied(n)
			if !testkit.Until(maxStart, func() bool { return r.h.written(since) >= minWrites && lastApplied(n) > had+minWrites }) {
				return errors.New("nothing was written after the copy was made")
			}
			// Nodes other than the leader learn a member's log position from its status,
			// which they request once a second.
			if r.leader = r.c.leader(); r.leader == nil || r.leader == n {
				return errors.New("leadership has changed")
			}
			time.Sleep(2 * time.Second)
			r.strike()
			n.Process().Kill()
			for observer = r.leader; !led && observer == r.leader; {
				observer = r.other(n)
			}
			if !led {
				r.hits(r.leader)
				r.leader.Process().Kill()
			}
			newest = older + "-newest"
			return errors.Join(os.Rename(n.Dir, newest), copyDir(older, n.Dir), n.start())
		},
		hadEffect: func(r *round) bool {
			return !r.victims[0].Running() && r.victims[0].Process().Command.ProcessState.ExitCode() > 0 &&
				strings.Contains(reportedProblem(observer, r.victims[0]), "older copy")
		},
		heal: func(r *round) error {
			n := r.victims[0]
			n.Release()
			for _, o := range r.h.since(r.struck) {
				if o.Node == n.Name && o.wrote() && o.Kind != allow && o.Start > r.struck {
					r.h.addFault("answered with an older folder: %s", o)
				}
			}
			if newest == "" {
				return r.restart()
			}
			return errors.Join(os.RemoveAll(n.Dir), os.Rename(newest, n.Dir), r.restart())
		},
	}
	return f
}

// reportedProblem returns the problem of one node in the status of another.
func reportedProblem(by, of *node) string {
	s, err := by.Status()
	if err != nil {
		return ""
	}
	for _, m := range s.Nodes {
		if m.Name == of.Name {
			return m.Error
		}
	}
	return ""
}

// copyDir copies the files of a folder without its sockets.
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
