package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExchangesAtOnce: of 32 concurrent exchanges of one code, one gets a token response.
// The grant then ends, since the code was reused (RFC 6749 §4.1.2).
func TestExchangesAtOnce(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for range 5 {
		code := ts.code("cal-app")
		var won []tokens
		for _, a := range atOnce(32, func() answer { return ts.exchange("cal-app", code) }) {
			if a.Status == 200 {
				won = append(won, tokensOf(t, a))
				continue
			}
			require.Equal(t, 400, a.Status, a.Body)
			require.Equal(t, "invalid_grant", a.ErrorCode())
		}
		require.Len(t, won, 1)
		require.Equal(t, 400, ts.refresh("cal-app", won[0].Refresh).Status, "the grant has ended")
		require.Equal(t, 401, ts.me(won[0].Access).Status)
	}
}

// TestRefreshesAtOnce: 32 concurrent refreshes of one token within the retry window cause
// one rotation, and all get the same successor.
func TestRefreshesAtOnce(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	token := ts.tokens("cal-app").Refresh
	for range 5 {
		next, access := map[string]bool{}, map[string]bool{}
		for _, a := range atOnce(32, func() answer { return ts.refresh("cal-app", token) }) {
			got := tokensOf(t, a)
			next[got.Refresh], access[got.Access] = true, true
		}
		require.Len(t, next, 1, "all responses have the same successor")
		require.Len(t, access, 32, "each response has its own access token")
		for token = range next {
		}
	}
	tokensOf(t, ts.refresh("cal-app", token))
}

// TestRefreshesAtOnceWithoutWindow: without a retry window one refresh succeeds, and the
// grant ends.
func TestRefreshesAtOnceWithoutWindow(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, fixtureText, "settings: {retry_window: 0s}")
	token := ts.tokens("cal-app").Refresh
	var won []tokens
	for _, a := range atOnce(32, func() answer { return ts.refresh("cal-app", token) }) {
		if a.Status == 200 {
			won = append(won, tokensOf(t, a))
		}
	}
	require.Len(t, won, 1)
	require.Equal(t, 400, ts.refresh("cal-app", won[0].Refresh).Status)
}
