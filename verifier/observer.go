package verifier

import (
	"context"
	"time"
)

// Observer is called when something happens, for metrics and logs. Each field may be nil.
// Its functions are called from many goroutines and must not wait: a request waits for
// Accepted and Refused.
type Observer struct {
	// Accepted is called for each accepted token. If cached, the token was verified before
	// and cost no signature check.
	Accepted func(ctx context.Context, cached bool)

	// Refused is called for each refused token. The error's Reason is fit for a metric's
	// label, and its text for a log.
	Refused func(ctx context.Context, err *Error)

	// Refreshed is called after each attempt of a JWKS to fetch the key set.
	Refreshed func(Refresh)

	// RevocationsRead is called after each attempt to read the feed of revocations. The
	// next attempt begins when it has returned.
	RevocationsRead func(RevocationsRead)

	// RevocationsFresh is called when [Verifier.RevocationsFresh] has changed: when the
	// feed was read for the first time, when RevocationsConfig.Stale has passed without an
	// answer, and when the feed answers again.
	RevocationsFresh func(fresh bool, s RevocationsState)
}

// RevocationsRead is one attempt to read the feed of revocations, at one URL.
type RevocationsRead struct {
	Began   time.Time
	Took    time.Duration // includes the issuer's wait for new revocations
	URL     string
	Applied int           // revocations that were not known before
	Behind  time.Duration // age of the time up to which all revocations are known; 0 with an Err: none is known
	Err     error         // why the attempt failed; nil if it succeeded
}

// Refresh is one attempt to fetch the key set, from all its URLs together.
type Refresh struct {
	Cause     Cause
	Began     time.Time
	Took      time.Duration
	URL       string // of the answer; empty if there was none
	Unchanged bool   // the answer was 304, or has the same keys
	Keys      int    // usable keys after the attempt
	Skipped   int    // entries of the set that are not usable: other algorithms, malformed ones
	Err       error  // why the attempt failed and the keys are those from before; nil if it succeeded
	SaveErr   error  // why the snapshot file could not be written; nil if it was
}

// Cause is why the key set is fetched. The values are stable.
type Cause string

// Why the key set is fetched.
const (
	CauseStart      Cause = "start"       // no key is known
	CauseSchedule   Cause = "schedule"    // max-age is about to pass
	CauseRetry      Cause = "retry"       // the attempt before this one failed
	CauseUnknownKey Cause = "unknown_key" // a token has a kid that isn't in the set
	CauseSnapshot   Cause = "snapshot"    // the snapshot file is read, without a request to the issuer
)
