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
	// gatherInterval is the time between two readings of the audit trail. All revocations
	// of an interval are sent to the readers in one document.
	gatherInterval = 100 * time.Millisecond

	// confirmEvery is how often a node asks the leader whether it has every revocation,
	// while the feed has readers.
	confirmEvery = time.Second
)

// Revocations returns the revocation feed. It is empty until a resource server is registered.
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

// followRevocations updates the feed whenever the audit trail grows, from the time on when a
// resource server is registered, at any node.
func (i *Issuer) followRevocations(ctx context.Context) {
	for registered := i.Node.Changed(ledger.TableResourceServers); !i.View().FeedServed(); registered = i.Node.Changed(ledger.TableResourceServers) {
		select {
		case <-registered:
		case <-ctx.Done():
			return
		}
	}
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

// confirmRevocations confirms to the feed, while it has readers, that this node has every
// revocation that was answered on any node.
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

// keepEventsSince returns the time from which on events are kept beyond the usual length
// of the audit trail, since the feed needs them.
func (i *Issuer) keepEventsSince(now ledger.Time) ledger.Time {
	if !i.View().FeedServed() {
		return math.MaxInt64
	}
	return now.Add(-feed.Window)
}
