package watchdog

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// clockElapsed returns a monotonic clock that counts the time for which the machine was
// suspended, as the wall clock does. Go's monotonic clock does not.
func clockElapsed() func() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil { // a sandbox without this clock
		return monotonicClock()
	}
	return func() time.Duration {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
			panic("watchdog: read CLOCK_BOOTTIME: " + err.Error()) // it succeeded before
		}
		return time.Duration(ts.Nano())
	}
}

// ClockSynchronised returns nil if the kernel confirms the clock for now, a reading of the clock
// from a moment ago: adjtimex(2) reports the kernel's clock as synchronised, and that
// clock shows the same time.
func ClockSynchronised(now time.Time) error {
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil {
		return fmt.Errorf("the kernel does not report whether its clock is synchronised: %w", err)
	}
	return kernelConfirms(&t, now)
}

func kernelConfirms(t *unix.Timex, now time.Time) error {
	if t.Status&unix.STA_UNSYNC != 0 {
		return errors.New("the kernel's clock is not synchronised")
	}
	if by := time.Unix(int64(t.Time.Sec), 0).Sub(now.Round(0)); by.Abs() > ClockTolerance {
		return fmt.Errorf("the kernel's clock differs from this one by %s", by.Round(time.Second))
	}
	return nil
}
