//go:build !unix

package watchdog

import "io/fs"

// device returns 0: the system does not report it.
func device(fs.FileInfo) uint64 { return 0 }
