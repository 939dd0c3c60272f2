package clientdoc_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/clientdoc"
)

func config() clientdoc.Config {
	return clientdoc.Config{Own: func() []string { return []string{"auth.example.com"} }, Now: time.Now}
}

func reasonOf(t *testing.T, err error) clientdoc.Reason {
	t.Helper()
	var e *clientdoc.Error
	require.ErrorAs(t, err, &e)
	require.NotEmpty(t, e.Reason.Sentence())
	return e.Reason
}

// A publisher is an https server on the loopback that serves as example.com.
type publisher struct {
	*httptest.Server
	requests atomic.Int32
	now      time.Time
	fetcher  *clientdoc.Fetcher
}

const agentURL = "https://example.com/client"

func newPublisher(t *testing.T, serve http.HandlerFunc) *publisher {
	p := &publisher{now: time.Unix(1_800_000_000, 0)}
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.requests.Add(1)
		serve(w, r)
	}))
	p.Config.ErrorLog = nil
	p.StartTLS()
	t.Cleanup(p.Close)
	roots := x509.NewCertPool()
	roots.AddCert(p.Certificate()) // it names example.com
	c := config()
	c.Now, c.RootCAs = func() time.Time { return p.now }, roots
	c.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, p.Listener.Addr().String())
	}
	p.fetcher = clientdoc.New(c)
	return p
}

func documentOf(clientID string, change func(map[string]any)) []byte {
	d := map[string]any{
		"client_id": clientID, "client_name": "Agent", "client_uri": "https://example.com",
		"redirect_uris":              []string{"https://example.com/cb", "http://127.0.0.1/cb"},
		"grant_types":                []string{"authorization_code", "refresh_token", "urn:example:other"},
		"token_endpoint_auth_method": "none", "logo_uri": "https://example.com/logo.png",
	}
	if change != nil {
		change(d)
	}
	b, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return b
}

func serveDocument(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "max-age=7200")
	_, _ = w.Write(documentOf(agentURL, nil))
}

func TestFetch(t *testing.T) {
	p := newPublisher(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/client" || r.Header.Get("Cookie") != "" || r.Header.Get("Accept") != "application/json" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		serveDocument(w, r)
	})
	d, age, err := p.fetcher.Fetch(t.Context(), "alice", agentURL, false)
	require.NoError(t, err)
	require.Equal(t, 2*time.Hour, age)
	require.Equal(t, "Agent", d.Name)
	require.Equal(t, "https://example.com", d.Website)
	require.Equal(t, []string{"http://127.0.0.1/cb", "https://example.com/cb"}, d.RedirectURIs)
	require.NotZero(t, d.Digest)
	require.EqualValues(t, 1, p.requests.Load(), "the logo is not fetched")
}

// TestHostilePublishers: each of these responses is refused.
func TestHostilePublishers(t *testing.T) {
	for _, c := range []struct {
		name   string
		serve  http.HandlerFunc
		reason clientdoc.Reason
	}{
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) }, clientdoc.Redirected},
		{"redirect to metadata", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusTemporaryRedirect)
		}, clientdoc.Redirected},
		{"not modified", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, clientdoc.Redirected},
		{"not found", http.NotFound, clientdoc.StatusNotOK},
		{"no content", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, clientdoc.StatusNotOK},
		{"html", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write(documentOf(agentURL, nil))
		}, clientdoc.WrongType},
		{"sniffed", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(documentOf(agentURL, nil)) }, clientdoc.WrongType},
		{"compressed", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			serveDocument(w, r)
		}, clientdoc.WrongType},
		{"too long", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(documentOf(agentURL, func(d map[string]any) { d["x"] = strings.Repeat("x", clientdoc.MaxDocument) }))
		}, clientdoc.TooLong},
		{"without end", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat(" ", 1<<16)); err != nil {
					return
				}
			}
		}, clientdoc.TooLong},
		{"truncated", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "4000")
			_, _ = io.WriteString(w, "{")
		}, clientdoc.Unreachable},
		{"long headers", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 1<<20))
			serveDocument(w, r)
		}, clientdoc.Unreachable},
		{"silent", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done() // the fetcher gives up
		}, clientdoc.Unreachable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPublisher(t, c.serve)
			_, _, err := p.fetcher.Fetch(t.Context(), "alice", agentURL, false)
			require.Equal(t, c.reason, reasonOf(t, err))
			require.EqualValues(t, 1, p.requests.Load())
		})
	}
}

// TestUntrustedCertificate: a publisher without a valid certificate for its host gets no
// request.
func TestUntrustedCertificate(t *testing.T) {
	p := newPublisher(t, serveDocument)
	_, _, err := p.fetcher.Fetch(t.Context(), "alice", "https://other.org/client", false)
	require.Equal(t, clientdoc.Unreachable, reasonOf(t, err))
	require.Zero(t, p.requests.Load())
}

// TestErrorsAreRemembered: a document whose fetch has failed is not requested again for
// five minutes.
func TestErrorsAreRemembered(t *testing.T) {
	p := newPublisher(t, http.NotFound)
	for range 3 {
		_, _, err := p.fetcher.Fetch(t.Context(), "alice", agentURL, false)
		require.Equal(t, clientdoc.StatusNotOK, reasonOf(t, err))
	}
	require.EqualValues(t, 1, p.requests.Load())
	p.now = p.now.Add(5 * time.Minute)
	_, _, err := p.fetcher.Fetch(t.Context(), "alice", agentURL, false)
	require.Equal(t, clientdoc.StatusNotOK, reasonOf(t, err))
	require.EqualValues(t, 2, p.requests.Load())
}

// TestURLsOfOneUser: the limits apply to each user separately, and to new and known URLs
// separately.
func TestURLsOfOneUser(t *testing.T) {
	for known, most := range map[bool]int{false: 10, true: 60} {
		p := newPublisher(t, http.NotFound)
		fetch := func(user string, n int, known bool) clientdoc.Reason {
			_, _, err := p.fetcher.Fetch(t.Context(), user, fmt.Sprintf("https://example.com/client/%s/%d", user, n), known)
			return reasonOf(t, err)
		}
		for n := range most {
			require.Equal(t, clientdoc.StatusNotOK, fetch("mallory", n, known))
		}
		require.Equal(t, clientdoc.TooManyURLs, fetch("mallory", most, known))
		require.Equal(t, clientdoc.StatusNotOK, fetch("alice", 0, known))
		require.Equal(t, clientdoc.StatusNotOK, fetch("mallory", most, !known))
		require.EqualValues(t, most+2, p.requests.Load())
		p.now = p.now.Add(time.Hour)
		require.Equal(t, clientdoc.StatusNotOK, fetch("mallory", most+1, known))
	}
}

// TestFetchesAtOnce: a third concurrent fetch of one user, and a fifth of all users, is refused
// at once. The refusal is not remembered.
func TestFetchesAtOnce(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	p := newPublisher(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-release
		serveDocument(w, r)
	})
	fetch := func(user string, known bool) error {
		_, _, err := p.fetcher.Fetch(context.Background(), user, agentURL, known)
		return err
	}
	done := make(chan error)
	begin := func(user string, known bool) {
		go func() { done <- fetch(user, known) }()
		<-arrived
	}
	busy := func(user string) { // more than its new URLs: what is refused as busy is not counted
		for range 20 {
			require.Equal(t, clientdoc.Busy, reasonOf(t, fetch(user, false)))
		}
	}
	begin("mallory", false)
	begin("mallory", true)
	busy("mallory")
	begin("bob", false)
	begin("carol", false)
	busy("alice")
	close(release)
	for range 4 {
		require.NoError(t, <-done)
	}
	for _, user := range []string{"alice", "mallory"} {
		go func() { <-arrived }()
		require.NoError(t, fetch(user, false))
	}
}

// TestCancelledFetch: a fetch that is cancelled, since its user has left, is not
// remembered as a failure. Other users can fetch the URL at once.
func TestCancelledFetch(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	p := newPublisher(t, func(w http.ResponseWriter, r *http.Request) {
		if ctx.Err() == nil {
			leave()
			<-r.Context().Done()
			return
		}
		serveDocument(w, r)
	})
	_, _, err := p.fetcher.Fetch(ctx, "alice", agentURL, false)
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = p.fetcher.Fetch(t.Context(), "alice", agentURL, false)
	require.NoError(t, err)
}

// TestFloodOfURLs: the number of remembered failures is limited.
func TestFloodOfURLs(t *testing.T) {
	c := config()
	c.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }
	f := clientdoc.New(c)
	for n := range 3000 {
		_, _, err := f.Fetch(t.Context(), fmt.Sprint("user ", n), fmt.Sprintf("https://example.com/%d", n), false)
		require.Equal(t, clientdoc.Unreachable, reasonOf(t, err))
	}
	require.Equal(t, 1000, f.Remembered())
}

func TestLifetime(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"":                            time.Hour,
		"max-age=0":                   time.Hour,
		"max-age=7200":                2 * time.Hour,
		"public, Max-Age=7200":        2 * time.Hour,
		`max-age="7200"`:              2 * time.Hour,
		"max-age=31536000, immutable": 24 * time.Hour,
		"max-age=99999999999999":      time.Hour,
		"max-age=-1":                  time.Hour,
		"max-age=7200, no-store":      time.Hour,
		"no-cache, max-age=7200":      time.Hour,
		"s-maxage=7200":               time.Hour,
	} {
		require.Equal(t, want, clientdoc.Lifetime(http.Header{"Cache-Control": {header}}), header)
	}
}
