package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/durable"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// A node that has learnt that it was removed is one for good. Two of them that
// were given up by mintmark cluster recover are a majority of the cluster that
// there was, and would issue tokens beside the one that there is. So the fact
// lies in the folder: it keeps away from the others, decides nothing, and does
// not start again. If the recovery was a mistake, this folder is the one to go on
// with, so its data stays, and Salvage reads it.

const removedFile = "removed"

// removal is who said that a node was removed, and when.
type removal struct {
	By   string    `json:"by"` // name of a member, or ownLog
	At   time.Time `json:"at"`
	Node string    `json:"node"` // id of the node that was removed

	written bool // the file is written
}

// ownLog stands for a node that has read of its removal itself.
const ownLog = "its own log"

func (r *removal) err() error {
	return fmt.Errorf("%w (so says %s, at %s)", member.ErrRemoved, r.By, r.At.UTC().Format(time.RFC3339))
}

// readRemoval is what the file of a folder says, nil if there is none.
func readRemoval(dir string) (*removal, error) {
	path := filepath.Join(dir, removedFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read whether this node was removed: %w", err)
	}
	var r removal
	if err := json.Unmarshal(text, &r); err != nil || r.By == "" {
		r.By, r.At = path, time.Time{} // it is there, which says enough
	}
	return &r, nil
}

// checkRemoved returns ErrRemoved for the folder of a node that was removed.
func checkRemoved(dir string) error {
	r, err := readRemoval(dir)
	if err != nil || r == nil {
		return err
	}
	return r.err()
}

// Removed is nil, or wraps ErrRemoved where this node has learnt that it was
// removed: then it serves nobody.
func (n *Node) Removed() error {
	if r := n.removed.Load(); r != nil {
		return r.err()
	}
	return nil
}

// markRemoved makes this node one that was removed. It keeps away first: a disk that
// does not take the file must not let it vote.
func (n *Node) markRemoved(by string) {
	n.removedMu.Lock()
	defer n.removedMu.Unlock()
	if n.removed.Load() != nil {
		return
	}
	r := &removal{By: by, At: n.config.Now(), Node: string(n.id)}
	n.removed.Store(r)
	close(n.removedCh)
	n.network.Isolate(transport.IsolationRemoved, true)
	n.log.Error("cluster: "+member.ErrRemoved.Error(), "says", by)
	n.writeRemoval(r)
}

// retryWriteRemoval writes the file that could not be written.
func (n *Node) retryWriteRemoval() {
	n.removedMu.Lock()
	defer n.removedMu.Unlock()
	if r := n.removed.Load(); r != nil && !r.written {
		n.writeRemoval(r)
	}
}

// writeRemoval is called with expelling held.
func (n *Node) writeRemoval(r *removal) {
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = durable.Replace(filepath.Join(n.config.Dir, removedFile), append(text, '\n'))
	}
	if r.written = err == nil; err != nil {
		n.log.Error("cluster: note that this node was removed", "error", err)
	}
}
