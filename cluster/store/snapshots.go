package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/types"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// The libraries create folders with mode 0755 and files with 0644. Only their owner may
// read these, whatever the mode of the folder above.
const (
	modeDir  = 0o700
	ModeFile = 0o600
)

// PrivateDir creates a folder for its owner only, and restricts an existing one.
func PrivateDir(path string) error {
	if err := os.MkdirAll(path, modeDir); err != nil {
		return err
	}
	return os.Chmod(path, modeDir)
}

// privateFiles is the file system of the log.
type privateFiles struct{ *fs.FS }

// Create implements types.VFS.
func (p privateFiles) Create(dir, name string, size uint64) (types.WritableFile, error) {
	f, err := p.FS.Create(dir, name, size)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(filepath.Join(dir, name), ModeFile); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Snapshots is raft's store of snapshots in files.
//
// raft's store syncs a snapshot's files and the parent folder, but not the folder with
// the files' names. Snapshots syncs that one, before anything is renamed.
type Snapshots struct {
	*raft.FileSnapshotStore
	dir         string
	log         hclog.Logger
	warned      sync.Map      // by id: damaged snapshots that were logged
	OpenedIndex atomic.Uint64 // index of the snapshot that was opened last
}

// List implements raft.SnapshotStore. It omits snapshots that Open would refuse before it
// reads the state.
func (p *Snapshots) List() ([]*raft.SnapshotMeta, error) {
	all, err := p.FileSnapshotStore.List()
	return slices.DeleteFunc(all, func(m *raft.SnapshotMeta) bool {
		dir := filepath.Join(p.dir, m.ID)
		err := p.checkMeta(m, dir)
		if err == nil {
			return false
		}
		if _, told := p.warned.LoadOrStore(m.ID, true); !told {
			p.log.Warn("skipped a damaged snapshot", "folder", dir, "error", err)
		}
		return true
	}), err
}

// Open implements raft.SnapshotStore.
func (p *Snapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	meta, r, err := p.FileSnapshotStore.Open(id)
	if err != nil {
		return nil, nil, err
	}
	if err := p.checkMeta(meta, filepath.Join(p.dir, id)); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open snapshot %s: %w", id, err), r.Close())
	}
	p.OpenedIndex.Store(meta.Index)
	return meta, r, nil
}

// OpenSnapshots opens the store in dir and removes snapshots that a crash left
// unfinished.
func OpenSnapshots(dir string, log hclog.Logger) (*Snapshots, error) {
	if err := PrivateDir(filepath.Join(dir, "snapshots")); err != nil {
		return nil, fmt.Errorf("create snapshot folder: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "snapshots", "*.tmp"))
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			return nil, fmt.Errorf("remove unfinished snapshot: %w", err)
		}
	}
	s, err := raft.NewFileSnapshotStoreWithLogger(dir, retainedSnapshots, log)
	if err != nil {
		return nil, fmt.Errorf("open snapshots: %w", err)
	}
	return &Snapshots{FileSnapshotStore: s, dir: filepath.Join(dir, "snapshots"), log: log}, nil
}

// retainedSnapshots is one more than necessary: a damaged snapshot has a predecessor.
const retainedSnapshots = 2

// Create implements raft.SnapshotStore.
func (p *Snapshots) Create(version raft.SnapshotVersion, index, term uint64, conf raft.Configuration,
	confIndex uint64, trans raft.Transport,
) (raft.SnapshotSink, error) {
	sink, err := p.FileSnapshotStore.Create(version, index, term, conf, confIndex, trans)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(p.dir, sink.ID()+".tmp")
	if err := writeMetaSum(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("write snapshot checksum: %w", err), sink.Cancel())
	}
	if err := privateTree(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("restrict snapshot files: %w", err), sink.Cancel())
	}
	return sink, nil
}

func privateTree(dir string) error {
	if err := os.Chmod(dir, modeDir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Chmod(filepath.Join(dir, e.Name()), ModeFile); err != nil {
			return err
		}
	}
	return durable.SyncDir(dir)
}
