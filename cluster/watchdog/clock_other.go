//go:build !linux

package watchdog

import (
	"errors"
	"time"
)

// clockElapsed returns Go's monotonic clock. On systems where it stops while the machine
// is suspended, such as macOS, a suspension longer than the limit is a jump, which an
// operator has to accept.
func clockElapsed() func() time.Duration { return monotonicClock() }

// ClockSynchronised returns an error: the system does not report whether its clock is
// synchronised.
func ClockSynchronised(time.Time) error {
	return errors.New("this system does not report whether its clock is synchronised")
}
