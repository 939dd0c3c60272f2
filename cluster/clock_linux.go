package cluster

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// clockElapsed returns the clock that only goes forward and counts the time for
// which the machine was suspended, as the wall clock does. Go's monotonic clock
// does not count it.
func clockElapsed() func() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil { // a sandbox that has no such clock
		return clockRunning()
	}
	return func() time.Duration {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
			panic("cluster: read CLOCK_BOOTTIME: " + err.Error()) // it did work
		}
		return time.Duration(ts.Nano())
	}
}

// clockSynchronised is nil where the kernel vouches for a reading of the clock
// that was made a moment ago: something disciplines its clock (adjtimex(2)), and
// that clock shows the same time.
func clockSynchronised(now time.Time) error {
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil {
		return fmt.Errorf("the kernel does not say whether its clock is synchronised: %w", err)
	}
	return kernelVouches(&t, now)
}

func kernelVouches(t *unix.Timex, now time.Time) error {
	if t.Status&unix.STA_UNSYNC != 0 {
		return errors.New("the kernel's clock is not synchronised")
	}
	if by := time.Unix(int64(t.Time.Sec), 0).Sub(now.Round(0)); by.Abs() > ClockTolerance {
		return fmt.Errorf("the kernel's clock shows another time, %s away", by.Round(time.Second))
	}
	return nil
}
