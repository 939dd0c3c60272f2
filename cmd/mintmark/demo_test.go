package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/dev"
)

// TestDemoAPI: the example resource server answers 200, 401 and 403 with the correct
// challenges, whether the issuer runs or not.
func TestDemoAPI(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	token := ts.tokens("cal-app").Access
	h, err := dev.API(ts.Base, ts.Base)
	require.NoError(t, err)
	api := httptest.NewServer(h)
	defer api.Close()

	check := func(t *testing.T) {
		call := func(method, path, token string) answer {
			r, err := http.NewRequestWithContext(t.Context(), method, api.URL+path, nil)
			require.NoError(t, err)
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			return do(t, noRedirects(nil), r)
		}
		a := call("GET", "/v2/bookings", token)
		require.Equal(t, 200, a.Status, a.Body)
		require.Contains(t, a.Body, `"user":"u-alice"`)

		a = call("GET", "/v2/bookings", "")
		require.Equal(t, 401, a.Status)
		require.Equal(t, "Bearer", a.Header.Get("WWW-Authenticate"))

		a = call("GET", "/v2/schedules", token)
		require.Equal(t, 403, a.Status)
		require.Contains(t, a.Header.Get("WWW-Authenticate"), `scope="SCHEDULE_READ"`)

		a = call("GET", "/v2/bookings", token+"x")
		require.Equal(t, 401, a.Status)
		require.Contains(t, a.Header.Get("WWW-Authenticate"), `error="invalid_token"`)

		require.Equal(t, 200, call("POST", "/v2/bookings", "").Status, "public")
		require.Equal(t, 200, call("POST", "/v2/bookings", token).Status)
	}
	t.Run("running", check)
	ts.close()
	t.Run("stopped", check)

	// An API that has never reached the issuer can't verify a token.
	never, err := dev.API(ts.Base, ts.Base)
	require.NoError(t, err)
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/v2/bookings", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	never.ServeHTTP(w, r)
	require.Equal(t, 503, w.Code)
	require.NotEmpty(t, w.Header().Get("Retry-After"))
}
