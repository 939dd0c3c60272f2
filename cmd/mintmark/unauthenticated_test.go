package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/upstream"
	"github.com/mintmark-auth/mintmark/issuer/upstream/upstreamtest"
)

var parameter = regexp.MustCompile(`[:*][a-z]+`)

// trailMarked waits until the leader has recorded how far the audit trail has been
// logged, some seconds after the last event.
func (ts *testServer) trailMarked() {
	ts.t.Helper()
	require.Eventually(ts.t, func() bool {
		v := ts.s.Issuer.View()
		for range v.EventsAfter(v.Trail().Logged) {
			return false
		}
		return true
	}, time.Minute, 50*time.Millisecond)
}

// TestUnauthenticatedWriteNothing sends unauthenticated requests to every endpoint and
// page. No command is logged, and all of them together cause at most 20 log entries a
// second.
func TestUnauthenticatedWriteNothing(t *testing.T) {
	t.Parallel()
	provider := upstreamtest.New(t, time.Now)
	ts := startTestServer(t, t.TempDir(), fixtureText, func(c *server.Config) {
		c.Upstream = &upstream.Config{Issuer: provider.URL, ClientID: upstreamtest.ClientID, ClientSecret: upstreamtest.ClientSecret}
	})
	held := ts.tokens("cal-app")
	native := ts.tokens("native-app")
	signedOut := ts.browser()
	signedOut.consent("bob", good("other-app"))
	app, err := url.Parse(ts.App)
	require.NoError(t, err)
	cookie := func(b *browser, name string) string {
		for _, c := range b.client.Jar.Cookies(app) {
			if c.Name == name {
				return c.Value
			}
		}
		require.Fail(t, "no cookie", name)
		return ""
	}
	ended := cookie(signedOut, "mintmark")
	action, out := formOf(t, signedOut.get("/").Body, "token")
	require.Equal(t, "/auth/sign-out", action)
	require.Equal(t, http.StatusSeeOther, ts.request(http.MethodPost, ts.App+action, out.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "Cookie", "mintmark="+ended).Status)
	for _, user := range []string{"u-alice", "u-bob"} {
		ts.propose(&ledger.Disconnect{Actor: ledger.Actor{Operator: true}, User: user})
	}

	type request struct {
		method, path, body string
		headers            []string
	}
	var requests []request
	ask := func(times int, method, path, body string, headers ...string) {
		for range times {
			requests = append(requests, request{method, path, body, headers})
		}
	}
	const form = "application/x-www-form-urlencoded"
	asked := map[string]bool{}
	for _, route := range ts.s.Metrics.Routes {
		asked[route.Pattern] = true
		path := parameter.ReplaceAllString(route.Pattern, strings.Repeat("ab", 32))
		for _, headers := range [][]string{
			{},
			{"Cookie", "mintmark=garbage"},
			{"Cookie", "mintmark=garbage.900000; mintmark-form=" + strings.Repeat("A", 43)},
			{"Cookie", "mintmark=" + ended},
			{"Cookie", "mintmark=" + ended[:len(ended)-4] + "AAAA"},
			{"Authorization", "Bearer " + held.Access + "x"},
			{"Authorization", basicAuth("cal-app", "wrong")},
		} {
			if route.Method == http.MethodPost {
				headers = append([]string{"Content-Type", form, "Sec-Fetch-Site", "same-origin"}, headers...)
			}
			ask(4, route.Method, path, encode("token", "x", "username", "alice", "password", "wrong"), headers...)
		}
	}
	require.True(t, asked["/auth/upstream/callback/begin"])
	for _, client := range []string{"", "nobody", "cal-app", "native-app", "pending-app", "suspended-app"} {
		ask(80, http.MethodGet, authorizePath("client_id", client, "redirect_uri", "https://elsewhere.example/"), "")
		for _, token := range []string{held.Refresh, native.Refresh, "garbage"} {
			for _, secret := range []string{"", "wrong"} {
				ask(40, http.MethodPost, oauth.PathToken, encode("grant_type", "refresh_token", "refresh_token", token,
					"client_id", client, "client_secret", secret), "Content-Type", form)
			}
		}
	}
	stranger := ts.browser() // gets a form and guesses passwords
	guess, fields := formOf(t, stranger.get(ts.App+"/auth/sign-in").Body, "password")
	for _, name := range []string{"alice", "bob", "nobody"} {
		fields.Set("username", name)
		fields.Set("password", "wrong")
		ask(20, http.MethodPost, ts.App+guess, fields.Encode(), "Content-Type", form, "Sec-Fetch-Site", "same-origin",
			"Cookie", "mintmark-form="+cookie(stranger, "mintmark-form"))
	}
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		ask(50, http.MethodGet, ts.Ops+path, "")
	}

	ts.trailMarked()
	state, _ := ts.s.Node.Checksum()
	before, started := ts.s.Node.Stats().Last, time.Now()
	queue := make(chan request)
	var strangers sync.WaitGroup
	for range 16 {
		strangers.Go(func() {
			for r := range queue {
				if a := ts.request(r.method, r.path, r.body, r.headers...); a.Status == http.StatusInternalServerError {
					t.Errorf("%s %s: %s", r.method, r.path, a.Body)
				}
			}
		})
	}
	for _, r := range requests {
		queue <- r
	}
	close(queue)
	strangers.Wait()

	entries, took := ts.s.Node.Stats().Last-before, time.Since(started)
	t.Logf("%d requests in %v: %d entries", len(requests), took, entries)
	after, _ := ts.s.Node.Checksum()
	require.Equal(t, state, after, "a command was logged: the state has a command counter")
	require.NotZero(t, entries, "without any entry the test proves nothing")
	require.LessOrEqual(t, entries, uint64(took.Seconds()*20)+1)
}
