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

// RevocationsPath is where Mintmark publishes its feed of revocations.
const RevocationsPath = "/v2/auth/oauth2/revocations"

// Defaults of RevocationsConfig.
const (
	DefaultRevocationsStale = 10 * time.Second
	// MinRevocationsStale is the least Stale with which a healthy issuer counts as fresh:
	// its nodes confirm once a second that they have every revocation.
	MinRevocationsStale       = 5 * time.Second
	DefaultRevocationsEntries = 500_000
)

// RevocationsConfig describes how a Verifier learns which tokens were revoked before they
// expire: those of a user who disconnected an application, of an account that was
// disabled, of a client that was suspended. The Verifier reads the issuer's feed by long
// polling, in the background. No request waits for the feed.
type RevocationsConfig struct {
	// Name and Secret are this resource server's credentials at the feed, which the
	// operator of Mintmark issues. Required.
	Name, Secret string

	// URL is the address of the feed: https, or http on loopback. Empty means
	// Config.Issuer + RevocationsPath.
	URL string

	// MoreURLs have the same feed: the other nodes of an issuer without a load balancer.
	// The next one is requested when one fails.
	MoreURLs []string

	// Stale is the time without an answer of the feed after which revocations may be
	// missing: see [Verifier.RevocationsFresh]. Known revocations still apply. The
	// issuer signs the time at which it knew every revocation, to the second; if its clock
	// is ahead, the time of the request counts. Zero means DefaultRevocationsStale;
	// at least MinRevocationsStale. If a URL lags by half of Stale, the next one is requested.
	Stale time.Duration

	// MaxEntries bounds the stored revocations: about 50 bytes each, for the lifetime of a
	// token. If there are more, the Verifier is not fresh. Zero means
	// DefaultRevocationsEntries.
	MaxEntries int

	// Client makes the requests; its CheckRedirect is called after that of this package,
	// and its Timeout must be longer than the issuer waits for new revocations, which is 3
	// seconds. Nil means a client of its own.
	Client *http.Client

	// SkipHTTPS allows http to another host. Anybody who can read on the network path then
	// learns Secret.
	SkipHTTPS bool
}

// RevocationsState describes the feed of revocations.
type RevocationsState struct {
	Fresh   bool          // see [Verifier.RevocationsFresh]
	KnownAt time.Time     // every revocation up to this time is known; zero: none
	Behind  time.Duration // the age of KnownAt
	Since   time.Time     // revocations from before may be missing; zero: none are
	Entries int           // stored revocations
	Version string        // of the last document of the issuer
	Err     error         // why the last attempt failed; nil if it succeeded
	Dropped int           // revocations for which there was no room
}

// revocations follows the issuer's feed. Fields that verifications read are atomic. The
// others belong to its goroutine, or have mu.
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
	entries                       atomic.Int64              // in all four tables; 0: nothing to look up
	generation                    atomic.Uint64             // changes when revocations are added; odd while that happens
	fresh                         atomic.Pointer[time.Time] // every revocation up to this time is known; nil: no document was read
	since                         atomic.Int64              // Unix time from which no revocation is missing; 0: none is
	window                        atomic.Int64              // seconds for which the issuer lists a revocation

	failures   int       // attempts in a row
	lastSigned int64     // the latest iat of a document
	swept      time.Time // when ended revocations were dropped last
	droppedAt  int64     // Unix time after the last revocation without room; 0: none

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
	for i, text := range append([]string{c.URL}, c.MoreURLs...) {
		u, err := parseURL(text, c.SkipHTTPS)
		if err != nil {
			return nil, fmt.Errorf("RevocationsConfig.%s %w", urlField(i), err)
		}
		r.origins = append(r.origins, u)
	}
	return r, nil
}

// revoked reports whether a token is revoked. It is called for each token, and for a
// cached token after each change of generation.
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

// behind is the age of fresh. The wall clock may be set back, and the monotonic clock
// stands still while a machine is suspended: the one that went further counts.
func (r *revocations) behind(now time.Time) (_ time.Duration, ever bool) {
	at := r.fresh.Load()
	if at == nil {
		return 0, false
	}
	return max(0, now.Sub(*at), now.Round(0).Sub(at.Round(0))), true
}

// isFresh reports whether every revocation that applies to a valid token is known.
func (r *revocations) isFresh(now time.Time) bool {
	if behind, ever := r.behind(now); !ever || behind > r.stale {
		return false
	}
	since := r.since.Load()
	return since == 0 || now.Unix() >= since+r.window.Load()
}

// lags reports whether to request the next URL.
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

// Revocations describes the feed of revocations. It is the zero value if
// Config.Revocations is nil.
func (v *Verifier) Revocations() RevocationsState {
	if v.feed == nil {
		return RevocationsState{}
	}
	return v.feed.state(v.now())
}

// HasRevocations reports whether Config.Revocations is set.
func (v *Verifier) HasRevocations() bool { return v.feed != nil }

// RevocationsFresh reports whether every revocation is known that is older than
// RevocationsConfig.Stale. It is false while the feed can't be read, and if
// Config.Revocations is nil. It takes nanoseconds.
func (v *Verifier) RevocationsFresh() bool { return v.feed != nil && v.feed.isFresh(v.now()) }
