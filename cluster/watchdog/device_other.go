//go:build !unix

package watchdog

import "io/fs"

// Device returns 0: the system does not report it.
func Device(fs.FileInfo) uint64 { return 0 }
