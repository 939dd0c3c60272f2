package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// roomToBegin is free space, in bytes, for two segments of the log, which raft-wal
// allocates ahead. A log that can't allocate its second segment takes no commands.
const roomToBegin = 32 << 20

// CheckRoom returns an error if the disk under dir has too little free space to start
// a new node there. dir must exist. Where the system does not report free space, it
// returns nil.
func CheckRoom(dir string) error {
	free, total, err := diskSpace(dir)
	switch {
	case errors.Is(err, errors.ErrUnsupported), err == nil && total == 0: // not reported
		return nil
	case err != nil:
		return fmt.Errorf("read free space of %s: %w", dir, err)
	}
	if _, out := spaceThresholds(total, 0); free < max(out, roomToBegin) {
		return fmt.Errorf("create data folder: the disk under %s has %d MiB free, and a new node needs %d MiB", dir, free>>20, max(out, roomToBegin)>>20)
	}
	return nil
}

// IsMember reports whether a folder belongs to a cluster: it has joined one, or
// a node has run there, or it has a log with something in it or a snapshot. No
// node may use the folder.
func IsMember(dir string) (member bool, err error) {
	r, err := openRoster(dir)
	if err != nil || !r.empty() {
		return err == nil, err
	}
	noted, err := notedBirth(dir)
	if err != nil || noted != nil {
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
	snapshots, err := n.openLog()
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
func (n *Node) openFiles() (*privateSnapshots, error) {
	var err error
	if n.core, err = newCore(n.config.Machine); err != nil {
		return nil, err
	}
	n.core.witness = n.config.Witness
	if err := privateDir(n.config.Dir); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	return n.openLog()
}

// openLog locks the folder and opens all of it but the state.
func (n *Node) openLog() (*privateSnapshots, error) {
	var err error
	if n.lock, err = lockDir(n.config.Dir); err != nil {
		return nil, err
	}
	log := newLogger(n.log)
	if n.roster, err = openRoster(n.config.Dir); err != nil {
		return nil, err
	}
	if n.stores, err = openStores(&n.config, log, func() uint64 { return n.committed.get().index }, n.verified); err != nil {
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
