package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// minStartSpace is free space, in bytes, for two segments of the log, which raft-wal
// allocates ahead. A log that can't allocate its second segment takes no commands.
const minStartSpace = 32 << 20

// CheckFreeSpace returns an error if the disk under dir has too little free space to start
// a new node there. dir must exist. Where the system does not report free space, it
// returns nil.
func CheckFreeSpace(dir string) error {
	free, total, err := diskSpace(dir)
	switch {
	case errors.Is(err, errors.ErrUnsupported), err == nil && total == 0: // not reported
		return nil
	case err != nil:
		return fmt.Errorf("read free space of %s: %w", dir, err)
	}
	if _, out := spaceThresholds(total, 0); free < max(out, minStartSpace) {
		return fmt.Errorf("create data folder: the disk under %s has %d MiB free, and a new node needs %d MiB", dir, free>>20, max(out, minStartSpace)>>20)
	}
	return nil
}

// IsMember reports whether a folder belongs to a cluster: it has joined one, or
// a node has run there, or it has a log with something in it or a snapshot. No
// node may use the folder.
func IsMember(dir string) (member bool, err error) {
	r, err := openPeerList(dir)
	if err != nil || !r.empty() {
		return err == nil, err
	}
	instanceID, err := readInstanceIDFile(dir)
	if err != nil || instanceID != nil {
		return err == nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "log")); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	c, err := Config{Dir: dir, Logger: slog.New(slog.DiscardHandler)}.withDefaults()
	if err != nil {
		return false, err
	}
	n := &Node{config: c, log: c.Logger}
	defer func() { err = errors.Join(err, n.closeFiles()) }()
	snapshots, err := n.openFolder()
	if err != nil {
		return false, err
	}
	fresh, err := n.isFresh(snapshots)
	return !fresh, err
}

// Lock makes sure that no node uses a folder until unlock is called.
func Lock(dir string) (unlock func() error, err error) {
	f, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	return f.Close, nil
}

// openFiles opens what lies in the folder, without raft.
func (n *Node) openFiles() (*snapshotStore, error) {
	var err error
	if n.core, err = newCore(n.config.Machine); err != nil {
		return nil, err
	}
	n.core.observer = n.config.ApplyObserver
	if err := privateDir(n.config.Dir); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	return n.openFolder()
}

// openFolder locks the folder and opens all of it but the state.
func (n *Node) openFolder() (*snapshotStore, error) {
	var err error
	if n.lock, err = lockDir(n.config.Dir); err != nil {
		return nil, err
	}
	log := newLogger(n.log)
	if n.peerList, err = openPeerList(n.config.Dir); err != nil {
		return nil, err
	}
	if n.stores, err = openStores(&n.config, log, func() uint64 { return n.commitMarker.get().index }, n.handleVerification); err != nil {
		return nil, err
	}
	return openSnapshots(n.config.Dir, log)
}

func (n *Node) closeFiles() error {
	var errs []error
	if n.stores != nil {
		errs = append(errs, n.stores.Close())
	}
	if n.lock != nil {
		errs = append(errs, n.lock.Close())
	}
	return errors.Join(errs...)
}
