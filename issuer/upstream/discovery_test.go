package upstream_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/upstream"
	"github.com/mintmark-auth/mintmark/issuer/upstream/upstreamtest"
)

// TestMetadataRefused covers metadata that would send secrets elsewhere or is not
// trustworthy.
func TestMetadataRefused(t *testing.T) {
	for name, change := range map[string]func(claims){
		"another issuer":              func(c claims) { c["issuer"] = "https://evil.example" },
		"a slash more":                func(c claims) { c["issuer"] = c["issuer"].(string) + "/" },
		"no token endpoint":           func(c claims) { delete(c, "token_endpoint") },
		"token endpoint by http":      func(c claims) { c["token_endpoint"] = "http://id.example.com/token" },
		"profile by http":             func(c claims) { c["userinfo_endpoint"] = "http://id.example.com/me" },
		"authorization by a script":   func(c claims) { c["authorization_endpoint"] = "javascript:alert(1)" },
		"keys of a file":              func(c claims) { c["jwks_uri"] = "file:///etc/passwd" },
		"more than anybody would say": func(c claims) { c["x"] = strings.Repeat("x", 1<<20) },
	} {
		t.Run(name, func(t *testing.T) {
			p := upstreamtest.New(t, now)
			p.Metadata = change
			r := relyingUnread(p)
			err := r.Learn(t.Context())
			require.Error(t, err)
			require.Less(t, len(err.Error()), 500)
			_, err = r.Begin(authRequest, false)
			require.ErrorIs(t, err, upstream.ErrUnreachable)
			_, err = r.Finish(t.Context(), upstream.Answer{Code: "x", Issuer: p.URL}, authRequest)
			require.ErrorIs(t, err, upstream.ErrUnreachable)
		})
	}
}

// TestHowTheClientAuthenticates verifies that the client uses one method that the provider
// supports.
func TestHowTheClientAuthenticates(t *testing.T) {
	for name, row := range map[string]struct {
		methods []string
		secret  string
		basic   bool
	}{
		"not said":      {nil, "s", true},
		"both":          {[]string{"client_secret_post", "client_secret_basic"}, "s", true},
		"post":          {[]string{"client_secret_post"}, "s", false},
		"public client": {[]string{"none", "client_secret_basic"}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := upstreamtest.New(t, now)
			p.Metadata = func(c claims) {
				if row.methods != nil {
					c["token_endpoint_auth_methods_supported"] = row.methods
				}
			}
			var got http.Request
			p.Answer["/token"] = func(w http.ResponseWriter, r *http.Request) {
				_ = r.ParseForm()
				got = *r
				w.WriteHeader(http.StatusUnauthorized)
			}
			_, err := signIn(t, relying(t, p, func(c *upstream.Config) { c.ClientSecret = row.secret }), p, nil)
			require.Error(t, err)
			_, _, basic := got.BasicAuth()
			require.Equal(t, row.basic, basic)
			require.Equal(t, !basic && row.secret != "", got.PostForm.Get("client_secret") != "")
			require.Equal(t, 1, p.Requests("/token"), "the code was sent again")
		})
	}
}

// roundTripper replaces the network.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestRun verifies that an unreachable provider is retried with growing pauses, and that
// its metadata is used during later outages.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var up atomic.Bool
		var asked atomic.Int64
		var log bytes.Buffer
		const issuer = "https://id.example.com"
		r := upstream.New(upstream.Config{
			Issuer: issuer, ClientID: "c", Log: slog.New(slog.NewTextHandler(&log, nil)),
			Transport: roundTripper(func(*http.Request) (*http.Response, error) {
				asked.Add(1)
				if !up.Load() {
					return nil, errors.New("refused")
				}
				return &http.Response{
					StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
					Body: io.NopCloser(strings.NewReader(strings.ReplaceAll(`{"issuer":"I","authorization_endpoint":"I/a","token_endpoint":"I/t","jwks_uri":"I/k"}`, "I", issuer))),
				}, nil
			}),
		})
		require.Equal(t, "id.example.com", r.Name())
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { r.Run(ctx); close(ended) }()
		ready := func() bool { synctest.Wait(); _, err := r.Begin(authRequest, false); return err == nil }

		require.False(t, ready())
		time.Sleep(time.Hour)
		require.False(t, ready())
		require.Less(t, asked.Load(), int64(80))
		require.Greater(t, asked.Load(), int64(50))
		up.Store(true)
		time.Sleep(upstream.RetryMax)
		require.True(t, ready())
		up.Store(false)
		time.Sleep(2 * upstream.RefreshAfter)
		require.True(t, ready(), "the known metadata must be used")
		require.Equal(t, 2, strings.Count(log.String(), "level=WARN"), "one warning for each outage: %s", &log)
		stop()
		<-ended
	})
}

// TestSlowProvider verifies that a request without response times out.
func TestSlowProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := upstream.New(upstream.Config{
			Issuer: "https://id.example.com", Log: slog.New(slog.DiscardHandler),
			Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}),
		})
		began := time.Now()
		require.Error(t, r.Learn(t.Context()))
		require.LessOrEqual(t, time.Since(began), 10*time.Second)
	})
}
