package verifier

import (
	"math"
	"math/rand/v2"
	"time"
)

// When the key set is fetched.
const (
	// coolDown is the least time between two attempts that unknown kids cause: tokens with
	// invented kids must not become requests to the issuer.
	coolDown = 10 * time.Second

	// Failed attempts are repeated after firstRetry, twice that, and so on, up to
	// emptyRetry while there is no key to serve with, else up to coolDown.
	firstRetry = 250 * time.Millisecond
	emptyRetry = time.Second
)

// nudge starts an attempt that is due by j's clock and that the timer has not started:
// the clock is a test's, or the machine was suspended.
func (j *JWKS) nudge(now time.Time) {
	if now.UnixNano() < j.due.Load() {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if now.UnixNano() >= j.due.Load() {
		j.begin(now, j.cause)
	}
}

// schedule sets the timer for the next attempt.
func (j *JWKS) schedule(now time.Time) {
	e := j.current.Load()
	var pause time.Duration
	if j.failures > 0 || e == nil {
		longest := emptyRetry
		if j.serves(now) {
			longest = coolDown
		}
		j.cause = CauseRetry
		// Up to a fifth more, so that servers that lost the issuer at the same time do
		// not return at the same time.
		pause = jitter(min(firstRetry<<min(max(0, j.failures-1), 10), longest), 1, 1.2)
	} else {
		j.cause = CauseSchedule
		// At least twice before the keys are too old, whatever max-age allows.
		pause = max(0, e.confirmed.Add(jitter(min(e.freshFor, j.stale/2), 0.9, 1)).Sub(now))
	}
	if soon := j.untilEarly(now); j.unknownKidPending && soon < pause {
		j.cause, pause = CauseUnknownKey, soon
	}
	j.arm(now, pause)
}

func jitter(d time.Duration, from, to float64) time.Duration {
	return time.Duration(float64(d) * (from + (to-from)*rand.Float64()))
}

// arm schedules the next attempt after a pause.
func (j *JWKS) arm(now time.Time, pause time.Duration) {
	j.disarm()
	if j.closed {
		return
	}
	j.due.Store(now.Add(pause).UnixNano())
	mine := j.armed
	j.timer = time.AfterFunc(pause, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.armed == mine {
			j.begin(j.now(), j.cause)
		}
	})
}

func (j *JWKS) disarm() {
	j.armed++
	j.due.Store(math.MaxInt64)
	if j.timer != nil {
		j.timer.Stop()
	}
}

// untilEarly is how long it takes until an unknown kid may start an attempt.
func (j *JWKS) untilEarly(now time.Time) time.Duration {
	since := now.Sub(j.early)
	if j.early.IsZero() || since < 0 || since >= coolDown {
		return 0
	}
	return coolDown - since
}
