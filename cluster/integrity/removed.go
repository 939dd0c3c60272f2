package integrity

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/durable"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

// A node that learns of its removal stays removed. Two nodes that a recovery gave up
// are a majority of the cluster that there was, and would issue tokens beside the
// cluster that there is. So the fact is in the folder: the node isolates itself,
// decides nothing, and does not start again. If the recovery was a mistake, this
// folder is the one to go on with, so its data stays, and recovery.Salvage reads it.

const removedFile = "removed"

// OwnLog is the reporter of a removal that a node read in its own log.
const OwnLog = "its own log"

// removal is who reported that a node was removed, and when.
type removal struct {
	By   string    `json:"by"` // name of a member, or OwnLog
	At   time.Time `json:"at"`
	Node string    `json:"node"` // id of the node that was removed

	written bool // the file is written; guarded by Removed.mu
}

func (r *removal) err() error {
	return fmt.Errorf("%w (reported by %s, at %s)", member.ErrRemoved, r.By, r.At.UTC().Format(time.RFC3339))
}

// CheckRemoved returns an error that wraps member.ErrRemoved for the folder of a node
// that was removed.
func CheckRemoved(dir string) error {
	path := filepath.Join(dir, removedFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read whether this node was removed: %w", err)
	}
	var r removal
	if err := json.Unmarshal(text, &r); err != nil || r.By == "" {
		r.By, r.At = path, time.Time{} // the file exists, which is enough
	}
	return r.err()
}

// Removed is whether a running node has learnt that it was removed. The exported fields
// are set before it is used.
type Removed struct {
	Dir     string // the node's data folder
	Node    string // its id
	Now     func() time.Time
	Isolate func() // closes the node's connections, and refuses new ones
	Log     *slog.Logger

	mu      sync.Mutex // held while the removal is recorded
	current atomic.Pointer[removal]
	done    chan struct{} // closed when current is set
}

// NewRemoved returns the state of a node that is not removed.
func NewRemoved() *Removed { return &Removed{done: make(chan struct{})} }

// Err returns nil, or an error that wraps member.ErrRemoved.
func (r *Removed) Err() error {
	if c := r.current.Load(); c != nil {
		return c.err()
	}
	return nil
}

// Done is closed when the node learns of its removal.
func (r *Removed) Done() <-chan struct{} { return r.done }

// Mark records that the node was removed. It isolates the node first: a disk that
// does not take the file must not let the node vote.
func (r *Removed) Mark(by string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current.Load() != nil {
		return
	}
	c := &removal{By: by, At: r.Now(), Node: r.Node}
	r.current.Store(c)
	close(r.done)
	r.Isolate()
	r.Log.Error("removal of this node reported", "by", by, "error", member.ErrRemoved)
	r.writeLocked(c)
}

// Retry writes the file if that failed before.
func (r *Removed) Retry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.current.Load(); c != nil && !c.written {
		r.writeLocked(c)
	}
}

// writeLocked is called with mu held.
func (r *Removed) writeLocked(c *removal) {
	text, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		err = durable.Replace(filepath.Join(r.Dir, removedFile), append(text, '\n'))
	}
	if c.written = err == nil; err != nil {
		r.Log.Error("removal not recorded", "error", err)
	}
}
