package integrity

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/store"
)

// After a start raft applies only its last snapshot, until a leader reports how far the log
// is committed. A node that finds no leader would lack the commands of the last minutes or
// days, and could not repeat the answers that it gave.
//
// So a node writes the commit marker beside its log: how far the log was committed. Committed
// entries stay committed, so an old marker is valid too, and the file need not be synced. At
// a start the node applies the log up to the marker by itself; entries that raft passes to
// it again later are skipped.

// closeTimeout is how long close waits for a disk that hangs.
const closeTimeout = 10 * time.Second

const commitMarkerInterval = 5 * time.Millisecond // between two writes

// CommitMarker writes the commit marker of a running node.
type CommitMarker struct {
	wake chan struct{} // holds an element when there may be something to write
	stop chan struct{} // closed when no more positions will be recorded
	done chan struct{} // closed when the last marker is written; nil if the file is not written

	mu      sync.Mutex // guards current and floor
	current Position
	floor   Position // what another member remembers; the file never has less

	dir         string // this and the rest are of the goroutine that keeps the file
	BeforeWrite func() // each write, for tests; may be nil
	file        *os.File
	written     Position
	err         error // of the last write
}

// Advance records that entries up to p were applied. A position that is not after the
// current one is ignored: after a start, entries that the marker covers are applied again.
func (c *CommitMarker) Advance(p Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.Index > c.current.Index {
		c.set(p)
	}
}

// Replace is called at a start, and with a snapshot that took the place of the
// log, whatever that had.
func (c *CommitMarker) Replace(p Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(p)
}

// set is called with mu held.
func (c *CommitMarker) set(p Position) {
	c.current = p
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *CommitMarker) Get() Position {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// SetFloor makes the file, from now on, name p or a later position, even if this
// node lacks the entry: then its next start finds that data was lost.
func (c *CommitMarker) SetFloor(p Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.floor = p
	c.set(c.current)
}

func (c *CommitMarker) toWrite() Position {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.floor.Index > c.current.Index {
		return c.floor
	}
	return c.current
}

// write brings the file up to date, where there is news.
func (c *CommitMarker) write() (err error) {
	p := c.toWrite()
	if p == c.written {
		return nil
	}
	if c.BeforeWrite != nil {
		c.BeforeWrite()
	}
	if c.file == nil {
		if c.file, err = os.OpenFile(filepath.Join(c.dir, CommitMarkerFile), os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
			c.file = nil
			return fmt.Errorf("write commit marker: %w", err)
		}
	}
	if _, err := c.file.WriteAt(encodeCommitMarker(p), 0); err != nil {
		return fmt.Errorf("write commit marker: %w", err)
	}
	c.written = p
	return nil
}

// Start writes the file of a folder, in a goroutine, until close.
func (c *CommitMarker) Start(dir string, log *slog.Logger) {
	c.dir, c.stop, c.done = dir, make(chan struct{}), make(chan struct{})
	go c.run(log)
}

// run writes the file. A write may block for any time: only close waits for it.
func (c *CommitMarker) run(log *slog.Logger) {
	defer close(c.done)
	for last := false; !last; {
		select {
		case <-c.wake:
		case <-c.stop:
			last = true // what raft has applied on its way down
		}
		was := c.err
		if c.err = c.write(); c.err != nil && was == nil {
			log.Warn("commit marker not written", "error", c.err)
		}
		select {
		case <-time.After(commitMarkerInterval):
		case <-c.stop:
		}
	}
	if c.file != nil {
		c.err = errors.Join(c.err, c.file.Close())
	}
}

// close returns when the last marker is written. On a disk that hangs the goroutine
// is left behind, and ends when the disk lets it: a marker that is late is as true
// as any.
func (c *CommitMarker) close() error {
	if c.done == nil {
		return nil
	}
	close(c.stop)
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case <-c.done:
		return c.err
	case <-timer.C:
		return errors.New("write commit marker: the disk hangs")
	}
}

// checkCommitMarker finds a log that ends before what was committed in it, or has
// something else there: an older copy.
func (f *Folder) checkCommitMarker(p Position, covered uint64) error {
	last, err := f.Store.Logs.LastIndex()
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	if p.Index > max(last, covered) {
		return fmt.Errorf("the log in %s ends with entry %d, and the node had entry %d: %w", f.dir, max(last, covered), p.Index, store.ErrDataLost)
	}
	if p.Term == 0 || p.Index > last {
		return nil
	}
	var l raft.Log
	switch err := f.Store.Logs.GetLog(p.Index, &l); {
	case errors.Is(err, raft.ErrLogNotFound): // a snapshot has it
	case err != nil:
		return fmt.Errorf("read log: %w", err)
	case l.Term != p.Term:
		return fmt.Errorf("entry %d of the log in %s is not the one that the node had: %w", p.Index, f.dir, store.ErrDataLost)
	}
	return nil
}
