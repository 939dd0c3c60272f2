package verifier

import (
	"context"
	"time"
)

// Observer is told what happens, for metrics and logs. Each field may be nil.
// Its functions are called from many goroutines and must not wait: a request
// does, for Accepted and Refused.
type Observer struct {
	// Accepted is called for each token that is accepted; cached says that it
	// was verified before, and so cost no signature check.
	Accepted func(ctx context.Context, cached bool)

	// Refused is called for each token that is not. The error's Reason is fit
	// for a label, and its text for a log.
	Refused func(ctx context.Context, err *Error)

	// Refreshed is called for each attempt of a JWKS to get the key set.
	Refreshed func(Refresh)

	// RevocationsRead is called for each attempt to read the feed of revocations,
	// one after the other; no next one begins before it returns.
	RevocationsRead func(RevocationsRead)

	// RevocationsFresh is called when what [Verifier.RevocationsFresh] says has
	// changed: as soon as the feed was read for the first time, when
	// RevocationsConfig.Stale has gone by without it, when it is heard of again.
	RevocationsFresh func(fresh bool, s RevocationsState)
}

// RevocationsRead is one attempt to read the feed of revocations, at one URL.
type RevocationsRead struct {
	Began   time.Time
	Took    time.Duration // the issuer waits for news before it answers
	URL     string
	Applied int           // revocations that were not known before
	Behind  time.Duration // how long ago that is of which everything is known now; 0 with an Err: never
	Err     error         // why nothing was learnt; nil if it was
}

// Refresh is one attempt to get the key set, at all its URLs together.
type Refresh struct {
	Cause     Cause
	Began     time.Time
	Took      time.Duration
	URL       string // who answered; empty if nobody did
	Unchanged bool   // the issuer said so (304), or the keys are the same
	Keys      int    // how many keys can be used now
	Skipped   int    // entries of the set that can't: other algorithms, malformed ones
	Err       error  // why the keys are still those from before; nil if it worked
	SaveErr   error  // why the snapshot file could not be written; nil if it was
}

// Cause is why the key set is asked for. The values are stable.
type Cause string

// Why the key set is asked for.
const (
	CauseStart      Cause = "start"       // nothing is known yet
	CauseSchedule   Cause = "schedule"    // max-age is about to pass
	CauseRetry      Cause = "retry"       // the attempt before this one failed
	CauseUnknownKey Cause = "unknown_key" // a token named a kid that isn't in the set
	CauseSnapshot   Cause = "snapshot"    // the snapshot file is read, not the issuer asked
)
