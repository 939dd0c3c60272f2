//go:build unix

package watchdog

import (
	"io/fs"
	"syscall"
)

// device returns the number of the file system that a file is on, 0 if it is not reported.
func device(i fs.FileInfo) uint64 {
	if s, ok := i.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Dev)
	}
	return 0
}
