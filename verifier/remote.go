package verifier

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultStale is how long keys serve after the last good fetch unless
// JWKSConfig says otherwise.
const DefaultStale = 24 * time.Hour

// How often the issuer is asked.
const (
	// coolDown is the least time between two fetches that a request can cause:
	// tokens of invented kids must not turn into requests to the issuer.
	coolDown = 10 * time.Second

	// emptyRetry stands in for coolDown while there is no key to serve with, so
	// that a service started before its issuer is not out for long.
	emptyRetry = time.Second

	// fetchTimeout bounds one fetch, body included.
	fetchTimeout = 5 * time.Second
)

// JWKSConfig says where the key set is. It is read once by NewJWKS.
type JWKSConfig struct {
	// URL is the jwks_uri of the issuer's metadata: https, or http on loopback.
	// Required.
	URL string

	// Client makes the requests; its CheckRedirect is asked after ours. Nil
	// means a client of its own.
	Client *http.Client

	// Stale is how long keys serve after the last good fetch while the issuer
	// can't be reached. Zero means DefaultStale.
	Stale time.Duration

	// SkipHTTPS allows http to another host. Who can write on the network path
	// can then forge tokens: the caller must know that nobody can.
	SkipHTTPS bool

	// Now is the clock. Nil means time.Now.
	Now func() time.Time
}

// JWKS is a KeySource that fetches the issuer's key set over HTTP, keeps it,
// and asks again when its max-age has passed or an unknown kid turns up.
//
// A known key never waits: past max-age it is served while one fetch runs
// beside, so a key that the issuer has dropped goes at the first answer after
// max-age. Nothing is fetched before the first token.
type JWKS struct {
	url    *url.URL
	client *http.Client
	stale  time.Duration
	now    func() time.Time

	current atomic.Pointer[snapshot] // nil before the first good fetch

	mu      sync.Mutex
	flight  *flight   // mu; the fetch that is under way, or nil
	tried   time.Time // mu; when the last fetch began; zero before the first
	lastErr error     // mu; how the last fetch ended
}

// snapshot is one good fetch. It is not changed once it is published.
type snapshot struct {
	keys       keySet
	freshUntil time.Time
	staleUntil time.Time
}

// flight is one fetch. err is set before done is closed.
type flight struct {
	done chan struct{}
	err  error
}

// NewJWKS checks the configuration and returns a JWKS. It fetches nothing yet.
func NewJWKS(c JWKSConfig) (*JWKS, error) {
	u, err := url.Parse(c.URL)
	switch {
	case c.URL == "":
		return nil, errors.New("new key source: JWKSConfig.URL is empty")
	case err != nil:
		return nil, fmt.Errorf("new key source: %w", err)
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "":
		return nil, errors.New("new key source: JWKSConfig.URL is not an absolute http URL without userinfo and fragment")
	case u.Scheme == "http" && !isLoopback(u.Hostname()) && !c.SkipHTTPS:
		return nil, errors.New("new key source: JWKSConfig.URL is not https")
	case c.Stale < 0:
		return nil, errors.New("new key source: JWKSConfig.Stale is negative")
	}
	j := &JWKS{url: u, client: sameOriginClient(c.Client), stale: c.Stale, now: c.Now}
	if j.stale == 0 {
		j.stale = DefaultStale
	}
	if j.now == nil {
		j.now = time.Now
	}
	return j, nil
}

// Key implements [KeySource].
func (j *JWKS) Key(ctx context.Context, kid string) (Key, error) {
	now := j.now()
	if key, snap, ok := j.lookup(kid, now); ok {
		if !now.Before(snap.freshUntil) {
			j.fetch(now) // beside: nobody waits
		}
		return key, nil
	}
	f, err := j.fetch(now)
	if f != nil {
		select {
		case <-f.done:
			err = f.err
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	// The set may have come while we waited, or just before we asked for it.
	if key, _, ok := j.lookup(kid, j.now()); ok {
		return key, nil
	}
	if err != nil {
		// The issuer may have published this key since: who can't ask, can't say.
		return Key{}, fmt.Errorf("%w: %w", ErrKeysUnavailable, err)
	}
	return Key{}, ErrUnknownKey
}

// lookup finds a key in the set that is served now.
func (j *JWKS) lookup(kid string, now time.Time) (Key, *snapshot, bool) {
	snap := j.current.Load()
	if snap == nil || !now.Before(snap.staleUntil) {
		return Key{}, nil, false
	}
	key, ok := snap.keys[kid]
	return key, snap, ok
}

// fetch joins the fetch under way, or starts one unless the last was just now.
// Without a flight it returns how the last fetch ended.
func (j *JWKS) fetch(now time.Time) (*flight, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.flight != nil {
		return j.flight, nil
	}
	pause := coolDown
	if snap := j.current.Load(); snap == nil || !now.Before(snap.staleUntil) {
		pause = emptyRetry
	}
	if since := now.Sub(j.tried); !j.tried.IsZero() && since >= 0 && since < pause {
		return nil, j.lastErr
	}
	f := &flight{done: make(chan struct{})}
	j.flight, j.tried = f, now
	go j.run(f)
	return f, nil
}

// run makes one fetch and publishes what it brings. It belongs to no request:
// the one that started it may give up without failing the others.
func (j *JWKS) run(f *flight) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	snap, err := j.get(ctx)
	if err == nil {
		j.current.Store(snap)
	}
	j.mu.Lock()
	j.flight, j.lastErr, f.err = nil, err, err
	j.mu.Unlock()
	close(f.done)
}
