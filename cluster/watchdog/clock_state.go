package watchdog

import (
	"fmt"
	"math"
	"time"
)

// A StateTimeError reports that state time is more than ClockTolerance ahead of the
// clocks: a wrong clock has stamped, or the clocks were set back. Nothing is decided
// until the clocks reach state time, because verifiers with a right clock would refuse
// new tokens as not valid yet.
type StateTimeError struct {
	At time.Time     // state time
	By time.Duration // least lead over the clocks of a majority
}

// Error implements error.
func (e *StateTimeError) Error() string {
	return fmt.Sprintf("the cluster's time is %s, which is %s ahead of the clocks: nothing is decided until the clocks reach it",
		e.At.UTC().Format(time.RFC3339), e.By.Round(time.Second))
}

// MaxClockOffset is half of the longest duration, so that two of them can be added. It
// bounds differences between clocks; no two clocks in use differ as much.
const MaxClockOffset = math.MaxInt64 / 2 * time.Nanosecond
