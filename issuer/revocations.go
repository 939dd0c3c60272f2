package issuer

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/feed"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	// gatherInterval is between two looks at the audit trail: what is revoked meanwhile
	// goes to all readers in one document.
	gatherInterval = 100 * time.Millisecond

	// confirmEvery is how often a node asks the leader whether it has everything,
	// while somebody reads the feed.
	confirmEvery = time.Second
)

// Revocations is the feed of what was revoked, nil unless the Config has it.
func (i *Issuer) Revocations() *feed.Feed { return i.feed }

// serveRevocations starts the feed.
func (i *Issuer) serveRevocations(ctx context.Context) {
	i.feed = feed.New(feed.Config{
		Issuer: func() string { return i.View().Settings().BaseURL },
		Signer: i.activeSigner,
		Now:    i.Clock,
	})
	i.done.Go(func() { i.followRevocations(ctx) })
	i.done.Go(func() { i.confirmRevocations(ctx) })
}

var errNoActiveKey = errors.New("no signing key is active here")

func (i *Issuer) activeSigner() (feed.Signer, error) {
	if k := i.View().ActiveKey(ledger.ForSigning); k != nil {
		if s := i.Keyring.Ring().Signer(k.ID); s != nil {
			return s, nil
		}
	}
	return nil, errNoActiveKey
}

// followRevocations reads the trail whenever it grows.
func (i *Issuer) followRevocations(ctx context.Context) {
	for {
		trail, restores := i.Node.Changed(ledger.TableAudit), i.Node.Changed(ledger.TableRestores)
		if i.feed.Update(i.View) && pause(ctx, gatherInterval) != nil {
			return
		}
		select {
		case <-trail:
		case <-restores:
		case <-ctx.Done():
			return
		}
	}
}

// confirmRevocations finds out, while somebody reads, that this node has
// everything that any node has answered.
func (i *Issuer) confirmRevocations(ctx context.Context) {
	for {
		select {
		case <-i.feed.ConfirmRequested():
		case <-ctx.Done():
			return
		}
		began := i.Clock()
		if _, err := i.ViewFresh(ctx); err == nil {
			i.feed.Update(i.View)
			i.feed.Confirm(began)
		}
		if pause(ctx, confirmEvery) != nil {
			return
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// keepEventsSince is from when on the audit trail is kept beyond its usual length.
func (i *Issuer) keepEventsSince(now ledger.Time) ledger.Time {
	if i.feed == nil {
		return math.MaxInt64
	}
	return now.Add(-feed.Window)
}
