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
	"time"

	"code.dny.dev/ssrf"

	"github.com/mintmark-auth/mintmark/issuer/limit"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

const (
	maxFetches     = 4               // at once
	rememberErrors = 5 * time.Minute // how long a failed fetch isn't tried again
	maxRemembered  = 1000            // failed URLs in memory
	newURLs        = 10              // for each user, in an hour
	maxUsers       = 10_000          // whose new URLs are counted
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
	slots  chan struct{}
	failed *limit.Recent[Reason] // by URL
	urls   *limit.Limiter        // new URLs, by user
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
		slots:  make(chan struct{}, maxFetches),
		failed: limit.NewRecent[Reason](rememberErrors, maxRemembered),
		urls:   limit.New(newURLs/time.Hour.Seconds(), newURLs, maxUsers),
	}
}

// FetchNew is Fetch for a URL that is not known yet, on behalf of a signed-in user, whose new
// URLs are limited. A URL whose fetch has failed a short time ago is not counted.
func (f *Fetcher) FetchNew(ctx context.Context, user, clientID string) (Document, time.Duration, error) {
	if err := f.refused(clientID); err != nil {
		return Document{}, 0, err
	}
	wait, undo := f.urls.Try(user, f.config.Now())
	if wait > 0 {
		return Document{}, 0, &Error{Reason: TooManyURLs}
	}
	d, age, err := f.fetch(ctx, clientID)
	if e, ok := errors.AsType[*Error](err); ok && e.Reason == Busy {
		undo()
	}
	return d, age, err
}

// Fetch fetches the document at a client_id. age is how long it may be used, from
// oauth.MinDocumentAge to oauth.MaxDocumentAge. The error is an *Error, or that of ctx. A failed
// fetch is not tried again for five minutes.
func (f *Fetcher) Fetch(ctx context.Context, clientID string) (d Document, age time.Duration, err error) {
	if err := f.refused(clientID); err != nil {
		return d, 0, err
	}
	return f.fetch(ctx, clientID)
}

// fetch is Fetch for a URL that is not refused.
func (f *Fetcher) fetch(ctx context.Context, clientID string) (d Document, age time.Duration, err error) {
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	default:
		return d, 0, &Error{Reason: Busy}
	}
	d, age, failure := f.get(ctx, clientID)
	switch {
	case failure == nil:
		return d, age, nil
	case ctx.Err() != nil: // the browser went away, which is not the publisher's failure
		return d, 0, ctx.Err()
	}
	f.failed.Mark(clientID, failure.Reason, f.config.Now())
	return Document{}, 0, failure
}

// refused returns why a URL is not fetched, or nil.
func (f *Fetcher) refused(clientID string) error {
	if oauth.CheckDocumentURL(clientID) != "" {
		return &Error{Reason: URLRefused}
	}
	if slices.Contains(f.config.Own(), oauth.DocumentHost(clientID)) {
		return &Error{Reason: OwnHost}
	}
	if reason, ok := f.failed.Get(clientID, f.config.Now()); ok {
		return &Error{Reason: reason}
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
