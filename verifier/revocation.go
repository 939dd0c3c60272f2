package verifier

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// RevocationsPath is where Mintmark publishes what was revoked.
const RevocationsPath = "/v2/auth/oauth2/revocations"

// Defaults of RevocationsConfig.
const (
	DefaultRevocationsStale = 10 * time.Second
	// MinRevocationsStale is what a healthy issuer can keep up with: it finds out
	// once a second whether it has everything.
	MinRevocationsStale       = 5 * time.Second
	DefaultRevocationsEntries = 500_000
)

// RevocationsConfig has a Verifier told which tokens were taken back before they
// expire: those of a user who disconnected an application, of an account that was
// disabled, of a client that was suspended. The Verifier waits at the issuer for
// such news, in the background; no request waits for it.
type RevocationsConfig struct {
	// Name and Secret are this resource server's, as "mintmark feed add" gave
	// them. Required.
	Name, Secret string

	// URL is where the issuer publishes the feed: https, or http on loopback.
	// Empty: Config.Issuer + RevocationsPath.
	URL string

	// MoreURLs have the same feed: the other nodes of the issuer, where no balancer
	// stands before them. The next one is asked when one fails.
	MoreURLs []string

	// Stale is after how long without news, not even that there is none, the
	// Verifier says that it may have missed some: see [Verifier.RevocationsFresh].
	// What it knows it goes on applying. The issuer signs the time at which it knew
	// everything, to the second; where its clock is ahead, the time at which it was
	// asked counts. Zero means DefaultRevocationsStale; at least
	// MinRevocationsStale. A URL that lags by half of it is left for the next one.
	Stale time.Duration

	// MaxEntries bounds what is remembered: some 50 bytes each, for as long as a
	// token lives. Beyond it the Verifier says that it has missed some. Zero means
	// DefaultRevocationsEntries.
	MaxEntries int

	// Client makes the requests; its CheckRedirect is asked after ours, and its
	// Timeout must leave time for an answer that waits for news. Nil means a client
	// of its own.
	Client *http.Client

	// SkipHTTPS allows http to another host. Who can read on the network path
	// learns Secret.
	SkipHTTPS bool
}

// RevocationsState is how the feed stands.
type RevocationsState struct {
	Fresh   bool          // everything is known, as far as RevocationsConfig.Stale allows
	KnownAt time.Time     // of when everything is known; zero: never
	Behind  time.Duration // how long ago that is
	Since   time.Time     // revocations from before may be missing; zero: none
	Entries int
	Version string // of the issuer
	Err     error  // why the last attempt failed; nil if it didn't
	Dropped int    // entries that there was no room for
}

// revocations follows the issuer's feed. What verifications read is atomic; the
// rest is its goroutine's, or guarded.
type revocations struct {
	issuers    []string // accepted iss of the document; the first has the feed
	name       string
	secret     string
	origins    []*url.URL
	client     *http.Client
	keys       KeySource
	skew       time.Duration
	stale      time.Duration
	maxEntries int
	now        func() time.Time

	grants, users, clients, pairs *revocationTable
	entries                       atomic.Int64              // in all four; 0: nothing to look up
	generation                    atomic.Uint64             // changes whenever something is taken in; odd while that happens
	fresh                         atomic.Pointer[time.Time] // everything from before is known; nil: never said
	since                         atomic.Int64              // nothing is missing from then on; 0: nothing at all
	window                        atomic.Int64              // seconds

	failures   int       // attempts in a row
	lastSigned int64     // the latest time that the issuer signed
	swept      time.Time // when what had ended was dropped last
	droppedAt  int64     // when something found no room last, and one second; 0: never

	mu      sync.Mutex
	version string // mu
	lastErr error  // mu
	dropped int    // mu

	reporter feedReporter
	stop     func()
	done     sync.WaitGroup
}

func newRevocations(c RevocationsConfig, v *Verifier) (*revocations, error) {
	switch {
	case c.Name == "" || c.Secret == "":
		return nil, errors.New("RevocationsConfig.Name or Secret is empty")
	case c.Stale != 0 && c.Stale < MinRevocationsStale:
		return nil, errors.New("RevocationsConfig.Stale is less than 5 seconds")
	case c.MaxEntries < 0:
		return nil, errors.New("RevocationsConfig.MaxEntries is negative")
	}
	r := &revocations{
		issuers: v.issuers, name: c.Name, secret: c.Secret, client: sameOriginClient(c.Client), keys: v.keys, skew: v.skew,
		stale: c.Stale, maxEntries: c.MaxEntries, now: v.now, reporter: feedReporter{observer: v.observer},
		grants: newRevocationTable(), users: newRevocationTable(), clients: newRevocationTable(), pairs: newRevocationTable(),
	}
	if r.stale == 0 {
		r.stale = DefaultRevocationsStale
	}
	if r.maxEntries == 0 {
		r.maxEntries = DefaultRevocationsEntries
	}
	if c.URL == "" {
		c.URL = v.issuers[0] + RevocationsPath
	}
	for _, text := range append([]string{c.URL}, c.MoreURLs...) {
		u, err := parseURL(text, c.SkipHTTPS)
		if err != nil {
			return nil, fmt.Errorf("URL of revocations: %w", err)
		}
		r.origins = append(r.origins, u)
	}
	return r, nil
}

// revoked is asked for each token; for a cached one each time there is news.
func (r *revocations) revoked(c *Claims) bool {
	if r.entries.Load() == 0 {
		return false
	}
	issued := c.issuedAt.Unix()
	return r.grants.until(c.grantID, "") >= issued ||
		r.users.until(c.subject, "") >= issued ||
		r.clients.until(c.clientID, "") >= issued ||
		r.pairs.until(c.subject, c.clientID) >= issued
}

// behind is how long ago that was of which everything is known. Of the two clocks
// the one that went further counts: the one on the wall may be set back, and the
// other stands still while a machine is suspended.
func (r *revocations) behind(now time.Time) (_ time.Duration, ever bool) {
	at := r.fresh.Load()
	if at == nil {
		return 0, false
	}
	return max(0, now.Sub(*at), now.Round(0).Sub(at.Round(0))), true
}

// isFresh reports whether everything that counts is known.
func (r *revocations) isFresh(now time.Time) bool {
	if behind, ever := r.behind(now); !ever || behind > r.stale {
		return false
	}
	since := r.since.Load()
	return since == 0 || now.Unix() >= since+r.window.Load()
}

// lags reports whether it is time to ask another node.
func (r *revocations) lags(now time.Time) bool {
	behind, ever := r.behind(now)
	return !ever || behind > r.stale/2
}

func (r *revocations) state(now time.Time) RevocationsState {
	s := RevocationsState{Fresh: r.isFresh(now), Entries: int(r.entries.Load())}
	if at := r.fresh.Load(); at != nil {
		s.KnownAt = at.Round(0)
		s.Behind, _ = r.behind(now)
	}
	if since := r.since.Load(); since != 0 && now.Unix() < since+r.window.Load() {
		s.Since = time.Unix(since, 0)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Version, s.Err, s.Dropped = r.version, r.lastErr, r.dropped
	return s
}

// Revocations tells how the feed of revocations stands; the zero value where
// Config.Revocations is nil.
func (v *Verifier) Revocations() RevocationsState {
	if v.feed == nil {
		return RevocationsState{}
	}
	return v.feed.state(v.now())
}

// HasRevocations reports whether Config.Revocations was given.
func (v *Verifier) HasRevocations() bool { return v.feed != nil }

// RevocationsFresh reports whether a token that is accepted now was not taken back
// more than RevocationsConfig.Stale ago. It is false while the feed can't be read,
// and for a Verifier that has none. It costs nothing worth counting.
func (v *Verifier) RevocationsFresh() bool { return v.feed != nil && v.feed.isFresh(v.now()) }
