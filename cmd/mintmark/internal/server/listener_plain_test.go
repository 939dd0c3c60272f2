package server

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestPlainRequests: over plain HTTP, pages are redirected. Requests with a token, and
// requests for the API in any spelling of the path, are refused.
func TestPlainRequests(t *testing.T) {
	s := &Server{started: make(chan struct{}), Settings: ledger.Settings{AppURL: "https://app.example"}}
	close(s.started)
	ask := func(method, path, authorization string) int {
		r := httptest.NewRequest(method, path, nil)
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		w := httptest.NewRecorder()
		s.answerPlain(w, r)
		return w.Code
	}
	require.Equal(t, http.StatusMovedPermanently, ask(http.MethodGet, "/auth/sign-in", ""))
	for _, path := range []string{"/", "/v2/me", "/./v2/me", "/V2/me", "//v2/me", "/auth/sign-in"} {
		require.Equal(t, http.StatusBadRequest, ask(http.MethodGet, path, "Bearer token"), path)
	}
	require.Equal(t, http.StatusBadRequest, ask(http.MethodGet, "/v2/me", ""))
	require.Equal(t, http.StatusBadRequest, ask(http.MethodPost, "/auth/sign-in", ""))
}
