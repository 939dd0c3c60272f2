package feed

import (
	"context"
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

const (
	// MaxWait bounds how long an answer waits for something new. A reader learns
	// from each answer how fresh it is, so it asks often anyway.
	MaxWait = 10 * time.Second

	// confirmInterval is how often the node looks again for a reader who waits.
	confirmInterval = time.Second

	// maxStaleness is how stale a node may be before it looks again for a reader.
	maxStaleness = 2 * time.Second

	// confirmTimeout is how long a reader waits for that.
	confirmTimeout = 2 * time.Second
)

// Poll is the signed document of what was revoked after a version, or of
// everything that is kept where that is none of this timeline. It waits, at most for
// a time, until there is something that the version has not. It does not wait
// for a reader who has too many waiting, nor on a node that does not know whether
// it has everything: another one may. The error is oauth.ErrUnavailable while this
// node has never known it.
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

// await returns when there is something that a version has not, or after a while.
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

// requestConfirm has this node look whether it has everything.
func (f *Feed) requestConfirm() {
	select {
	case f.confirmRequested <- struct{}{}:
	default:
	}
}

// awaitConfirmed reports whether this node knew a short while ago that it has
// everything. Where it did not, it has some time to find out.
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

// document is the one for a reader who has a version.
func (f *Feed) document(known version) ([]byte, error) {
	f.mu.Lock()
	if f.confirmedAt.IsZero() {
		f.mu.Unlock()
		return nil, fmt.Errorf("%w: the feed of revocations has not been confirmed yet", oauth.ErrUnavailable)
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
