package endpoint_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// revoke sends a revocation request of a client with a secret, or without one if it is "".
func (s *testServer) revoke(client, secret string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	body := "token=t&token_type_hint=unknown&client_id=" + client + "&client_secret=" + secret
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, oauth.PathRevoke, strings.NewReader(body))
	return s.send(r, append(headers, "Content-Type", typeForm)...)
}

// TestRevoke covers RFC 7009 §2.2: the response is the same whether a token was revoked
// or the value is no token of the client.
func TestRevoke(t *testing.T) {
	for name, err := range map[string]error{
		"revoked":          nil,
		"expired":          &oauth.Error{Code: oauth.InvalidGrant, Genuine: true},
		"another client's": &oauth.Error{Code: oauth.InvalidGrant},
		"not a token":      &oauth.Error{Code: oauth.InvalidGrant},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t, nil)
			s.err = err
			w := s.revoke("app", "secret")
			require.Equal(t, http.StatusOK, w.Code)
			require.Empty(t, w.Body.String())
			require.Equal(t, http.Header{"Cache-Control": {"no-store"}, "Pragma": {"no-cache"}, "Content-Length": {"0"}}, w.Header())
			require.Equal(t, []oauth.PresentedToken{{
				Client: oauth.ClientCredentials{ID: "app", Secret: "secret"}, Token: "t",
			}}, s.revoked)
			require.Empty(t, s.failures)
		})
	}
}

// TestRevokeRefused covers RFC 7009 §2.1 and §2.2.1.
func TestRevokeRefused(t *testing.T) {
	s := newTestServer(t, nil)
	s.err = &oauth.Error{Code: oauth.InvalidClient, Cause: uint16(ledger.SecretWrong)}
	w := s.revoke("", "", "Authorization", basic("app:wrong"))
	requireError(t, w, http.StatusUnauthorized, oauth.InvalidClient)
	require.Equal(t, `Basic realm="token", charset="UTF-8"`, w.Header().Get("WWW-Authenticate"))
	require.Equal(t, []string{fmt.Sprint("client_authentication ", ledger.SecretWrong)}, s.failures)

	s.err = &oauth.Error{Code: oauth.UnsupportedTokenType}
	requireError(t, s.revoke("app", "secret"), http.StatusBadRequest, oauth.UnsupportedTokenType)

	s.err = fmt.Errorf("%w: no leader", oauth.ErrUnavailable)
	w = s.revoke("app", "secret")
	requireError(t, w, http.StatusServiceUnavailable, oauth.TemporarilyUnavailable)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	s.err = oauth.ErrOutcomeUnknown
	require.Equal(t, "2", s.revoke("app", "secret").Header().Get("Retry-After"))
	s.err = errors.New("disk on fire")
	requireError(t, s.revoke("app", "secret"), http.StatusInternalServerError, oauth.ServerError)

	asked := len(s.revoked)
	requireError(t, s.revoke("", ""), http.StatusUnauthorized, oauth.InvalidClient)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, oauth.PathRevoke, strings.NewReader("client_id=app"))
	requireError(t, s.send(r, "Content-Type", typeForm), http.StatusBadRequest, oauth.InvalidRequest)
	require.Len(t, s.revoked, asked)
}

// TestRevocationsAreLimited verifies that values that are not tokens, and secrets that
// may be guesses, are counted as at the token endpoint. A genuine token always gets its
// response.
func TestRevocationsAreLimited(t *testing.T) {
	s := newTestServer(t, nil)
	s.err = &oauth.Error{Code: oauth.InvalidGrant, ID: "id"}
	for range 500 {
		require.Equal(t, http.StatusOK, s.revoke("app", secretMMS).Code)
	}
	w := s.revoke("app", secretMMS)
	requireError(t, w, http.StatusTooManyRequests, oauth.TemporarilyUnavailable)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	require.NotEqual(t, "0", w.Header().Get("Content-Length"), "the response is not followed by that to a revocation")
	s.err = &oauth.Error{Code: oauth.InvalidGrant, Genuine: true}
	require.Equal(t, http.StatusOK, s.revoke("app", secretMMS).Code)
	s.err = nil
	require.Equal(t, http.StatusOK, s.revoke("app", secretMMS).Code)

	s = newTestServer(t, nil)
	s.err = &oauth.Error{Code: oauth.InvalidClient, Genuine: true} // a genuine token does not make up for a wrong secret
	for range 50 {
		s.revoke("app", "guess")
		s.refresh("app", "guess")
	}
	asked := len(s.revoked)
	requireError(t, s.revoke("app", "guess"), http.StatusTooManyRequests, oauth.TemporarilyUnavailable)
	require.Len(t, s.revoked, asked, "the secret was verified beyond the limit")
}
