package watchdog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// DiskFolder implements DiskProber for a folder. Its file stays open, so that a process
// without free descriptors does not report the disk as bad. After an error it is opened
// again, since another file system may have been mounted there.
type DiskFolder struct {
	Dir   string
	file  *os.File
	count uint64 // so that each write changes something
}

var _ DiskProber = (*DiskFolder)(nil)

// Probe implements DiskProber.
func (d *DiskFolder) Probe() (err error) {
	if d.file == nil {
		d.file, err = os.OpenFile(filepath.Join(d.Dir, "probe"), os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			d.file = nil
			return fmt.Errorf("probe the disk: %w", err)
		}
	}
	d.count++
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], d.count)
	_, err = d.file.WriteAt(b[:], 0)
	if err == nil {
		err = d.file.Sync()
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("probe the disk: %w", err), d.file.Close())
		d.file = nil
	}
	return err
}

// Space implements DiskProber.
func (d *DiskFolder) Space() (free, total uint64, err error) {
	if free, total, err = diskSpace(d.Dir); err != nil {
		return 0, 0, fmt.Errorf("ask for free space: %w", err)
	}
	return free, total, nil
}

// Close implements DiskProber. Nothing is lost if it fails.
func (d *DiskFolder) Close() {
	if d.file != nil {
		_ = d.file.Close()
	}
}
