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

	// askAgain is how often the node looks again for a reader who waits.
	askAgain = time.Second

	// old is how stale a node may be before it looks again for a reader.
	old = 2 * time.Second

	// patience is how long a reader waits for that.
	patience = 2 * time.Second
)

// Answer is the signed document of what was revoked after a version, or of
// everything that is kept where that is none of this life. It waits, at most for
// a time, until there is something that the version has not. It does not wait
// for a reader who has too many waiting, nor on a node that does not know whether
// it has everything: another one may. The error is oauth.ErrUnavailable while this
// node has never known it.
func (f *Feed) Answer(ctx context.Context, reader, after string, wait time.Duration) ([]byte, error) {
	fresh := f.becomeFresh(ctx)
	known, ok := parseVersion(after)
	if ok && fresh && wait > 0 && f.waiting.enter(reader) {
		err := f.await(ctx, known, min(wait, MaxWait))
		f.waiting.leave(reader)
		if err != nil {
			return nil, err
		}
	}
	return f.document(known)
}

// await returns when there is something that a version has not, or after a while.
func (f *Feed) await(ctx context.Context, known version, wait time.Duration) error {
	limit, again := time.NewTimer(wait), time.NewTicker(askAgain)
	defer limit.Stop()
	defer again.Stop()
	for {
		f.mu.Lock()
		changed := f.changed
		stays := known.life == f.life && known.seq >= f.last
		f.mu.Unlock()
		if !stays {
			return nil
		}
		select {
		case <-changed:
		case <-again.C:
			f.ask()
		case <-limit.C:
			return nil
		case <-f.closed:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", oauth.ErrUnavailable, ctx.Err())
		}
	}
}

// ask has this node look whether it has everything.
func (f *Feed) ask() {
	select {
	case f.asked <- struct{}{}:
	default:
	}
}

// becomeFresh reports whether this node knew a short while ago that it has
// everything. Where it did not, it has some time to find out.
func (f *Feed) becomeFresh(ctx context.Context) bool {
	f.mu.Lock()
	fresh, sure := f.fresh, f.sure
	f.mu.Unlock()
	f.ask()
	if f.config.Now().Sub(fresh) < old {
		return true
	}
	limit := time.NewTimer(patience)
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
	if f.fresh.IsZero() {
		f.mu.Unlock()
		return nil, fmt.Errorf("%w: the feed of revocations has not been confirmed yet", oauth.ErrUnavailable)
	}
	d := document{
		fresh: f.fresh.Unix(), version: version{f.life, f.last},
		since: f.since, revoked: f.revoked,
	}
	if known.life == f.life && known != (version{}) {
		d.cut(known.seq)
	}
	body := f.bodies.of(&d)
	f.mu.Unlock()
	return body.get(func() ([]byte, error) { return d.sign(f.config) })
}
