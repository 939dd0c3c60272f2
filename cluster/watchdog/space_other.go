//go:build !linux && !darwin && !freebsd

package watchdog

import "errors"

// diskSpace can't tell: here a full disk shows when the log can't be written.
func diskSpace(string) (free, total uint64, err error) { return 0, 0, errors.ErrUnsupported }
