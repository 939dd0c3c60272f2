//go:build unix

package admin

import "syscall"

// ownerOnly sets the mode before the file exists: Linux makes the file with
// the mode of the unbound socket, so there is no moment in which others could
// connect. Elsewhere the call may fail, and the Chmod that follows has to do.
func ownerOnly(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
}
