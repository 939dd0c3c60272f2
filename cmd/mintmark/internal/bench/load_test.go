package bench_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/bench"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// tokens is a server that answers each refresh with a new token, and records the forms.
type tokens struct {
	mu     sync.Mutex
	forms  []string
	before func(n int, w http.ResponseWriter) (answered bool) // n counts from 1; may be nil
	chunks bool
}

func (s *tokens) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.forms = append(s.forms, string(body))
	n := len(s.forms)
	s.mu.Unlock()
	if s.before != nil && s.before(n, w) {
		return
	}
	fmt.Fprintf(w, `{"access_token":"x","refresh_token":"token-%d"}`, n)
	if s.chunks {
		w.(http.Flusher).Flush()
	}
}

func load(t *testing.T, h http.Handler, l bench.Load) (bench.Result, error) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	l.URLs, l.Request = []string{s.URL}, bench.Refresh
	return l.Run(t.Context())
}

func clients(n int) (list []bench.Client) {
	for i := range n {
		list = append(list, bench.Client{ID: "an app", Secret: "s&cret", RefreshToken: fmt.Sprint("first-", i)})
	}
	return list
}

func TestClosedLoop(t *testing.T) {
	for _, chunks := range []bool{false, true} {
		s := &tokens{chunks: chunks}
		list := clients(5)
		r, err := load(t, s, bench.Load{Clients: list, Connections: 2, Duration: 300 * time.Millisecond})
		require.NoError(t, err)
		require.Empty(t, r.Failures)
		require.EqualValues(t, len(s.forms), r.Requests)
		require.Greater(t, r.Requests, int64(10))
		require.Equal(t, 2, r.Connections)
		require.LessOrEqual(t, r.Latency.P50, r.Latency.P99)
		require.LessOrEqual(t, r.Latency.P99, r.Latency.Max)
		require.Contains(t, s.forms, "client_id=an+app&client_secret=s%26cret&grant_type=refresh_token&refresh_token=first-0")
		presented := map[string]bool{}
		for _, form := range s.forms {
			require.False(t, presented[form], "a token must be presented only once")
			presented[form] = true
		}
		for _, c := range list {
			require.NotContains(t, c.RefreshToken, "first", "each client must keep its latest token")
		}
	}
}

// TestOpenLoop: if the server hangs, the requests that had to wait count as slow,
// although the server answered each at once when it received it.
func TestOpenLoop(t *testing.T) {
	const still = 400 * time.Millisecond
	s := &tokens{before: func(n int, _ http.ResponseWriter) bool {
		if n == 1 {
			time.Sleep(still)
		}
		return false
	}}
	r, err := load(t, s, bench.Load{Clients: clients(1), Connections: 1, Rate: 100, Duration: time.Second})
	require.NoError(t, err)
	require.LessOrEqual(t, r.Requests, int64(101))
	slow := 0
	for _, took := range r.Took {
		if took > still/2 {
			slow++
		}
	}
	require.GreaterOrEqual(t, slow, 15, "at least the requests that were due in the first 200 ms")
}

// TestFailures: a request without a definite answer is repeated with the same token. A
// client that is refused is not used again.
func TestFailures(t *testing.T) {
	s := &tokens{before: func(n int, w http.ResponseWriter) bool {
		switch n {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			panic(http.ErrAbortHandler) // the connection breaks
		default:
			return false
		}
		return true
	}}
	r, err := load(t, s, bench.Load{Clients: clients(1), Connections: 1, Duration: 500 * time.Millisecond})
	require.NoError(t, err)
	require.EqualValues(t, 2, r.Failed())
	require.EqualValues(t, 1, r.Failures["status 503"])
	require.Equal(t, s.forms[0], s.forms[1])
	require.Equal(t, s.forms[0], s.forms[2])
	require.Positive(t, r.Requests)

	refuses := &tokens{before: func(_ int, w http.ResponseWriter) bool { w.WriteHeader(http.StatusBadRequest); return true }}
	began := time.Now()
	_, err = load(t, refuses, bench.Load{Clients: clients(3), Connections: 2, Duration: time.Minute})
	require.ErrorIs(t, err, bench.ErrNoClients)
	require.ErrorContains(t, err, "status 400")
	require.Less(t, time.Since(began), 30*time.Second, "the load ends when no client is left")
	require.Len(t, refuses.forms, 3)
}

// TestIntrospect: the token of each client is introspected. A token that is not active
// counts as a failure.
func TestIntrospect(t *testing.T) {
	var mu sync.Mutex
	presented, answer := map[string]bool{}, `{"active":true,"sub":"u"}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		presented[r.URL.Path+" "+string(body)] = true
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	list := []bench.Client{{ID: "https://r", Secret: "s&", AccessToken: "one"}, {ID: "https://r", Secret: "s&", AccessToken: "two"}}
	l := bench.Load{URLs: []string{s.URL}, Request: bench.Introspect, Clients: list, Connections: 1, Once: true, Duration: time.Minute}
	r, err := l.Run(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, r.Requests)
	require.Equal(t, map[string]bool{
		oauth.PathIntrospect + " client_id=https%3A%2F%2Fr&client_secret=s%26&token=one": true,
		oauth.PathIntrospect + " client_id=https%3A%2F%2Fr&client_secret=s%26&token=two": true,
	}, presented)

	answer = `{"active":false}`
	l.Duration = 200 * time.Millisecond
	_, err = l.Run(t.Context())
	require.ErrorIs(t, err, bench.ErrNoClients)
	require.ErrorContains(t, err, "the token is not active")
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var n atomic.Int64
	s := httptest.NewServer(&tokens{before: func(int, http.ResponseWriter) bool {
		if n.Add(1) == 20 {
			cancel()
		}
		return false
	}})
	t.Cleanup(s.Close)
	l := bench.Load{URLs: []string{s.URL}, Request: bench.Refresh, Clients: clients(2), Connections: 2, Duration: time.Minute}
	r, err := l.Run(ctx)
	require.NoError(t, err)
	require.Positive(t, r.Requests)
	require.Less(t, r.Seconds, 30.0)
}

func TestWrongURL(t *testing.T) {
	for _, wrong := range []string{"", "localhost:8080", "ftp://localhost", "http://"} {
		l := bench.Load{URLs: []string{wrong}, Request: bench.Refresh, Clients: clients(1), Connections: 1, Duration: time.Second}
		_, err := l.Run(t.Context())
		require.ErrorContains(t, err, "is not an http or https URL", wrong)
	}
}

func TestClientsFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "clients.jsonl")
	list := clients(3)
	list[1].Secret = ""
	require.NoError(t, bench.WriteClients(name, list))
	read := func(text string) ([]bench.Client, error) {
		if text != "" {
			require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		}
		f, err := os.Open(name)
		require.NoError(t, err)
		defer f.Close()
		return bench.ReadClients(f)
	}
	got, err := read("")
	require.NoError(t, err)
	require.Equal(t, list, got)
	i, err := os.Stat(name)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), i.Mode().Perm())
	for _, wrong := range []string{`{"client_id":"a"}`, `{"client_id":"a","refresh_token":"b","more":1}`, `nothing`} {
		_, err := read("\n" + wrong + "\n")
		require.ErrorContains(t, err, "line 2", wrong)
	}
}
