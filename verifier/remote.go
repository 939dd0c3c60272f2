package verifier

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultStale is how long keys are used after the issuer last confirmed them, if
// JWKSConfig.Stale is zero.
const DefaultStale = 24 * time.Hour

// maxWait is how long a request waits for an attempt that is under way.
const maxWait = time.Second

// JWKSConfig describes where the key set is. NewJWKS reads it once.
type JWKSConfig struct {
	// URL is the jwks_uri of the issuer's metadata: https, or http on loopback.
	// Required.
	URL string

	// MoreURLs are further URLs of the same key set: the other nodes of an issuer without
	// a load balancer. The next URL is requested when one fails or takes longer than half
	// a second. Each URL can supply every key.
	MoreURLs []string

	// Client makes the requests; its CheckRedirect is called after that of this package.
	// Nil means a client of its own.
	Client *http.Client

	// Stale is how long keys serve after the issuer last confirmed them, while the issuer
	// can't be reached. Zero means DefaultStale.
	Stale time.Duration

	// Snapshot is a file that stores the key set, so that a service that restarts during
	// an outage of the issuer has keys. They count as confirmed when they were fetched.
	// Anybody who can write the file can forge tokens: it is written with mode 0600, and a
	// file that others than its owner can write is not read. Empty means none. Two
	// processes need two files.
	Snapshot string

	// SkipHTTPS allows http to another host. Anybody who can change data on the network
	// path can then forge tokens, so that path must be trusted.
	SkipHTTPS bool

	// Observer.Refreshed is called after each attempt. The other functions are not used.
	Observer Observer

	// Now is the clock. Nil means time.Now. Timers run on the machine's clock, but a
	// request also starts an attempt that is due by Now, so that a test can move the
	// clock.
	Now func() time.Time
}

// JWKS is a KeySource that keeps the issuer's key set in memory and fetches it again, in
// the background, before its max-age has passed. A token of a known key never waits. A
// JWKS fetches from NewJWKS until Close: make one for a program, not for a request.
//
//   - A key that leaves the set is refused from the next refresh on, which is at
//     most max-age, and at most an hour, away.
//   - A kid that isn't in the set starts an early refresh, and the request waits for it
//     up to a second. There is at most one early refresh in ten seconds. An unknown kid
//     that comes within these ten seconds schedules one more for their end, so made-up
//     kids can't keep the JWKS from learning a new key. Until that refresh has an
//     answer, such a kid is refused with ErrKeysUnavailable and not as unknown: its key
//     may have been published since the last refresh.
//   - While the issuer is unavailable, the keys serve until JWKSConfig.Stale has passed
//     since it last confirmed them. After that every kid is ErrKeysUnavailable.
type JWKS struct {
	origins  []origin
	client   *http.Client
	stale    time.Duration
	snapshot string
	observer Observer
	now      func() time.Time
	ownClock bool // JWKSConfig.Now was set: the clock may differ from the verifier's

	current atomic.Pointer[keySetVersion] // nil while no key set is known
	due     atomic.Int64                  // when the next attempt begins; Unix nanoseconds, of now; greatest while one runs

	ctx    context.Context
	cancel context.CancelFunc
	saving sync.Mutex // held while the snapshot file is written

	mu                sync.Mutex
	flight            *flight       // mu; the attempt that is under way, or nil
	landed            chan struct{} // mu; closed at the end of the current attempt, or of the next one if none is under way
	timer             *time.Timer   // mu; starts the next attempt
	armed             int           // mu; counts timers, so that a timer that was stopped too late does nothing
	cause             Cause         // mu; of the next attempt
	early             time.Time     // mu; when an unknown kid last started an attempt; zero: never
	unknownKidPending bool          // mu; an unknown kid was requested, and no attempt has begun since
	unknownKids       []string      // mu; the first maxAbsent of these kids
	first             int           // mu; index of the origin that answered last
	failures          int           // mu; failed attempts in a row
	lastErr           error         // mu; of the last attempt; nil if it succeeded
	closed            bool          // mu
}

// origin is one URL of the set.
type origin struct {
	index int
	url   *url.URL
}

// keySetVersion is the key set of one successful fetch. It is immutable.
type keySetVersion struct {
	keys       keySet
	unchanged  bool // since the version before
	skipped    int
	document   []byte
	url, etag  string // of document
	confirmed  time.Time
	freshFor   time.Duration
	staleUntil time.Time
	restored   bool // from the snapshot file

	// absent are unknown kids that were requested before this version was fetched and
	// that it doesn't have. removed are the kids of the keys that the issuer removed
	// last.
	absent, removed []string
}

// knownAbsent reports whether the issuer is known to have no key with this kid: a set
// that was fetched after a request for the kid doesn't have it, or the issuer removed it.
func (e *keySetVersion) knownAbsent(kid string) bool {
	return slices.Contains(e.absent, kid) || slices.Contains(e.removed, kid)
}

// trackAbsent sets absent and removed, from the version before and from the unknown kids
// that were requested before e was fetched.
func (e *keySetVersion) trackAbsent(before *keySetVersion, asked []string) {
	has := func(kid string) bool { _, ok := e.keys[kid]; return ok }
	e.absent, e.removed = slices.DeleteFunc(asked, has), nil
	if before == nil {
		return
	}
	e.removed = append(slices.Clone(before.removed), before.keys.ids()...)
	e.removed = slices.DeleteFunc(e.removed, has)
	e.removed = e.removed[max(0, len(e.removed)-maxAbsent):]
}

func (e *keySetVersion) serves(now time.Time) bool { return now.Before(e.staleUntil) }

// NewJWKS checks the configuration, reads the snapshot file if there is one, begins to
// fetch, and returns at once.
func NewJWKS(c JWKSConfig) (*JWKS, error) {
	if c.Stale < 0 {
		return nil, errors.New("new key source: JWKSConfig.Stale is negative")
	}
	j := &JWKS{
		client: sameOriginClient(c.Client), stale: c.Stale, snapshot: c.Snapshot,
		observer: c.Observer, now: c.Now, ownClock: c.Now != nil, landed: make(chan struct{}),
	}
	for i, text := range append([]string{c.URL}, c.MoreURLs...) {
		u, err := parseURL(text, c.SkipHTTPS)
		if err != nil {
			return nil, fmt.Errorf("new key source: JWKSConfig.%s %w", urlField(i), err)
		}
		j.origins = append(j.origins, origin{i, u})
	}
	if j.stale == 0 {
		j.stale = DefaultStale
	}
	if j.now == nil {
		j.now = time.Now
	}
	j.ctx, j.cancel = context.WithCancel(context.Background())
	if j.snapshot != "" {
		j.restore()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begin(j.now(), CauseStart)
	return j, nil
}

// urlField names the field of a configuration that has the i-th of its addresses.
func urlField(i int) string {
	if i == 0 {
		return "URL"
	}
	return fmt.Sprintf("MoreURLs[%d]", i-1)
}

// parseURL parses the URL of a key set or of a feed. Its errors follow the name of the
// setting.
func parseURL(text string, skipHTTPS bool) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return nil, errors.New("is empty")
	case err != nil:
		return nil, fmt.Errorf("is no URL: %w", err)
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "":
		return nil, errors.New("is not an absolute http URL without userinfo and fragment")
	case u.Scheme == "http" && !isLoopback(u.Hostname()) && !skipHTTPS:
		return nil, errors.New("is not https")
	}
	return u, nil
}

// Close stops fetching. Known keys serve until they are stale.
func (j *JWKS) Close() {
	j.cancel()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	j.disarm()
}

// Key implements [KeySource].
func (j *JWKS) Key(ctx context.Context, kid string) (Key, error) {
	now := j.now()
	j.nudge(now)
	if key, ok := j.known(kid, now); ok {
		return key, nil
	}
	var err error
	if f := j.fetchFor(kid, now); f != nil {
		err = f.wait(ctx)
	}
	// The set may have arrived during the wait, or just before the attempt was looked for.
	if key, ok := j.known(kid, j.now()); ok {
		return key, nil
	}
	return Key{}, j.unknown(kid, err)
}

// known finds a key in the set that serves now.
func (j *JWKS) known(kid string, now time.Time) (Key, bool) {
	e := j.current.Load()
	if e == nil || !e.serves(now) {
		return Key{}, false
	}
	key, ok := e.keys[kid]
	return key, ok
}
