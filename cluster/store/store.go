package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/metadb"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/verifier"
)

// cachedEntries is the number of entries in LogCache: enough for followers that are up to
// date, and at most 64 * 64 KiB of memory.
const cachedEntries = 64

// keyOpened is a key in the stable store, beside the votes.
const keyOpened = "Opened"

// A Store has the log and the stable store of a node, in these layers:
//
//	LogCache -> verifyingStore -> committedGuard -> checksumStore -> failStopStore -> raft-wal
//	voteStore -> raft-wal
//
// verifyingStore, which compares the log with those of other nodes, is below the cache,
// so that it reads from the disk. Every layer reports that the log is monotonic:
// otherwise raft may install snapshots on a follower forever (hashicorp/raft #697).
type Store struct {
	Logs      raft.LogStore
	Stable    raft.StableStore
	verifying *verifyingStore
}

// Options is what Open needs.
type Options struct {
	Dir         string // data folder of the node
	SegmentSize int    // bytes of a segment of the log
	Log         hclog.Logger
	// Fatal is called when the log can't be written, or has damaged entries. It must not
	// return.
	Fatal func(error)
	// Committed returns the index of the last entry known to be committed.
	Committed func() uint64
	// Report is called with the result of each verification of the log.
	Report func(verifier.VerificationReport)
	// WrapLogs and WrapStable let tests wrap the layers below raft. They may be nil.
	WrapLogs   func(raft.LogStore) raft.LogStore
	WrapStable func(raft.StableStore) raft.StableStore
}

// Open opens the log of a node, or creates an empty one.
func Open(c Options) (*Store, error) {
	dir := filepath.Join(c.Dir, "log")
	if err := PrivateDir(dir); err != nil {
		return nil, fmt.Errorf("create log folder: %w", err)
	}
	files := segment.NewFiler(dir, privateFiles{fs.New()})
	meta := &walMetaStore{BoltMetaDB: new(metadb.BoltMetaDB), filer: files}
	w, err := openWAL(dir, func() (*wal.WAL, error) {
		w, err := wal.Open(dir,
			wal.WithMetaStore(meta),
			wal.WithSegmentFiler(files),
			wal.WithSegmentSize(c.SegmentSize),
			wal.WithLogger(c.Log.Named("wal")),
		)
		if err != nil {
			return nil, err
		}
		// bbolt verifies a page only when it rewrites it (see walMetaStore.Load). So a
		// key on the page of the votes is written at each start.
		if err := w.SetUint64([]byte(keyOpened), 1); err != nil {
			return nil, errors.Join(fmt.Errorf("write %s in %s: %w", keyOpened, WalMetaFile, err), w.Close())
		}
		return w, nil
	})
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	if err := os.Chmod(filepath.Join(dir, WalMetaFile), ModeFile); err != nil {
		return nil, errors.Join(fmt.Errorf("restrict log files: %w", err), w.Close())
	}
	fatal := func(err error) { c.Fatal(fmt.Errorf("log in %s: %w", dir, err)) }
	var logs raft.LogStore = &committedGuard{&checksumStore{&failStopStore{WAL: w, fatal: fatal}}, c.Committed}
	var stable raft.StableStore = w
	if c.WrapLogs != nil {
		logs = &hookedLogs{c.WrapLogs(logs), w}
	}
	if c.WrapStable != nil {
		stable = c.WrapStable(w)
	}
	s := &Store{Stable: &voteStore{StableStore: stable}}
	s.verifying = newVerifyingStore(logs, c.Report)
	s.Logs, err = raft.NewLogCache(cachedEntries, s.verifying)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create log cache: %w", err), s.Close())
	}
	return s, nil
}

// Close closes the log. raft must have stopped.
func (s *Store) Close() error { return s.verifying.Close() }

// hookedLogs adds to a test's log the methods that the verifier needs.
type hookedLogs struct {
	raft.LogStore
	w *wal.WAL
}

func (h *hookedLogs) IsMonotonic() bool { return h.w.IsMonotonic() }
func (h *hookedLogs) Close() error      { return h.w.Close() }
