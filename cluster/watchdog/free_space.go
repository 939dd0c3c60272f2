package watchdog

import (
	"errors"
	"fmt"
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
