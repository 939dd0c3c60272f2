package main

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier"
)

// feedServer returns a server with the resource server "calendar", which may read the
// feed.
func feedServer(t testing.TB, change ...func(*server.Config)) (ts *testServer, secret string) {
	t.Helper()
	ts = startTestServer(t, t.TempDir(), fixtureText, change...)
	return ts, ts.registerCalendar()
}

// registerCalendar registers a resource server and returns its secret.
func (ts *testServer) registerCalendar() string {
	ts.t.Helper()
	r := operatorOf(ts.t, filepath.Join(ts.dir, "data")).Run("", "resource-server", "add", "https://calendar.example", "--name", "calendar")
	require.Zero(ts.t, r.Code, r.Err)
	return strings.TrimSpace(r.Out)
}

// revocations returns the claims of a response of the feed.
func (ts *testServer) revocations(name, secret, query string) map[string]any {
	ts.t.Helper()
	a := ts.request(http.MethodGet, oauth.PathRevocations+query, "", "Authorization", basicAuth(name, secret))
	require.Equal(ts.t, http.StatusOK, a.Status, a.Body)
	require.Equal(ts.t, "application/mintmark-revocations+jwt", a.Header.Get("Content-Type"))
	require.Equal(ts.t, "no-store", a.Header.Get("Cache-Control"))
	parts := strings.Split(a.Body, ".")
	require.Len(ts.t, parts, 3)
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(ts.t, err)
	var said map[string]any
	require.NoError(ts.t, json.Unmarshal(text, &said))
	return said
}

// TestFeedOfRevocations: resource servers that wait learn at once of a revoked grant. The
// feed is not readable without a resource server's secret.
func TestFeedOfRevocations(t *testing.T) {
	ts, secret := feedServer(t)
	token := ts.tokens("other-app")
	grant, _ := claimsOf(t, token.Access)["grant_id"].(string)
	first := ts.revocations("calendar", secret, "")
	require.Empty(t, first["revoked"])
	require.Equal(t, ts.Base, first["iss"])
	require.InDelta(t, time.Now().Unix(), first["iat"], 3)
	version, _ := first["version"].(string)

	answers := make(chan map[string]any, 1)
	go func() {
		defer close(answers)
		answers <- ts.revocations("calendar", secret, "?wait=10&after="+version)
	}()
	id, ok := ledger.ParseGrantID(grant)
	require.True(t, ok)
	began := time.Now()
	ts.propose(&ledger.RevokeGrant{Actor: ledger.Actor{Operator: true}, Grant: id})
	said := <-answers
	require.Less(t, time.Since(began), 5*time.Second)
	require.Len(t, said["revoked"], 1)
	require.Equal(t, grant, said["revoked"].([]any)[0].(map[string]any)["grant_id"])
	require.Equal(t, said["revoked"], ts.revocations("calendar", secret, "")["revoked"])

	for name, header := range map[string]string{
		"nobody":       "",
		"a stranger":   basicAuth("stranger", secret),
		"wrong secret": basicAuth("calendar", secret+"x"),
		"no secret":    basicAuth("calendar", ""),
		"a token":      "Bearer " + token.Access,
	} {
		a := ts.request(http.MethodGet, oauth.PathRevocations, "", "Authorization", header)
		require.Equal(t, http.StatusUnauthorized, a.Status, name)
		require.Equal(t, `Basic realm="revocations", charset="UTF-8"`, a.Header.Get("WWW-Authenticate"))
		require.Equal(t, "invalid_client", a.ErrorCode())
	}
	for _, wait := range []string{"x", "-1", "61", "1.5"} {
		a := ts.request(http.MethodGet, oauth.PathRevocations+"?wait="+wait, "", "Authorization", basicAuth("calendar", secret))
		require.Equal(t, http.StatusBadRequest, a.Status, wait)
	}
}

// TestRevokedBeforeWithinASecond: a token issued after a revocation is valid at once,
// although readers of the feed refuse tokens of that second. Anything that ends access
// later in the same second reaches the readers, too.
func TestRevokedBeforeWithinASecond(t *testing.T) {
	var now atomic.Int64 // the clock of all parties, which stands except for a step between the rows
	now.Store(time.Now().Truncate(time.Second).UnixMilli())
	clock := func() time.Time { return time.UnixMilli(now.Load()) }
	ts, secret := feedServer(t, func(c *server.Config) { c.Now, c.Elapsed = clock, nil })
	v, err := verifier.New(verifier.Config{
		Issuer: ts.Base, Audience: ts.Base, Now: clock,
		Revocations: &verifier.RevocationsConfig{Name: "calendar", Secret: secret},
	})
	require.NoError(t, err)
	t.Cleanup(v.Close)
	require.Eventually(t, v.RevocationsFresh, 10*time.Second, time.Millisecond)
	taken := func(t *testing.T, token tokens) {
		require.Eventually(t, func() bool { return isRevoked(t, v, token.Access) }, 10*time.Second, time.Millisecond)
	}
	operator := ledger.Actor{Operator: true}
	grantOf := func(token tokens) ledger.GrantID {
		id, ok := ledger.ParseGrantID(claimsOf(t, token.Access)["grant_id"].(string))
		require.True(t, ok)
		return id
	}
	review := func(verdict ledger.Verdict) {
		c := ts.s.Issuer.View().Client("cal-app")
		ts.propose(&ledger.ReviewClient{Actor: operator, ID: c.ID, Verdict: verdict, Revision: c.Revision})
	}
	state := func(to ledger.UserState) {
		ts.propose(&ledger.SetUserState{Actor: operator, User: "u-alice", State: to})
	}
	for _, row := range []struct {
		name      string
		end, mend func(tokens)
	}{
		{"disconnected", func(tokens) { ts.propose(&ledger.Disconnect{Actor: operator, User: "u-alice", Client: "cal-app"}) }, nil},
		{"disabled", func(tokens) { state(ledger.Disable) }, func(tokens) { state(ledger.Enable) }},
		{"revoked", func(one tokens) { ts.propose(&ledger.RevokeGrant{Actor: operator, Grant: grantOf(one)}) }, nil},
		{"reused", func(one tokens) {
			two := tokensOf(t, ts.refresh("cal-app", one.Refresh))
			tokensOf(t, ts.refresh("cal-app", two.Refresh))
			ts.refresh("cal-app", one.Refresh)
		}, nil},
		{"suspended", func(tokens) { review(ledger.Suspend) }, func(one tokens) {
			review(ledger.Resume)
			require.Eventually(t, func() bool { return !isRevoked(t, v, one.Access) }, 10*time.Second, time.Millisecond)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			now.Add(10_000)
			before := ts.tokens("cal-app")
			require.False(t, isRevoked(t, v, before.Access))
			ts.propose(&ledger.Disconnect{Actor: operator, User: "u-alice"})
			taken(t, before)
			between := ts.tokens("cal-app")
			require.False(t, isRevoked(t, v, between.Access))
			row.end(between)
			taken(t, between)
			if row.mend != nil {
				row.mend(between)
			}
			after := ts.tokens("cal-app")
			require.False(t, isRevoked(t, v, after.Access))
			require.Equal(t, http.StatusOK, ts.me(after.Access).Status)
		})
	}

	// The iat of a token is never further ahead than verifiers accept: the client has to
	// repeat its request.
	now.Add(10_000)
	for range 3 {
		ts.code("cal-app")
		ts.propose(&ledger.Disconnect{Actor: operator, User: "u-alice"})
	}
	code := ts.code("cal-app")
	require.Equal(t, http.StatusServiceUnavailable, ts.exchange("cal-app", code).Status)
	now.Add(1000)
	require.False(t, isRevoked(t, v, tokensOf(t, ts.exchange("cal-app", code)).Access))
}

// TestStopWaitsForNoReader: a stopping server first answers the requests that wait for
// the feed.
func TestStopWaitsForNoReader(t *testing.T) {
	ts, secret := feedServer(t)
	version, _ := ts.revocations("calendar", secret, "")["version"].(string)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, ts.Base+oauth.PathRevocations+"?wait=10&after="+version, nil)
	require.NoError(t, err)
	r.SetBasicAuth("calendar", secret)
	status := make(chan int, 1)
	go func() {
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			status <- 0
			return
		}
		_ = answer.Body.Close()
		status <- answer.StatusCode
	}()
	stacks := make([]byte, 1<<20)
	require.Eventually(t, func() bool {
		return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "feed.(*Feed).Poll(")
	}, 10*time.Second, 5*time.Millisecond, "the request waits in Poll")
	began := time.Now()
	ts.close()
	require.Less(t, time.Since(began), 5*time.Second)
	require.Equal(t, http.StatusOK, <-status)
}

// TestNoFeed: without a resource server the feed is not readable, and the first resource
// server can read it at once.
func TestNoFeed(t *testing.T) {
	ts := newTestServer(t)
	status := func(secret string) int {
		return ts.request(http.MethodGet, oauth.PathRevocations, "", "Authorization", basicAuth("calendar", secret)).Status
	}
	require.Equal(t, http.StatusUnauthorized, status("b"))
	secret := ts.registerCalendar()
	require.Equal(t, http.StatusOK, status(secret))
	operatorOf(ts.t, filepath.Join(ts.dir, "data")).OK("", "resource-server", "remove", "calendar", "--yes")
	require.Equal(t, http.StatusUnauthorized, status(secret))
}
