package cluster

import (
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
