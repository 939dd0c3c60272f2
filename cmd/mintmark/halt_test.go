package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStopLongerThanTheRetryWindow: a client whose response was lost when the server
// stopped repeats its request after the restart and gets the same refresh token.
func TestStopLongerThanTheRetryWindow(t *testing.T) {
	t.Parallel()
	const window = 3 * time.Second
	dir := t.TempDir()
	fixtures := fixtureText + "\nsettings: {retry_window: 3s}\n"
	ts := startTestServer(t, dir, fixtures)
	first := ts.tokens("cal-app")
	lost := tokensOf(t, ts.refresh("cal-app", first.Refresh))
	ts.close()
	stopped := time.Now()
	require.Eventually(t, func() bool { return time.Since(stopped) > window+time.Second }, time.Minute, 10*time.Millisecond)

	ts = startTestServer(t, dir, fixtures)
	again := tokensOf(t, ts.refresh("cal-app", first.Refresh))
	require.Equal(t, lost.Refresh, again.Refresh)
	tokensOf(t, ts.refresh("cal-app", again.Refresh))
}
