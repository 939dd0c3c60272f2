package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// What is promised, and shown. A resource server asks for the keys at least each
// ten seconds while max-age is short, and after a failure too, with up to a fifth
// more then: package verifier.
const (
	maxCallTime      = time.Second // at most, since none waits for the issuer
	maxNewKeyTime    = time.Second
	maxReconnectTime = 14 * time.Second
	maxLearnTime     = 11 * time.Second
	maxRevokeTime    = time.Second
	maxFetches       = 2

	// stepTimeout is for what is not promised but expected.
	stepTimeout = 30 * time.Second
)

func (d *outageDemo) beginOutage(ctx context.Context) error {
	d.wait(ctx, d.calm)
	d.app.beginStep()
	d.event("The issuer is stopped.")
	if err := d.node.stop(); err != nil {
		return fmt.Errorf("stop the issuer: %w", err)
	}
	d.wait(ctx, d.outage)
	c := d.app.stepCounts()
	d.event("%s without an issuer: %s. The keys would serve for another %s.", roughly(d.outage), c, roughly(d.service.keysValidFor()))
	d.requireNoneRefused("outage: calls refused", c)
	d.within(true, "outage: slowest call", c.slowest, maxCallTime)
	return nil
}

func (d *outageDemo) endOutage(ctx context.Context) error {
	began := time.Now()
	if err := d.node.start(ctx); err != nil {
		return fmt.Errorf("start the issuer again: %w", err)
	}
	d.event("The issuer is back, on the data that it had.")
	took, ok := waitUntil(ctx, maxReconnectTime, func() bool { return d.service.verifier.State().ConfirmedAt.After(began) })
	if ok {
		d.event("The resource server has heard of it %s later: %s.", roughly(took), d.service.state())
	}
	d.within(ok, "return: keys confirmed again", took, maxReconnectTime)
	return nil
}

// beginRotation does as "mintmark keys rotate". The leader's duties do the rest.
func (d *outageDemo) beginRotation(ctx context.Context) error {
	id, err := d.node.server.issuer.Rotate(ctx, ledger.ForSigning)
	if err != nil {
		return fmt.Errorf("rotate the signing key: %w", err)
	}
	d.app.beginStep()
	d.nextKeyID = id
	d.event("The signing key is rotated: key %s is published, and signs in a while, when everybody knows it.", short(id))
	return nil
}

// floodUnknownKids sends tokens with the claims of a good one, each of a kid of its own.
func (d *outageDemo) floodUnknownKids(ctx context.Context) error {
	const strangers = 200
	good := *d.app.access.Load()
	began := time.Now()
	d.fetchesBeforeFlood = d.service.unknownKidFetches.Load()
	d.event("%d tokens of as many unknown kids arrive at once.", strangers)
	flood := newDemoApp(d.service.url, oauth.TokenResponse{})
	defer flood.client.CloseIdleConnections()
	var refused atomic.Int64
	var all sync.WaitGroup
	for n := range strangers {
		all.Go(func() {
			switch flood.request(ctx, unknownKidToken(good, n)) {
			case http.StatusUnauthorized, http.StatusServiceUnavailable: // 503: the issuer was not asked since
				refused.Add(1)
			}
		})
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	c := d.app.stepCounts()
	d.event("%d of them refused within %s; fetches of the keys for them: %d. Meanwhile %s.", refused.Load(), roughly(time.Since(began)), d.service.unknownKidFetches.Load()-d.fetchesBeforeFlood, c)
	d.promise(refused.Load() == strangers, "flood: tokens of unknown kids refused", fmt.Sprint(refused.Load()), fmt.Sprintf("all %d", strangers))
	d.within(true, "flood: slowest call with a good token", c.slowest, maxCallTime)
	return nil
}

// unknownKidToken is a token like another one, of a key that nobody has.
func unknownKidToken(like string, n int) string {
	_, rest, _ := strings.Cut(like, ".")
	claims, _, _ := strings.Cut(rest, ".")
	signature := make([]byte, 64)
	_, _ = rand.Read(signature)
	header := fmt.Sprintf(`{"alg":"ES256","typ":"at+jwt","kid":"stranger-%d"}`, n)
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(header)) + "." + claims + "." + encode(signature)
}

func (d *outageDemo) endRotation(ctx context.Context) error {
	if _, ok := waitUntil(ctx, stepTimeout, func() bool { return d.node.signingKey() == d.nextKeyID }); !ok {
		return errors.Join(ctx.Err(), errors.New("the new key doesn't become active"))
	}
	d.event("Key %s signs now.", short(d.nextKeyID))
	next, err := d.node.refresh(ctx, d.app.refresh)
	if err != nil {
		return fmt.Errorf("refresh: %w", err)
	}
	took, ok := waitUntil(ctx, maxNewKeyTime, func() bool { return d.app.accepted(ctx, next.AccessToken) })
	before := *d.app.access.Load()
	d.app.setTokens(next)
	d.event("The first token of the new key is accepted, %s after it was first shown; those of the old key still are.", roughly(took))
	d.within(ok, "rotation: first token of the new key accepted", took, maxNewKeyTime)
	d.promise(d.app.accepted(ctx, before), "rotation: tokens of the old key", "accepted", "accepted")
	d.requireNoneRefused("rotation and flood: calls refused", d.app.stepCounts())
	fetches := d.service.unknownKidFetches.Load() - d.fetchesBeforeFlood
	d.promise(fetches <= maxFetches, "flood: fetches of the keys for it", fmt.Sprint(fetches), fmt.Sprintf("≤ %d", maxFetches))
	return nil
}

// leakKey does as "mintmark keys rotate --emergency ID".
func (d *outageDemo) leakKey(ctx context.Context) error {
	d.wait(ctx, d.calm)
	old := *d.app.access.Load()
	leaked := d.node.signingKey()
	if _, err := d.node.server.issuer.Replace(ctx, leaked); err != nil {
		return fmt.Errorf("replace the signing key: %w", err)
	}
	d.event("Key %s has leaked: it is taken away at once, and another signs.", short(leaked))
	next, err := d.node.refresh(ctx, d.app.refresh)
	if err != nil {
		return fmt.Errorf("refresh: %w", err)
	}
	var accepted, refused time.Duration
	var isAccepted, isRefused bool
	var both sync.WaitGroup
	both.Go(func() {
		accepted, isAccepted = waitUntil(ctx, maxLearnTime, func() bool { return d.app.accepted(ctx, next.AccessToken) })
	})
	both.Go(func() {
		refused, isRefused = waitUntil(ctx, maxLearnTime, func() bool { return d.app.refused(ctx, old) })
	})
	both.Wait()
	d.app.setTokens(next)
	d.event("Tokens of the key that leaked are refused after %s, one of the new key is accepted after %s.", roughly(refused), roughly(accepted))
	d.within(isRefused, "emergency: tokens of the leaked key refused", refused, maxLearnTime)
	d.within(isAccepted, "emergency: first token of the new key accepted", accepted, maxLearnTime)
	return nil
}

func (d *outageDemo) disconnectUser(ctx context.Context) error {
	d.wait(ctx, d.calm)
	if _, ok := waitUntil(ctx, stepTimeout, d.service.isFollowing); !ok {
		return errors.Join(ctx.Err(), errors.New("the feed of revocations is not read"))
	}
	token := *d.app.access.Load()
	if !d.app.accepted(ctx, token) {
		return errors.Join(ctx.Err(), errors.New("the application's token is not accepted"))
	}
	d.event("Dana disconnects her calendar. Its token would be good for half an hour.")
	began := time.Now()
	if err := d.node.disconnect(ctx); err != nil {
		return fmt.Errorf("disconnect: %w", err)
	}
	_, ok := waitUntil(ctx, stepTimeout, func() bool { return d.app.refused(ctx, token) })
	took := time.Since(began)
	d.event("It is refused after %s.", roughly(took))
	d.within(ok, "disconnection: the token refused", took, maxRevokeTime)
	return nil
}

// wait lets some time go by.
func (d *outageDemo) wait(ctx context.Context, t time.Duration) {
	waitUntil(ctx, t, func() bool { return false })
}

func (d *outageDemo) requireNoneRefused(what string, c requestCounts) {
	d.promise(c.refused() == 0 && c.all > 0, what, fmt.Sprintf("%d of %d", c.refused(), c.all), "0")
}

// short is enough of a key's id to tell it from another.
func short(id string) string { return id[:min(len(id), 8)] }
