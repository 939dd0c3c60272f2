package watchdog

import "golang.org/x/sys/unix"

// diskSpace returns the bytes that an ordinary user can still use in the file system of
// path, and its size. The counts are in fragments; with FUSE the block size differs.
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
