package chaos

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// identityRefused starts a follower with a wrong identity. Judged: the follower refuses
// to start, or the others refuse it; an operator can see which; it answers no client; and
// with its files restored it continues.
func identityRefused(what string, spoil func(*round, *node) error) fault {
	var kept *backup
	return fault{
		name: what, lasts: time.Second, majority: true, moves: 1,
		inject: func(r *round) error {
			n := r.joinedFollower()
			r.hits(n)
			n.Process().Kill()
			kept = &backup{}
			for _, file := range []string{"cluster.key", "raft/peers.json", "raft/node.key", "raft/node.id", "raft/commit-marker"} {
				if err := kept.save(filepath.Join(n.Dir, filepath.FromSlash(file))); err != nil {
					return err
				}
			}
			if err := spoil(r, n); err != nil {
				return err
			}
			r.strike()
			return n.start()
		},
		hadEffect: func(r *round) bool { return r.isRefused(r.victims[0]) },
		heal: func(r *round) error {
			n := r.victims[0]
			if n.Ready() {
				r.h.addFault("%s is ready despite %s", n.Name, what)
			}
			n.Release()
			for _, o := range r.h.since(r.struck) {
				if o.Node == n.Name && o.wrote() && o.Kind != allow && o.Start > r.struck {
					r.h.addFault("answered despite %s: %s", what, o)
				}
			}
			return errors.Join(kept.putBack(), r.setClock(n, 0), n.start())
		},
	}
}

// joinedFollower returns a follower with an id file, which a node that joined has.
func (r *round) joinedFollower() *node {
	for {
		n := r.other(r.leader)
		if _, err := os.Stat(filepath.Join(n.Dir, "raft", "node.id")); err == nil {
			return n
		}
	}
}

// isRefused reports whether a node has refused to start, or runs and the leader reports
// why it rejects it.
func (r *round) isRefused(n *node) bool {
	if !n.Running() {
		return n.Process().Command.ProcessState.ExitCode() > 0
	}
	if !n.Alive() || n.Ready() {
		return false
	}
	s, err := r.leader.Status()
	if err != nil {
		return false
	}
	for _, m := range s.Nodes {
		if m.Name == n.Name {
			return m.State == "unreachable" && m.Error != ""
		}
	}
	return false
}

// expiredCertificate makes a node issue itself an expired certificate.
func expiredCertificate() fault {
	return identityRefused("a certificate that has expired", func(r *round, n *node) error {
		return r.setClock(n, -40*24*time.Hour)
	})
}

// wrongName makes a node issue itself a certificate in the leader's name.
func wrongName() fault {
	return identityRefused("a certificate of the wrong name", func(r *round, n *node) error {
		s, err := r.leader.Status()
		if err != nil {
			return err
		}
		for _, m := range s.Nodes {
			if m.Name == r.leader.Name {
				return os.WriteFile(filepath.Join(n.Dir, "raft", "node.id"), []byte(m.ID), 0o600)
			}
		}
		return errors.New("the leader has no id")
	})
}

// anotherKey gives a node the key of a node of another cluster.
func anotherKey() fault {
	return identityRefused("a node key that nobody knows", func(r *round, n *node) error {
		from, err := r.otherClusterFolder()
		if err != nil {
			return err
		}
		return copyFile(filepath.Join(from, "raft", "node.key"), filepath.Join(n.Dir, "raft", "node.key"))
	})
}

// anotherAuthority makes a node's certificate be signed by another cluster's authority,
// which the node finds in its peer list. A snapshot would give it the right authority
// again, so this fault is for clusters without a snapshot. Also judged: the others refuse
// it because of the certificate.
func anotherAuthority() fault {
	f := identityRefused("a certificate of another authority", func(r *round, n *node) error {
		from, err := r.otherClusterFolder()
		if err != nil {
			return err
		}
		own, theirs := map[string]json.RawMessage{}, map[string]json.RawMessage{}
		file := filepath.Join(n.Dir, "raft", "peers.json")
		if err := errors.Join(readJSON(file, &own), readJSON(filepath.Join(from, "raft", "peers.json"), &theirs)); err != nil {
			return err
		}
		own["authorities"] = theirs["authorities"]
		text, err := withChecksum(own)
		if err != nil {
			return err
		}
		// Without the cluster key under which it is sealed, the authority could not sign.
		return errors.Join(os.WriteFile(file, text, 0o600),
			copyFile(filepath.Join(from, "cluster.key"), filepath.Join(n.Dir, "cluster.key")), n.resetCommitMarker())
	})
	f.hadEffect = func(r *round) bool {
		return r.victims[0].Alive() && strings.Contains(reportedProblem(r.leader, r.victims[0]), "not a member of this cluster")
	}
	return f
}

// withChecksum encodes a modified peer list with a valid checksum: that of the text with
// zeros in place of the sum.
func withChecksum(list map[string]json.RawMessage) ([]byte, error) {
	zeros := strings.Repeat("0", hex.EncodedLen(sha256.Size))
	list["sum"] = json.RawMessage(strconv.Quote(zeros))
	text, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return bytes.Replace(text, []byte(zeros), []byte(hex.EncodeToString(sum[:])), 1), nil
}

// noClusterKey removes the cluster key, without which a node can open no other key.
func noClusterKey() fault {
	return identityRefused("a missing cluster key", func(_ *round, n *node) error {
		return os.Remove(filepath.Join(n.Dir, "cluster.key"))
	})
}

// anotherClusterKey replaces the cluster key by that of another cluster.
func anotherClusterKey() fault {
	return identityRefused("a wrong cluster key", func(r *round, n *node) error {
		from, err := r.otherClusterFolder()
		if err != nil {
			return err
		}
		return copyFile(filepath.Join(from, "cluster.key"), filepath.Join(n.Dir, "cluster.key"))
	})
}

// otherClusterFolder returns the folder of a node of another cluster.
func (r *round) otherClusterFolder() (string, error) {
	out := filepath.Join(r.c.dir, fmt.Sprintf("elsewhere-%d", r.c.now()))
	a := r.leader.run("cluster", "generate", "--public-url", "https://elsewhere.test", "--out", out,
		"--node", "e1=127.0.0.1:1", "--node", "e2=127.0.0.1:2", "--node", "e3=127.0.0.1:3")
	if a.Code != exitOK {
		return "", fmt.Errorf("generate: exit code %d: %s", a.Code, a.Err)
	}
	return filepath.Join(out, "e1"), nil
}

// A backup has the former contents of files, or that they did not exist.
type backup struct {
	files map[string][]byte
}

func (b *backup) save(file string) error {
	if b.files == nil {
		b.files = map[string][]byte{}
	}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b.files[file] = text
	return nil
}

func (b *backup) putBack() error {
	var errs []error
	for file, text := range b.files {
		if text == nil {
			if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
			continue
		}
		errs = append(errs, os.WriteFile(file, text, 0o600))
	}
	return errors.Join(errs...)
}

func readJSON(file string, value any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}
