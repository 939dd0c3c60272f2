package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFlow is the whole story once: sign in, consent, exchange, call,
// refresh, call again.
func TestFlow(t *testing.T) {
	ts := newTestServer(t)
	b := ts.browser()
	page := b.consent("alice", good("cal-app"))
	require.Equal(t, http.StatusOK, page.Status)
	require.Contains(t, page.Body, "Calendar App")

	to := b.allow("alice", good("cal-app"))
	require.Equal(t, "http://127.0.0.1:9999/callback", to.Scheme+"://"+to.Host+to.Path)
	require.Equal(t, "a-state", to.Query().Get("state"))
	require.Equal(t, ts.Base, to.Query().Get("iss"))

	first := tokensOf(t, ts.exchange("cal-app", to.Query().Get("code")))
	require.Equal(t, "PROFILE_READ BOOKING_READ", first.Scope)
	me := ts.me(first.Access)
	require.Equal(t, http.StatusOK, me.Status, me.Body)
	require.Contains(t, me.Body, `"username":"alice"`)

	second := tokensOf(t, ts.refresh("cal-app", first.Refresh))
	require.NotEqual(t, first, second)
	require.Equal(t, http.StatusOK, ts.me(second.Access).Status)
}
