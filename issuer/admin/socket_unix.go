//go:build unix

package admin

import "syscall"

// ownerOnly sets the mode before the file exists: Linux creates the file with the mode of
// the unbound socket, so others can't connect at any time. On other systems the call may
// fail, and the later Chmod sets the mode.
func ownerOnly(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
}
