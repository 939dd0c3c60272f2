package integrity

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft-wal/verifier"

	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// A folder is the data folder of a node that this process uses: it is locked, and its
// log, snapshots and peer list are open.
type Folder struct {
	dir       string
	rand      io.Reader
	log       *slog.Logger
	lock      *os.File
	Store     *store.Store
	Snapshots *store.Snapshots
	PeerList  *member.PeerList
	Marker    CommitMarker
}

// Options is what Open needs.
type Options struct {
	Rand io.Reader
	Log  *slog.Logger
	// Store is for the log. Committed is set by Open.
	Store store.Options
}

// Open locks the folder o.Store.Dir and opens what is in it. After an error
// nothing is open.
func Open(o Options) (*Folder, error) {
	f := &Folder{dir: o.Store.Dir, rand: o.Rand, log: o.Log}
	f.Marker.wake = make(chan struct{}, 1)
	o.Store.Committed = func() uint64 { return f.Marker.Get().Index }
	var err error
	if f.lock, err = store.LockDir(f.dir); err != nil {
		return nil, err
	}
	if f.PeerList, err = member.OpenPeerList(f.dir); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if f.Store, err = store.Open(o.Store); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if f.Snapshots, err = store.OpenSnapshots(f.dir, o.Store.Log); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close waits for what is written to the commit marker, closes the log and drops the
// lock. raft must have stopped.
func (f *Folder) Close() error {
	errs := []error{f.Marker.close()}
	if f.Store != nil {
		errs = append(errs, f.Store.Close())
	}
	return errors.Join(append(errs, f.lock.Close())...)
}

// IsFresh reports whether there is neither a log nor a snapshot.
func (f *Folder) IsFresh() (bool, error) {
	last, err := f.Store.Logs.LastIndex()
	if err != nil {
		return false, fmt.Errorf("read log: %w", err)
	}
	taken, err := f.Snapshots.List()
	if err != nil {
		return false, fmt.Errorf("list snapshots: %w", err)
	}
	return last == 0 && len(taken) == 0, nil
}

// isMemberSegmentSize is of a log that is opened and not written to.
const isMemberSegmentSize = 16 << 20

// IsMember reports whether a folder belongs to a cluster: it has joined one, or
// a node has run there, or it has a log with something in it or a snapshot. No
// node may use the folder.
func IsMember(dir string) (is bool, err error) {
	r, err := member.OpenPeerList(dir)
	if err != nil || !r.Empty() {
		return err == nil, err
	}
	instanceID, err := ReadInstanceIDFile(dir)
	if err != nil || instanceID != nil {
		return err == nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "log")); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	log := slog.New(slog.DiscardHandler)
	f, err := Open(Options{Log: log, Store: store.Options{
		Dir: dir, Log: store.NewLogger(log), SegmentSize: isMemberSegmentSize,
		Fatal:  func(err error) { panic("integrity: " + err.Error()) },
		Report: func(verifier.VerificationReport) {},
	}})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	fresh, err := f.IsFresh()
	return !fresh, err
}

// Lock makes sure that no node uses a folder until unlock is called.
func Lock(dir string) (unlock func() error, err error) {
	f, err := store.LockDir(dir)
	if err != nil {
		return nil, err
	}
	return f.Close, nil
}
