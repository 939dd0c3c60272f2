//go:build !unix

package admin

import "syscall"

// ownerOnly does nothing: access is controlled by the folder.
func ownerOnly(_, _ string, _ syscall.RawConn) error { return nil }
