package feed

import (
	"context"
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

const (
	// MaxWait bounds how long Poll waits for a new revocation. Every response tells a
	// reader how fresh it is, so readers poll often anyway.
	MaxWait = 10 * time.Second

	// confirmInterval is how often a confirmation is requested while a reader waits.
	confirmInterval = time.Second

	// maxStaleness is the age of the last confirmation beyond which Poll waits for
	// another.
	maxStaleness = 2 * time.Second

	// confirmTimeout is how long Poll waits for a confirmation.
	confirmTimeout = 2 * time.Second
)

// Poll returns the signed document of the revocations after a version, or of all
// revocations if the version is not of the current timeline. It waits until there is a
// newer version, for at most wait and MaxWait. It doesn't wait if the reader has too many
// waiting requests, nor if this node can't confirm that it has everything, since another
// node may. The error is oauth.ErrUnavailable before the first confirmation.
func (f *Feed) Poll(ctx context.Context, reader, after string, wait time.Duration) ([]byte, error) {
	fresh := f.awaitConfirmed(ctx)
	known, ok := parseVersion(after)
	if ok && fresh && wait > 0 && f.waiters.acquire(reader) {
		err := f.await(ctx, known, min(wait, MaxWait))
		f.waiters.release(reader)
		if err != nil {
			return nil, err
		}
	}
	return f.document(known)
}

// await returns once there is a newer version than known, or after wait.
func (f *Feed) await(ctx context.Context, known version, wait time.Duration) error {
	limit, again := time.NewTimer(wait), time.NewTicker(confirmInterval)
	defer limit.Stop()
	defer again.Stop()
	for {
		f.mu.Lock()
		changed := f.changed
		stays := known.timeline == f.timeline && known.seq >= f.last
		f.mu.Unlock()
		if !stays {
			return nil
		}
		select {
		case <-changed:
		case <-again.C:
			f.requestConfirm()
		case <-limit.C:
			return nil
		case <-f.closed:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", oauth.ErrUnavailable, ctx.Err())
		}
	}
}

// requestConfirm asks the node to confirm that it has everything.
func (f *Feed) requestConfirm() {
	select {
	case f.confirmRequested <- struct{}{}:
	default:
	}
}

// awaitConfirmed reports whether this node's state was confirmed recently. If not, it
// waits for a confirmation for at most confirmTimeout.
func (f *Feed) awaitConfirmed(ctx context.Context) bool {
	f.mu.Lock()
	fresh, sure := f.confirmedAt, f.confirmed
	f.mu.Unlock()
	f.requestConfirm()
	if f.config.Now().Sub(fresh) < maxStaleness {
		return true
	}
	limit := time.NewTimer(confirmTimeout)
	defer limit.Stop()
	select {
	case <-sure:
		return true
	case <-limit.C:
	case <-f.closed:
	case <-ctx.Done():
	}
	return false
}

// document returns the signed document for a reader with a version.
func (f *Feed) document(known version) ([]byte, error) {
	f.mu.Lock()
	if f.confirmedAt.IsZero() {
		f.mu.Unlock()
		return nil, fmt.Errorf("%w: revocation feed not confirmed yet", oauth.ErrUnavailable)
	}
	d := document{
		confirmedAt: f.confirmedAt.Unix(), version: version{f.timeline, f.last},
		since: f.since, revoked: f.revoked,
	}
	if known.timeline == f.timeline && known != (version{}) {
		d.trimBefore(known.seq)
	}
	body := f.cache.get(&d)
	f.mu.Unlock()
	return body.get(func() ([]byte, error) { return d.sign(f.config) })
}
