package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/clientdoc"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// countedFetches is a fetcher of metadata documents that finds none.
type countedFetches struct{ n atomic.Int64 }

func (f *countedFetches) Fetch(context.Context, string, string, bool) (clientdoc.Document, time.Duration, error) {
	f.n.Add(1)
	return clientdoc.Document{}, 0, &clientdoc.Error{Reason: clientdoc.Unreachable}
}

func (f *countedFetches) Refuse(string, string) *clientdoc.Error {
	return &clientdoc.Error{Reason: clientdoc.Refused}
}

// TestFloodsOfAgents sends registrations, and authorization requests whose client_id is a URL or a
// registration, from many addresses. Nothing is fetched for people who have not signed in, nothing is
// logged by raft, the state stays as it is, memory is bounded, and each request has one short line.
func TestFloodsOfAgents(t *testing.T) {
	var log testkit.Buffer
	fetches := new(countedFetches)
	ts := startTestServer(t, t.TempDir(), fixtureText, func(c *server.Config) {
		var err error
		c.Proxies, err = proxy.Parse([]string{"127.0.0.0/8"})
		require.NoError(t, err)
		c.Log, c.Documents = slog.New(slog.NewTextHandler(&log, nil)), fetches
	})
	s := *ts.s.Issuer.View().Settings()
	s.Agents = ledger.AgentsReviewed
	require.Nil(t, ts.propose(&ledger.Configure{Settings: s}).Refusal)
	require.Nil(t, ts.propose(&ledger.PutPublisher{
		Actor: ledger.Actor{Operator: true}, Host: ledger.LocalPublisher, Scopes: []string{"BOOKING_READ"}, Defaults: []string{"BOOKING_READ"},
	}).Refusal)
	const challenged = "&response_type=code&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
	long := strings.Repeat("a", 6000)
	registration := func(n int, from string) answer {
		body := fmt.Sprintf(`{"client_name":"Agent %d","redirect_uris":["http://127.0.0.1:%d/cb"],"contacts":["%s"]}`, n, 1024+n, long)
		return ts.request(http.MethodPost, oauth.PathRegister, body, "Content-Type", "application/json", "X-Forwarded-For", from)
	}
	first := registration(0, "198.51.100.1")
	require.Equal(t, http.StatusCreated, first.Status, first.Body)
	clientID := first.JSON(t)["client_id"].(string)
	flood := func(rounds int) (statuses map[int]int) {
		statuses = map[int]int{}
		var mu sync.Mutex // guards statuses
		work := make(chan int)
		var strangers sync.WaitGroup
		for range 8 {
			strangers.Go(func() {
				for n := range work {
					from := fmt.Sprintf("10.%d.%d.1", n/250%250, n%250)
					var a answer
					switch n % 5 {
					case 0:
						a = registration(n, from)
					case 1:
						a = registration(n, "198.51.100.1") // one address that is limited
					case 2:
						a = ts.request(http.MethodGet, ts.App+oauth.PathAuthorize+fmt.Sprintf("?client_id=https://agent%d.example.com/%s&redirect_uri=https://agent%d.example.com/cb", n, long[:1000], n)+challenged, "", "X-Forwarded-For", from)
					case 3:
						a = ts.request(http.MethodGet, ts.App+oauth.PathAuthorize+fmt.Sprintf("?client_id=mmd_%d%s&redirect_uri=http://127.0.0.1/cb", n, long[:1500])+challenged, "", "X-Forwarded-For", from)
					default:
						a = ts.request(http.MethodGet, ts.App+oauth.PathAuthorize+"?client_id="+clientID+"&redirect_uri=http://127.0.0.1/cb"+challenged, "", "X-Forwarded-For", from)
					}
					mu.Lock()
					statuses[a.Status]++
					mu.Unlock()
				}
			})
		}
		for n := range rounds {
			work <- n
		}
		close(work)
		strangers.Wait()
		return statuses
	}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	flood(100) // what a server makes once
	ts.trailMarked()
	state, _ := ts.s.Node.Checksum()
	lines, used, last := strings.Count(log.String(), "\n"), heap(), ts.s.Node.Stats().Last

	const requests = 3000
	statuses := flood(requests)
	require.Greater(t, statuses[http.StatusCreated], requests/5-1, "others may register")
	require.Greater(t, statuses[http.StatusTooManyRequests], requests/5-80, "one address may not for long")
	require.Greater(t, statuses[http.StatusOK], requests/5, "the page asks to sign in")
	require.Zero(t, statuses[http.StatusInternalServerError])

	after, _ := ts.s.Node.Checksum()
	require.Equal(t, state, after, "the state has changed")
	require.LessOrEqual(t, ts.s.Node.Stats().Last-last, uint64(2), "more entries in the log than the leader makes by itself")
	require.Zero(t, fetches.n.Load())
	require.Less(t, heap(), used+32<<20)
	text := log.String()
	require.LessOrEqual(t, strings.Count(text, "\n")-lines, requests+50, "each request has one line")
	for line := range strings.Lines(text) {
		require.Less(t, len(line), 1500, line)
	}

	// A user who has signed in causes a few fetches, and a row at most for what was found.
	b := ts.browser()
	b.consent("alice", good("cal-app"))
	for n := range 40 {
		b.get(oauth.PathAuthorize + fmt.Sprintf("?client_id=https://agent%d.example.com/a&redirect_uri=https://agent%d.example.com/cb", n, n) + challenged)
	}
	require.Equal(t, int64(40), fetches.n.Load(), "this fetcher has no limits of its own: see TestURLsOfOneUser")
	for p := range ts.s.Issuer.View().Publishers() {
		require.Equal(t, ledger.LocalPublisher, p.Host)
	}
}
