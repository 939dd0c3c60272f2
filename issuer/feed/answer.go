package feed

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
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
// a time, until there is something that the version has not. The error is
// oauth.ErrUnavailable while this node has never known that it has everything.
func (f *Feed) Answer(ctx context.Context, after string, wait time.Duration) ([]byte, error) {
	f.becomeFresh(ctx)
	limit, again := time.NewTimer(min(wait, MaxWait)), time.NewTicker(askAgain)
	defer limit.Stop()
	defer again.Stop()
	known, ok := parseVersion(after)
	for ended := !ok; ; {
		f.mu.Lock()
		changed := f.changed
		stays := known.life == f.life && known.seq >= f.last
		f.mu.Unlock()
		if ended || !stays {
			break
		}
		select {
		case <-changed:
		case <-again.C:
			f.ask()
		case <-limit.C:
			ended = true
		case <-f.closed:
			ended = true
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", oauth.ErrUnavailable, ctx.Err())
		}
	}
	return f.document(known)
}

// ask has this node look whether it has everything.
func (f *Feed) ask() {
	select {
	case f.asked <- struct{}{}:
	default:
	}
}

// becomeFresh returns when this node knew a short while ago that it has
// everything, or does not come to know it.
func (f *Feed) becomeFresh(ctx context.Context) {
	f.mu.Lock()
	fresh, sure := f.fresh, f.sure
	f.mu.Unlock()
	f.ask()
	if f.config.Now().Sub(fresh) < old {
		return
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-sure:
	case <-limit.C:
	case <-f.closed:
	case <-ctx.Done():
	}
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
		// What is not kept any more matters to nobody: no token is that old.
		d.after, d.delta = known, true
		d.revoked = after(f.revoked, known.seq)
	}
	body := f.bodies.of(&d)
	f.mu.Unlock()
	return body.get(func() ([]byte, error) { return d.sign(f.config) })
}

// after are the revocations behind a Seq.
func after(all []ledger.Revocation, seq uint64) []ledger.Revocation {
	return all[sort.Search(len(all), func(i int) bool { return all[i].Seq > seq }):]
}
