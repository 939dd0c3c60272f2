package watchdog

import "golang.org/x/sys/unix"

// diskSpace returns what an ordinary user may still fill of the file system that
// holds path, and its size. The counts are in fragments: the size of a block is
// another one with FUSE.
func diskSpace(path string) (free, total uint64, err error) {
	var s unix.Statfs_t
	for {
		if err = unix.Statfs(path, &s); err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return 0, 0, err
	}
	unit := uint64(s.Frsize)
	if unit == 0 {
		unit = uint64(s.Bsize)
	}
	return s.Bavail * unit, s.Blocks * unit, nil
}
