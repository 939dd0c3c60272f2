package keyring

import (
	"context"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/replica"
)

// reloadPause is the minimum time between two reloads. Anybody can name a key that doesn't
// exist, which must not cause a request to the leader each time.
const reloadPause = 250 * time.Millisecond

// Reload opens the keys of a state that is not older than the call. Concurrent calls share
// one request and its result. The error is oauth.ErrUnavailable if no leader answers.
func (k *Keyring) Reload(ctx context.Context) error {
	return k.reloads.share(ctx, func(ctx context.Context) error {
		if _, err := k.Ledger.ViewPaced(ctx); err != nil {
			return err
		}
		return k.Reopen()
	})
}

// reloads runs one reload at a time, and shares its result among the callers that wait.
type reloads struct {
	running chan struct{} // has an element during a reload; guards the rest
	began   time.Time     // when the last reload began
	err     error         // its result
}

func newReloads() reloads { return reloads{running: make(chan struct{}, 1)} }

// share returns the result of a reload that began after the call. It runs one unless another
// caller did. A failure is shared too: during an outage each reload lasts until its timeout,
// so callers that each ran their own would wait in a queue that anybody can make long.
func (r *reloads) share(ctx context.Context, reload func(context.Context) error) error {
	called := time.Now()
	select {
	case r.running <- struct{}{}:
	case <-ctx.Done():
		return replica.Unavailable(ctx.Err())
	}
	defer func() { <-r.running }()
	if r.began.After(called) {
		return r.err
	}
	select {
	case <-time.After(time.Until(r.began.Add(reloadPause))):
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // also of a caller whose turn came at its end
		return replica.Unavailable(ctx.Err())
	}
	began := time.Now()
	err := reload(ctx)
	if err != nil && ctx.Err() != nil {
		return err // because this caller gave up, which is no result for the others
	}
	r.began, r.err = began, err
	return err
}
