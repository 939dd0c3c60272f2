package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/verifier"
)

// A feedCluster3 is a cluster of three nodes with a resource server for each node, which
// reads the feed of that node only.
type feedCluster3 struct {
	*cluster3
	base, secret string // base URL of the issuer, and secret of the resource server "calendar"
	servers      []*verifier.Verifier
}

func newFeedCluster3(t *testing.T) *feedCluster3 {
	t.Helper()
	dir := t.TempDir()
	alone, secret := feedServer(t)
	base, data := alone.Base, filepath.Join(alone.dir, "data")
	alone.close()
	h := &feedCluster3{cluster3: startCluster3(t, dir, data), base: base, secret: secret}
	for _, n := range h.nodes {
		h.servers = append(h.servers, h.server(t, n))
	}
	for _, v := range h.servers {
		require.Eventually(t, v.RevocationsFresh, 30*time.Second, 10*time.Millisecond)
	}
	return h
}

// server returns a resource server that asks one node.
func (h *feedCluster3) server(t *testing.T, first *nodeProcess) *verifier.Verifier {
	t.Helper()
	keys, err := verifier.NewJWKS(verifier.JWKSConfig{URL: first.URL() + verifier.KeySetPath})
	require.NoError(t, err)
	t.Cleanup(keys.Close)
	v, err := verifier.New(verifier.Config{
		Issuer: h.base, Audience: h.base, Keys: keys,
		Revocations: &verifier.RevocationsConfig{
			Name: "calendar", Secret: h.secret, URL: first.URL() + verifier.RevocationsPath, Stale: verifier.MinRevocationsStale,
		},
	})
	require.NoError(t, err)
	t.Cleanup(v.Close)
	return v
}

// at returns a node as browsers and clients see it.
func (h *feedCluster3) at(t *testing.T, node int) *testServer {
	return &testServer{t: t, Base: h.nodes[node].URL(), App: h.nodes[node].URL()}
}

// granted returns tokens of a client for a user, obtained through different nodes.
func (h *feedCluster3) granted(t *testing.T, user, client string) tokens {
	t.Helper()
	code := h.at(t, 0).browser().allow(user, good(client)).Query().Get("code")
	require.NotEmpty(t, code)
	return tokensOf(t, h.at(t, 1).exchange(client, code))
}

// isRevoked reports whether a resource server refuses a token because it is revoked.
func isRevoked(t *testing.T, v *verifier.Verifier, token string) bool {
	t.Helper()
	_, err := v.Verify(t.Context(), token)
	if err == nil {
		return false
	}
	var e *verifier.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, verifier.ReasonRevoked, e.Reason, err)
	return true
}

func (h *feedCluster3) accepted(t *testing.T, all ...tokens) {
	t.Helper()
	for _, token := range all {
		for i, v := range h.servers {
			require.False(t, isRevoked(t, v, token.Access), "at %s", h.nodes[i].Name)
		}
	}
}

// requireRevoked waits until all resource servers agree whether a token is revoked.
func (h *feedCluster3) requireRevoked(t *testing.T, revoked bool, token tokens) {
	t.Helper()
	began := time.Now()
	for i, v := range h.servers {
		require.Eventually(t, func() bool { return isRevoked(t, v, token.Access) == revoked }, 10*time.Second, 5*time.Millisecond, "at %s", h.nodes[i].Name)
	}
	t.Logf("all know after %s", time.Since(began).Round(time.Millisecond))
}

// renewed waits until tokens of a new grant are accepted: those of the second of a
// revocation count as revoked.
func (h *feedCluster3) renewed(t *testing.T, user, client string) {
	t.Helper()
	require.Eventually(t, func() bool {
		token := h.granted(t, user, client)
		for _, v := range h.servers {
			if isRevoked(t, v, token.Access) {
				return false
			}
		}
		return true
	}, 20*time.Second, 100*time.Millisecond)
}

// TestFeedOfThreeNodes: after a revocation on any node, the resource servers of all nodes
// refuse exactly the tokens concerned.
func TestFeedOfThreeNodes(t *testing.T) {
	h := newFeedCluster3(t)
	cli := func(node int) *testkit.CLI { return operatorOf(t, h.nodes[node].Dir) }
	bystander := h.granted(t, "alice", "legacy-app")

	t.Run("a user disconnects an application", func(t *testing.T) {
		gone, users, apps := h.granted(t, "alice", "other-app"), h.granted(t, "bob", "other-app"), h.granted(t, "alice", "cal-app")
		h.accepted(t, gone, users, apps, bystander)
		b := h.at(t, 2).browser()
		in := b.submit(b.get("/auth/sign-in"), "password", "username", "alice", "password", passwords["alice"])
		require.Equal(t, http.StatusSeeOther, in.Status, in.Body)
		page := b.get("/connected-apps/other-app")
		require.Equal(t, http.StatusOK, page.Status, page.Body)
		done := b.submit(page, "client")
		require.Equal(t, http.StatusSeeOther, done.Status, done.Body)
		h.requireRevoked(t, true, gone)
		h.accepted(t, users, apps, bystander)
		h.renewed(t, "alice", "other-app")
		h.requireRevoked(t, true, gone)
	})
	t.Run("a client is suspended and resumed", func(t *testing.T) {
		back, apps := h.granted(t, "alice", "cal-app"), h.granted(t, "bob", "other-app")
		h.accepted(t, back, apps)
		cli(1).OK("", "client", "suspend", "cal-app")
		h.requireRevoked(t, true, back)
		h.accepted(t, apps, bystander)
		cli(2).OK("", "client", "resume", "cal-app")
		h.requireRevoked(t, false, back)
		h.accepted(t, h.granted(t, "alice", "cal-app"))
	})
	t.Run("a user is disabled", func(t *testing.T) {
		gone, users := h.granted(t, "bob", "cal-app"), h.granted(t, "alice", "cal-app")
		h.accepted(t, gone, users)
		cli(0).OK("", "user", "disable", "bob")
		h.requireRevoked(t, true, gone)
		h.accepted(t, users, bystander)
		cli(0).OK("", "user", "enable", "bob")
		h.renewed(t, "bob", "cal-app")
		h.requireRevoked(t, true, gone)
	})
	t.Run("a grant is revoked", func(t *testing.T) {
		gone, others := h.granted(t, "alice", "cal-app"), h.granted(t, "alice", "cal-app")
		grant, _ := claimsOf(t, gone.Access)["grant_id"].(string)
		cli(2).OK("", "grant", "revoke", grant)
		h.requireRevoked(t, true, gone)
		h.accepted(t, others, bystander)
	})
	t.Run("a refresh token is used twice", func(t *testing.T) {
		gone, others := h.granted(t, "alice", "cal-app"), h.granted(t, "alice", "cal-app")
		second := tokensOf(t, h.at(t, 0).refresh("cal-app", gone.Refresh))
		third := tokensOf(t, h.at(t, 1).refresh("cal-app", second.Refresh))
		h.accepted(t, gone, second, third)
		var refused string
		require.Eventually(t, func() bool { // 503 if the leader changes on a busy machine
			refused = h.at(t, 2).refresh("cal-app", gone.Refresh).ErrorCode()
			return refused != "temporarily_unavailable"
		}, 20*time.Second, 200*time.Millisecond)
		require.Equal(t, "invalid_grant", refused)
		for _, token := range []tokens{gone, second, third} {
			h.requireRevoked(t, true, token)
		}
		h.accepted(t, others, bystander)
	})
	t.Run("a node is alone", h.testSingleNode)
}

// testSingleNode: a node without a majority does not confirm its state. Routes that must
// be sure answer 503, the others continue.
func (h *feedCluster3) testSingleNode(t *testing.T) {
	token := h.granted(t, "alice", "cal-app")
	const left = 1
	v, ts := h.servers[left], h.at(t, left)
	h.nodes[0].Kill()
	h.nodes[2].Kill()
	killed := time.Now()
	guard := middleware.New(v, middleware.Config{})
	next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	open, closed := guard.Require("PROFILE_READ")(next), guard.FailClosed().Require("PROFILE_READ")(next)
	status := func(route http.Handler) int {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", "Bearer "+token.Access)
		w := httptest.NewRecorder()
		route.ServeHTTP(w, r)
		return w.Code
	}
	require.Equal(t, http.StatusOK, status(closed), "the last confirmation is still fresh")
	require.Eventually(t, func() bool { return status(closed) == http.StatusServiceUnavailable }, 20*time.Second, 10*time.Millisecond)
	require.Less(t, time.Since(killed), verifier.MinRevocationsStale+time.Second)
	require.Equal(t, http.StatusOK, status(open))

	iat := func() int64 {
		said := ts.revocations("calendar", h.secret, "?wait=10&after="+v.Revocations().Version)
		return int64(said["iat"].(float64))
	}
	last := iat()
	require.LessOrEqual(t, last, killed.Unix())
	for range 3 {
		require.Equal(t, last, iat(), "the time of the last confirmation does not advance")
	}
	h.nodes[0].start(t)
	require.Eventually(t, func() bool { return status(closed) == http.StatusOK }, 30*time.Second, 10*time.Millisecond)
	require.Greater(t, iat(), last)
}
