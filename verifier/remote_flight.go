package verifier

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// fetchTimeout bounds one attempt, bodies included.
const fetchTimeout = 5 * time.Second

var (
	errNotYet   = errors.New("the issuer has not answered yet")
	errClosed   = errors.New("the key source is closed")
	errStale    = errors.New("the issuer has not confirmed the keys for too long")
	errCoolDown = errors.New("a refresh for an unknown kid began less than ten seconds ago")
)

// flight is one attempt. err is set before done is closed.
type flight struct {
	done        chan struct{}
	err         error
	unknownKids []string // unknown kids that requests had before the attempt began
}

// wait waits for the end of the attempt, for maxWait at most, and returns its error.
func (f *flight) wait(ctx context.Context) error {
	limit := time.NewTimer(maxWait)
	defer limit.Stop()
	select {
	case <-f.done:
		return f.err
	case <-limit.C:
		return errNotYet
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fetchFor is called for a kid that isn't known. It returns the attempt that is
// under way, if there is one or one may be started.
func (j *JWKS) fetchFor(kid string, now time.Time) *flight {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, landed := j.known(kid, now)
	switch {
	case landed:
		// An attempt that ended since the caller's look-up has fetched the key. Another
		// attempt would not help, and would delay the next unknown kid.
		return nil
	case !j.serves(now):
		// Without a key to serve, attempts already follow each other quickly.
	case j.flight == nil && j.untilEarly(now) == 0:
		j.remember(kid)
		j.begin(now, CauseUnknownKey)
	default:
		// The attempt under way may have been answered before the kid was published, and
		// the next scheduled one may be far away: schedule one more as soon as the
		// cool-down allows.
		j.remember(kid)
		j.scheduleFetch(now)
	}
	return j.flight
}

// maxAbsent is how many unknown kids are remembered.
const maxAbsent = 64

// remember adds an unknown kid to those that the next attempt will find or report
// absent, unless there are maxAbsent already.
func (j *JWKS) remember(kid string) {
	if len(j.unknownKids) < maxAbsent && !slices.Contains(j.unknownKids, kid) {
		j.unknownKids = append(j.unknownKids, strings.Clone(kid)) // without the clone, the kid would keep the whole token in memory
	}
}

// scheduleFetch schedules an attempt for the time at which an unknown kid may cause one.
// Only the first of many unknown kids schedules: the others neither delay an attempt that
// would begin before, nor cost more than the lock.
func (j *JWKS) scheduleFetch(now time.Time) {
	if j.unknownKidPending {
		return
	}
	j.unknownKidPending = true
	soon := j.untilEarly(now)
	if j.flight == nil && now.Add(soon).UnixNano() < j.due.Load() {
		j.cause = CauseUnknownKey
		j.arm(now, soon)
	}
}

// unknown returns why there is no key with this kid. err is the error of the attempt that
// was waited for.
func (j *JWKS) unknown(kid string, err error) error {
	now := j.now()
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil {
		err = j.lastErr
	}
	serves := j.serves(now)
	if err == nil && serves && (!j.unknownKidPending || j.current.Load().knownAbsent(kid)) {
		return ErrUnknownKey
	}
	// The issuer may have published this key since, so it is not known to be absent.
	u := &unavailable{retryAfter: maxWait, cause: err}
	switch {
	case err == nil && serves:
		u.cause = errCoolDown
	case err == nil:
		u.cause = errStale
	}
	if j.flight == nil && !j.closed {
		const longest = coolDown + coolDown/5 // the longest time for which schedule delays a retry
		u.retryAfter = min(max(0, time.Duration(j.due.Load()-now.UnixNano())), longest)
	}
	return u
}

// serves reports whether there are keys to verify with.
func (j *JWKS) serves(now time.Time) bool {
	e := j.current.Load()
	return e != nil && e.serves(now)
}

// begin starts an attempt unless one is under way. The attempt belongs to no request: a
// request that is cancelled doesn't fail the others.
func (j *JWKS) begin(now time.Time, cause Cause) {
	if j.flight != nil || j.closed {
		return
	}
	j.disarm()
	j.flight = &flight{done: make(chan struct{}), unknownKids: j.unknownKids}
	if cause == CauseUnknownKey {
		j.early = now
	}
	j.unknownKidPending, j.unknownKids = false, nil
	go j.runFlight(j.flight, cause, now, j.first)
}

// runFlight makes an attempt and publishes its result.
func (j *JWKS) runFlight(f *flight, cause Cause, began time.Time, first int) {
	ctx, cancel := context.WithTimeout(j.ctx, fetchTimeout)
	defer cancel()
	r := Refresh{Cause: cause, Began: began}
	answer, err := j.ask(ctx, first)
	if err == nil {
		r.URL, r.Unchanged = answer.url, answer.unchanged
	}
	now := j.now()
	r.Took, r.Err = now.Sub(began), err

	// The new set and the end of the attempt are published under one lock. If fetchFor saw
	// the end without the set, it would begin another attempt for a kid in that set.
	j.mu.Lock()
	if err == nil {
		answer.trackAbsent(j.current.Load(), f.unknownKids)
		j.current.Store(answer.keySetVersion)
	}
	j.flight, j.lastErr, f.err = nil, err, err
	close(j.landed)
	j.landed = make(chan struct{})
	if err == nil {
		j.failures, j.first = 0, answer.index
	} else {
		j.failures++
	}
	if e := j.current.Load(); e != nil {
		r.Keys, r.Skipped = len(e.keys), e.skipped
	}
	j.schedule(now)
	j.mu.Unlock()
	close(f.done)

	if err == nil && j.snapshot != "" {
		r.SaveErr = j.save(answer.keySetVersion)
	}
	if j.observer.Refreshed != nil {
		j.observer.Refreshed(r)
	}
}
