//go:build darwin || freebsd

package watchdog

import "golang.org/x/sys/unix"

// diskSpace returns the bytes that an ordinary user can still use in the file system of
// path, and its size.
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
	unit := uint64(s.Bsize)
	// On FreeBSD, Bavail is negative when root has used the reserve.
	return uint64(max(int64(s.Bavail), 0)) * unit, s.Blocks * unit, nil
}
