//go:build !linux && !darwin && !freebsd

package watchdog

import "errors"

// diskSpace is not supported: a full disk is noticed when a write of the log fails.
func diskSpace(string) (free, total uint64, err error) { return 0, 0, errors.ErrUnsupported }
