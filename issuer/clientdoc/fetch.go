package clientdoc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"code.dny.dev/ssrf"

	"github.com/mintmark-auth/mintmark/issuer/limit"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

const (
	maxFetches     = 4               // at once
	maxUserFetches = 2               // at once, for one user
	rememberErrors = 5 * time.Minute // how long a failed fetch isn't tried again
	maxRemembered  = 1000            // failed URLs in memory
	newURLs        = 10              // for each user, in an hour
	knownURLs      = 60              // fetched again, for each user, in an hour
	maxUsers       = 10_000          // whose fetches are counted
)

// Config configures a Fetcher.
type Config struct {
	// Own returns the hosts of this service, which are never fetched from.
	Own func() []string
	Now func() time.Time
	// RootCAs are the authorities of publishers' certificates. Default: those of the system.
	RootCAs *x509.CertPool
	// Dial replaces the guarded dialer, for tests. It must check each address itself.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// A Fetcher fetches documents. Its methods are safe for concurrent use.
type Fetcher struct {
	config Config
	client *http.Client
	failed *limit.Recent[Error] // by URL
	first  *limit.Limiter       // fetches of new URLs, by user
	again  *limit.Limiter       // fetches of known URLs, by user

	mu       sync.Mutex     // guards the fields below
	fetching int            // fetches that are running
	byUser   map[string]int // the same, by user; never 0
}

// New returns a Fetcher.
func New(c Config) *Fetcher {
	dial := c.Dial
	if dial == nil {
		dial = guarded().DialContext
	}
	return &Fetcher{
		config: c,
		client: &http.Client{
			Transport: &http.Transport{
				Proxy:                  nil, // a proxy would connect to addresses that the guard doesn't see
				DialContext:            dial,
				TLSClientConfig:        &tls.Config{RootCAs: c.RootCAs, MinVersion: tls.VersionTLS12},
				TLSHandshakeTimeout:    maxFetch,
				ResponseHeaderTimeout:  maxFetch,
				MaxResponseHeaderBytes: 16 << 10,
				DisableKeepAlives:      true,
				DisableCompression:     true,
			},
			Timeout:       maxFetch,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		failed: limit.NewRecent[Error](rememberErrors, maxRemembered),
		first:  limit.New(newURLs/time.Hour.Seconds(), newURLs, maxUsers),
		again:  limit.New(knownURLs/time.Hour.Seconds(), knownURLs, maxUsers),
		byUser: map[string]int{},
	}
}

// Fetch fetches the document at a client_id on behalf of a signed-in user, whose fetches are
// limited: those of new URLs, and those of URLs that are known. age is how long the document may
// be used, from oauth.MinDocumentAge to oauth.MaxDocumentAge. The error is an *Error, or that of
// ctx. A failed fetch is not tried again for five minutes, nor counted again.
func (f *Fetcher) Fetch(ctx context.Context, user, clientID string, known bool) (d Document, age time.Duration, err error) {
	if err := f.refused(clientID); err != nil {
		return d, 0, err
	}
	if !f.begin(user) {
		return d, 0, &Error{Reason: Busy}
	}
	defer f.end(user)
	counted := f.first
	if known {
		counted = f.again
	}
	if counted.Take(user, f.config.Now()) > 0 {
		return d, 0, &Error{Reason: TooManyURLs}
	}
	d, age, failure := f.get(ctx, clientID)
	switch {
	case failure == nil:
		return d, age, nil
	case ctx.Err() != nil: // the browser went away, which is not the publisher's failure
		return d, 0, ctx.Err()
	}
	f.failed.Mark(clientID, *failure, f.config.Now())
	return Document{}, 0, failure
}

// Refuse remembers that the document at a client_id was fetched and then refused, like a failed
// fetch, and returns what Fetch will. note says why, in a clause.
func (f *Fetcher) Refuse(clientID, note string) *Error {
	failure := Error{Reason: Refused, Note: note}
	f.failed.Mark(clientID, failure, f.config.Now())
	return &failure
}

// begin reports whether another fetch may run now. If so, end must follow.
func (f *Fetcher) begin(user string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fetching >= maxFetches || f.byUser[user] >= maxUserFetches {
		return false
	}
	f.fetching++
	f.byUser[user]++
	return true
}

func (f *Fetcher) end(user string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fetching--
	if f.byUser[user]--; f.byUser[user] == 0 {
		delete(f.byUser, user)
	}
}

// refused returns why a URL is not fetched, or nil.
func (f *Fetcher) refused(clientID string) error {
	if oauth.CheckDocumentURL(clientID) != "" {
		return &Error{Reason: URLRefused}
	}
	if slices.Contains(f.config.Own(), oauth.DocumentHost(clientID)) {
		return &Error{Reason: OwnHost}
	}
	if failure, ok := f.failed.Get(clientID, f.config.Now()); ok {
		return &failure
	}
	return nil
}

func (f *Fetcher) get(ctx context.Context, clientID string) (d Document, age time.Duration, failure *Error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, clientID, nil)
	if err != nil {
		return d, 0, &Error{Reason: URLRefused}
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "Mintmark")
	a, err := f.client.Do(r)
	switch {
	case errors.Is(err, ssrf.ErrProhibitedIP):
		return d, 0, &Error{Reason: AddressRefused}
	case err != nil:
		return d, 0, &Error{Reason: Unreachable}
	}
	defer a.Body.Close()
	switch {
	case a.StatusCode >= 300 && a.StatusCode < 400:
		return d, 0, &Error{Reason: Redirected}
	case a.StatusCode != http.StatusOK:
		return d, 0, &Error{Reason: StatusNotOK}
	case !isJSON(a.Header) || a.Header.Get("Content-Encoding") != "":
		return d, 0, &Error{Reason: WrongType}
	}
	body, err := io.ReadAll(io.LimitReader(a.Body, MaxDocument+1))
	if err != nil {
		return d, 0, &Error{Reason: Unreachable}
	}
	d, failure = parse(body, clientID)
	return d, lifetime(a.Header), failure
}

// isJSON reports whether a response has one of the types of draft §4.
func isJSON(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"))
}

// lifetime returns how long a response may be used (RFC 9111 §5.2.2), from oauth.MinDocumentAge to
// oauth.MaxDocumentAge.
func lifetime(h http.Header) time.Duration {
	age := oauth.MinDocumentAge
	for part := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch strings.ToLower(name) {
		case "no-store", "no-cache":
			return oauth.MinDocumentAge
		case "max-age":
			if n, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31); err == nil {
				age = time.Duration(n) * time.Second
			}
		}
	}
	return min(max(age, oauth.MinDocumentAge), oauth.MaxDocumentAge)
}
