package main

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/watchdog"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/verifier"
)

// TestRestoreAfterAWrongClock shows how to return from a wrong time in the state: restore
// a backup from before it, with a journal that includes the wrong time. Revocations from
// then are replayed, but no timestamp of that time is kept.
func TestRestoreAfterAWrongClock(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	clocked := func(c *server.Config) {
		c.Now, c.Elapsed = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }, nil
	}
	n := newTestNode(t, withBenchFixtures(t), clocked)
	live := make([]string, 3)
	seedUser(t, n.s.Issuer, 1, live, redeem)
	before := n.backup()
	n.disable("bob")

	ahead.Store(int64(500 * 24 * time.Hour))
	for _, p := range []ledger.Purpose{ledger.ForSigning, ledger.ForCredentials} {
		_, err := n.s.Issuer.Keyring.Rotate(t.Context(), p)
		require.NoError(t, err)
	}
	n.disable("alice")
	file, after := n.journal(), n.backup()
	require.Greater(t, inspect(t, after).StateTime, time.Now().Add(400*24*time.Hour))

	ahead.Store(0)
	r := startTestNode(t, clocked)
	require.NoError(t, n.key().WriteFile(r.conf.Key.File))
	require.Contains(t, r.refuses(after, admin.RestoreOptions{}), "restore a backup from before that")
	report, err := r.restore(before, admin.RestoreOptions{Journals: [][]byte{file}})
	require.NoError(t, err)
	require.Empty(t, report.Gap)
	require.Zero(t, r.s.Node.Stats().StateAhead)
	ready, err := http.Get("http://" + r.s.OpsAddr.String() + "/readyz")
	require.NoError(t, err)
	require.NoError(t, ready.Body.Close())
	require.Equal(t, http.StatusOK, ready.StatusCode)
	require.True(t, r.disabled("bob"))
	require.True(t, r.disabled("alice"))
	for _, token := range live {
		status, _ := tokenAnswer(t, r.s.PublicAddr.String(), token)
		require.Equal(t, 200, status)
	}

	// Keys that were rotated at the wrong time take their next steps normally.
	now := ledger.Time(time.Now().Add(time.Second).UnixMilli())
	for k := range r.view().Keys() {
		require.LessOrEqual(t, max(k.Announced, k.Activated, k.Retired), now, k.ID)
		require.LessOrEqual(t, k.PropagatedAt, now.Add(24*time.Hour), k.ID)
	}
	ahead.Store(int64(24 * time.Hour))
	require.Eventually(t, func() bool {
		for k := range r.view().Keys() {
			if k.State == ledger.KeyAnnounced {
				return false
			}
		}
		return true
	}, 20*time.Second, 10*time.Millisecond)
}

// TestVerifiersTolerateWhatNodesDo: a token of a leader whose clock is as far ahead as
// permitted is valid at once, also if its iat is ahead of that clock because of
// revocations within a second.
func TestVerifiersTolerateWhatNodesDo(t *testing.T) {
	t.Parallel()
	var now atomic.Int64 // the clock of the node, which stands still
	now.Store(time.Now().Truncate(time.Second).UnixMilli())
	d := suiteOf(t, startTestServer(t, t.TempDir(), fixtureText, func(c *server.Config) {
		c.Now = func() time.Time { return time.UnixMilli(now.Load()) }
	}))
	behind := watchdog.ClockTolerance // how far the verifier's clock is behind
	api := newResourceServerAt(d, func() time.Time { return time.UnixMilli(now.Load()).Add(-behind) })
	answer := func() int { return api.call(d, "GET /v2/me", d.granted(good("cal-app")).Access).Status }
	require.Equal(t, http.StatusOK, answer())
	for range 2 {
		d.propose(&ledger.Disconnect{Actor: ledger.Actor{Operator: true}, User: "u-alice"})
		require.Equal(t, http.StatusOK, answer(), "in the second of a revocation")
	}
	require.Equal(t, verifier.DefaultSkew, behind+ledger.MaxAhead, "the verifier's default tolerance is exactly what is needed")
	behind += time.Millisecond
	require.Equal(t, http.StatusUnauthorized, answer())
}
