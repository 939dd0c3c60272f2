package watchdog

import (
	"errors"
	"fmt"
	"os"
)

// minStartSpace is free space, in bytes, for two segments of the log, which raft-wal
// allocates ahead. A log that can't allocate its second segment takes no commands.
const minStartSpace = 32 << 20

// CheckFreeSpace returns an error if the disk under dir has too little free space to start
// a new node there. dir must exist. Where the system does not report free space, it
// returns nil.
func CheckFreeSpace(dir string) error {
	free, _, out, err := FreeSpace(dir)
	if err != nil {
		return err
	}
	if free < out {
		return fmt.Errorf("create data folder: the disk under %s has %d MiB free, and a new node needs %d MiB", dir, free>>20, out>>20)
	}
	return nil
}

// SameDisk reports whether two folders are on one file system. It returns false if that is not
// reported.
func SameDisk(a, b string) bool {
	i, errA := os.Stat(a)
	j, errB := os.Stat(b)
	return errA == nil && errB == nil && device(i) != 0 && device(i) == device(j)
}

// FreeSpace returns the free bytes of the disk under dir, and the limits below which a node
// with its data there needs attention, and takes no commands. All are 0 where the system
// does not report free space.
func FreeSpace(dir string) (free, low, out uint64, err error) {
	free, total, err := diskSpace(dir)
	switch {
	case errors.Is(err, errors.ErrUnsupported), err == nil && total == 0: // not reported
		return 0, 0, 0, nil
	case err != nil:
		return 0, 0, 0, fmt.Errorf("read free space of %s: %w", dir, err)
	}
	low, out = spaceThresholds(total, 0)
	return free, low, max(out, minStartSpace), nil
}
