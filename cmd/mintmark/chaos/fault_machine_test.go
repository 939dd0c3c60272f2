package chaos

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// disk gives orders to a node's disk: "slow 50ms", "hang", "fail", "full". Judged: if a
// majority of disks work, the cluster continues meanwhile.
func disk(whom target, orders string, lasts time.Duration) fault {
	return fault{
		name: "disk of " + whom.name + ": " + orders, lasts: lasts, majority: whom.left, moves: whom.moves,
		inject: func(r *round) error {
			return eachOf(r.hits(whom.nodes(r)...), func(n *node) error { return n.writeControl("disk", orders) })
		},
		hadEffect: func(r *round) bool { return r.controlApplied("disk") },
		heal: func(r *round) error {
			err := eachOf(r.victims, func(n *node) error { return n.writeControl("disk", "") })
			// A node whose disk failed stops by itself, after some time.
			for _, n := range r.victims {
				testkit.Until(3*time.Second, func() bool { return !n.Running() || n.Ready() })
			}
			return errors.Join(err, r.restart())
		},
	}
}

// clockPrefix begins the names of the faults of clocks.
const clockPrefix = "clock of "

// clock steps the wall clocks of nodes, and back. Judged: no token is ahead of the
// clocks, the others continue meanwhile if they are a majority, and the nodes recover
// without an operator.
func clock(whom target, by time.Duration, lasts time.Duration) fault {
	return fault{
		name: clockPrefix + whom.name + " by " + by.String(), lasts: lasts, majority: whom.left, moves: max(whom.moves, 1),
		inject: func(r *round) error {
			return eachOf(r.hits(whom.nodes(r)...), func(n *node) error { return r.setClock(n, by) })
		},
		hadEffect: func(r *round) bool { return r.controlApplied("clock") },
		heal: func(r *round) error {
			err := eachOf(r.victims, func(n *node) error { return r.setClock(n, 0) })
			return errors.Join(err, r.restart())
		},
	}
}

// writeControl writes an order for a node.
func (n *node) writeControl(what, orders string) error {
	file := n.controlFile(what)
	if err := os.Remove(file + ".bit"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	next := file + ".next"
	if err := os.WriteFile(next, []byte(orders), 0o600); err != nil {
		return err
	}
	return os.Rename(next, file)
}

// controlApplied reports whether all victims have read their orders.
func (r *round) controlApplied(what string) bool {
	for _, n := range r.victims {
		if _, err := os.Stat(n.controlFile(what) + ".bit"); err != nil {
			return false
		}
	}
	return true
}

// loseUnsynced reverts unsynced writes of the node to its log, last write first, and
// resets its commit marker to "nothing is known to be committed", which is the value that
// is synced. The node must be down.
func (n *node) loseUnsynced() error {
	if err := n.resetCommitMarker(); err != nil {
		return err
	}
	undos, err := filepath.Glob(filepath.Join(n.Dir, "raft", "*.undo"))
	if err != nil {
		return err
	}
	for _, undo := range undos {
		text, err := os.ReadFile(undo)
		if err != nil {
			return err
		}
		file := filepath.Join(n.Dir, "raft", "log", strings.TrimSuffix(filepath.Base(undo), ".undo"))
		if err := undoWrites(file, text); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// resetCommitMarker resets the commit marker to zero, so that the node applies nothing of
// its log before there is a leader.
func (n *node) resetCommitMarker() error {
	note := make([]byte, 16)
	note = binary.BigEndian.AppendUint32(note, crc32.ChecksumIEEE(note))
	return os.WriteFile(filepath.Join(n.Dir, "raft", "commit-marker"), note, 0o600)
}

func undoWrites(file string, records []byte) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	type write struct {
		at  int64
		was []byte
	}
	var writes []write
	for len(records) >= 16 {
		at, length := int64(binary.BigEndian.Uint64(records)), binary.BigEndian.Uint64(records[8:])
		if uint64(len(records)-16) < length {
			break // the record is incomplete, so its write did not happen
		}
		writes = append(writes, write{at, records[16 : 16+length]})
		records = records[16+length:]
	}
	for i := len(writes) - 1; i >= 0; i-- {
		if _, err := f.WriteAt(writes[i].was, writes[i].at); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}
