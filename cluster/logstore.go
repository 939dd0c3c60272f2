package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/metadb"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/verifier"
)

// cachedEntries is how many entries LogCache keeps: what a follower that keeps
// up asks for, and at most 64 * 64 KiB of memory.
const cachedEntries = 64

// keyOpened is a key in the stable store, beside the votes.
const keyOpened = "Opened"

// stores are the log and the stable store of a node:
//
//	LogCache -> compared -> acknowledged -> summed -> raft-wal      votes -> raft-wal
//
// raft-wal does not check what it reads of a sealed segment. summed does. What is
// compared with other nodes sits below the cache, so that it is read from the
// disk. All of them say that the log is monotonic, which raft must know or a
// follower that installs a snapshot may do so for ever (hashicorp/raft #697).
type stores struct {
	logs      raft.LogStore
	stable    raft.StableStore
	verifying *verifyingStore
}

func openStores(c *Config, log *logger, committed func() uint64, report verifier.ReportFn) (*stores, error) {
	dir := filepath.Join(c.Dir, "log")
	if err := privateDir(dir); err != nil {
		return nil, fmt.Errorf("create log folder: %w", err)
	}
	files := segment.NewFiler(dir, privateFiles{fs.New()})
	meta := &walMetaStore{BoltMetaDB: new(metadb.BoltMetaDB), filer: files}
	w, err := openWAL(dir, func() (*wal.WAL, error) {
		w, err := wal.Open(dir,
			wal.WithMetaStore(meta),
			wal.WithSegmentFiler(files),
			wal.WithSegmentSize(c.SegmentSize),
			wal.WithLogger(log.Named("wal")),
		)
		if err != nil {
			return nil, err
		}
		// bbolt checks a page only when it rewrites it (see walMetaStore.Load). So a key
		// on the page of the votes is written at each start.
		if err := w.SetUint64([]byte(keyOpened), 1); err != nil {
			return nil, errors.Join(fmt.Errorf("%s, in %s: %w", keyOpened, walMetaFile, err), w.Close())
		}
		return w, nil
	})
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	if err := os.Chmod(filepath.Join(dir, "wal-meta.db"), modeFile); err != nil {
		return nil, errors.Join(fmt.Errorf("protect log: %w", err), w.Close())
	}
	fatal := func(err error) { c.Fatal(fmt.Errorf("the log in %s: %w", dir, err)) }
	var logs raft.LogStore = &committedGuard{&checksumStore{&failStopStore{WAL: w, fatal: fatal}}, committed}
	var stable raft.StableStore = w
	if c.hooks.logs != nil {
		logs = &hookedLogs{c.hooks.logs(logs), w}
	}
	if c.hooks.stable != nil {
		stable = c.hooks.stable(w)
	}
	s := &stores{stable: &voteStore{StableStore: stable}}
	s.verifying = newVerifyingStore(logs, report)
	s.logs, err = raft.NewLogCache(cachedEntries, s.verifying)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("log cache: %w", err), s.Close())
	}
	return s, nil
}

// Close closes the log. raft must have stopped.
func (s *stores) Close() error { return s.verifying.Close() }

// hookedLogs keeps what the verifier asks of a log beside a test's own.
type hookedLogs struct {
	raft.LogStore
	w *wal.WAL
}

func (h *hookedLogs) IsMonotonic() bool { return h.w.IsMonotonic() }
func (h *hookedLogs) Close() error      { return h.w.Close() }
