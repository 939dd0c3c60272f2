package issuer_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/endpoint"
	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier"
)

// BenchmarkRefresh measures a refresh from the request body to the response body, with
// fsync and without net/http, for one caller and for 64 concurrent callers. Its
// allocations are those of the whole process: endpoint, decision and log.
func BenchmarkRefresh(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			clients := refreshClients(b, callers)
			b.ReportAllocs()
			b.ResetTimer()
			require.NoError(b, requestAll(clients, int64(b.N), (*refreshClient).refresh))
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "refreshes/s")
		})
	}
}

// BenchmarkIntrospect measures an introspection by a resource server in the same way.
// Each caller presents one access token repeatedly, as an API does that introspects the
// token of each request.
func BenchmarkIntrospect(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			clients := introspectClients(b, callers)
			b.ReportAllocs()
			b.ResetTimer()
			require.NoError(b, requestAll(clients, int64(b.N), (*refreshClient).introspect))
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "introspections/s")
		})
	}
}

// TestIntrospectClients verifies that the benchmark's tokens are active.
func TestIntrospectClients(t *testing.T) {
	require.NoError(t, requestAll(introspectClients(t, 2), 6, (*refreshClient).introspect))
}

// requestAll makes times requests, shared by all clients.
func requestAll(clients []*refreshClient, times int64, request func(*refreshClient) error) error {
	failed := make([]error, len(clients))
	var left atomic.Int64
	left.Store(times)
	var wait sync.WaitGroup
	for i, c := range clients {
		wait.Go(func() {
			for left.Add(-1) >= 0 && failed[i] == nil {
				failed[i] = request(c)
			}
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

// refreshClients are clients of one issuer with a grant each.
func refreshClients(tb testing.TB, n int) []*refreshClient {
	i := issuertest.New(tb)
	return clientsOf(tb, i, oauth.PathToken, n, func() string { return i.Exchange().RefreshToken })
}

// introspectClients present an access token each, as one resource server.
func introspectClients(tb testing.TB, n int) []*refreshClient {
	i := issuertest.New(tb)
	secret, err := i.Secret("mms_secret")
	require.NoError(tb, err)
	i.Accept(&ledger.PutResourceServer{Actor: ledger.Actor{Operator: true}, ID: "https://r.example", Name: "r", New: true, Secret: &secret})
	return clientsOf(tb, i, oauth.PathIntrospect, n, func() string { return i.Exchange().AccessToken })
}

func clientsOf(tb testing.TB, i *issuertest.Issuer, path string, n int, token func() string) []*refreshClient {
	settings := i.View().Settings()
	v, err := verifier.New(verifier.Config{Issuer: settings.BaseURL, Audience: settings.Audience, Keys: i.Keyring})
	require.NoError(tb, err)
	router := endpoint.NewRouter()
	endpoint.New(endpoint.Config{
		Server: i, KeySet: i.Keyring.KeySet, Verifier: v, Now: i.Clock, Log: slog.New(slog.DiscardHandler),
		ClientIP: func(*http.Request) string { return "192.0.2.1" },
	}).Register(router)
	clients := make([]*refreshClient, n)
	for k := range clients {
		c := &refreshClient{handler: router, token: token(), request: httptest.NewRequest(http.MethodPost, path, nil)}
		c.request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		c.request.Body = c
		clients[k] = c
	}
	return clients
}

// A refreshClient sends requests to a handler and allocates almost nothing itself.
type refreshClient struct {
	handler http.Handler
	request *http.Request
	token   string
	strings.Reader
	header http.Header
	status int
	body   bytes.Buffer
}

func (*refreshClient) Close() error { return nil }

func (c *refreshClient) Header() http.Header { return c.header }

func (c *refreshClient) WriteHeader(status int) { c.status = status }

func (c *refreshClient) Write(b []byte) (int, error) { return c.body.Write(b) }

func (c *refreshClient) post(form string) {
	c.Reset(form)
	c.request.ContentLength = int64(len(form))
	c.header, c.status = make(http.Header, 8), 0
	c.body.Reset()
	c.handler.ServeHTTP(c, c.request)
}

// introspect presents the access token.
func (c *refreshClient) introspect() error {
	c.post("client_id=r&client_secret=mms_secret&token=" + c.token)
	if c.status != http.StatusOK || !bytes.Contains(c.body.Bytes(), []byte(`"active":true`)) {
		return fmt.Errorf("status %d: %s", c.status, c.body.Bytes())
	}
	return nil
}

// refresh presents the token of the last response.
func (c *refreshClient) refresh() error {
	c.post("grant_type=refresh_token&client_id=app&client_secret=a-secret&refresh_token=" + c.token)
	_, rest, ok := bytes.Cut(c.body.Bytes(), []byte(`"refresh_token":"`))
	token, _, found := bytes.Cut(rest, []byte(`"`))
	if c.status != http.StatusOK || !ok || !found {
		return fmt.Errorf("status %d: %s", c.status, c.body.Bytes())
	}
	c.token = string(token)
	return nil
}
