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
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier"
)

// BenchmarkRefresh is a refresh from the body of its request to that of its response,
// fsync included and net/http not, by one caller and by 64 at once. Its allocations are
// those of the whole process: the endpoint, the decision and the log.
func BenchmarkRefresh(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			clients := refreshClients(b, callers)
			b.ReportAllocs()
			b.ResetTimer()
			require.NoError(b, refreshAll(clients, int64(b.N)))
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "refreshes/s")
		})
	}
}

// refreshAll has all clients together make so many refreshes.
func refreshAll(clients []*refreshClient, times int64) error {
	failed := make([]error, len(clients))
	var left atomic.Int64
	left.Store(times)
	var wait sync.WaitGroup
	for i, c := range clients {
		wait.Go(func() {
			for left.Add(-1) >= 0 && failed[i] == nil {
				failed[i] = c.refresh()
			}
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

// refreshClients are clients of one issuer with a grant each.
func refreshClients(tb testing.TB, n int) []*refreshClient {
	i := issuertest.New(tb)
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
		c := &refreshClient{handler: router, token: i.Exchange().RefreshToken, request: httptest.NewRequest(http.MethodPost, oauth.PathToken, nil)}
		c.request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		c.request.Body = c
		clients[k] = c
	}
	return clients
}

// A refreshClient makes requests of a handler, and allocates next to nothing for that.
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

// refresh presents the token of the last response.
func (c *refreshClient) refresh() error {
	form := "grant_type=refresh_token&client_id=app&client_secret=a-secret&refresh_token=" + c.token
	c.Reset(form)
	c.request.ContentLength = int64(len(form))
	c.header, c.status = make(http.Header, 8), 0
	c.body.Reset()
	c.handler.ServeHTTP(c, c.request)
	_, rest, ok := bytes.Cut(c.body.Bytes(), []byte(`"refresh_token":"`))
	token, _, found := bytes.Cut(rest, []byte(`"`))
	if c.status != http.StatusOK || !ok || !found {
		return fmt.Errorf("status %d: %s", c.status, c.body.Bytes())
	}
	c.token = string(token)
	return nil
}
