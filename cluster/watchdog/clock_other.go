//go:build !linux

package watchdog

import (
	"errors"
	"time"
)

// clockElapsed returns Go's monotonic clock. Where that stands still while the
// machine is suspended, as on macOS, waking up is a jump that an operator has to
// accept if it was longer than the limit.
func clockElapsed() func() time.Duration { return monotonicClock() }

// ClockSynchronised returns why it is not known whether the clock is right.
func ClockSynchronised(time.Time) error {
	return errors.New("this system does not report whether its clock is synchronised")
}
