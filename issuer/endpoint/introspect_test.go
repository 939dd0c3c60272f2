package endpoint_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

func (s *testServer) introspect(body string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, oauth.PathIntrospect, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.send(r, headers...)
}

func TestIntrospection(t *testing.T) {
	s := newTestServer(t, nil)
	access := s.issuer.Token()
	s.introspection = oauth.Introspection{Active: true, ActiveToken: &oauth.ActiveToken{
		Scope: "PROFILE_READ", ClientID: "app", TokenType: "bearer", ExpiresAt: 2, IssuedAt: 1, Subject: "u-alice",
		Audience: "https://api", Issuer: "https://auth", ID: "j", GrantID: "g",
	}}
	for name, w := range map[string]*httptest.ResponseRecorder{
		"body":  s.introspect("client_id=app&client_secret=s&token=" + access),
		"basic": s.introspect("token="+access, "Authorization", basic("https%3A%2F%2Fapi.example:s")),
	} {
		require.Equal(t, http.StatusOK, w.Code, name)
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		require.Equal(t, "application/json", w.Header().Get("Content-Type"))
		require.JSONEq(t, `{"active":true,"scope":"PROFILE_READ","client_id":"app","token_type":"bearer","exp":2,"iat":1,
			"sub":"u-alice","aud":"https://api","iss":"https://auth","jti":"j","legacy":false,"grant_id":"g"}`, w.Body.String())
	}

	s.introspection = oauth.Introspection{}
	w := s.introspect("client_id=app&client_secret=s&token=mmr_garbage&token_type_hint=pineapple")
	require.Equal(t, `{"active":false}`, w.Body.String(), "nothing else is told")
	require.Equal(t, oauth.PresentedToken{Client: oauth.ClientCredentials{ID: "app", Secret: "s"}, Token: "mmr_garbage"}, s.presented[2])
	require.Empty(t, s.failures)
}

func TestIntrospectionRefused(t *testing.T) {
	for name, test := range map[string]struct {
		body    string
		headers []string
		err     error
		status  int
		code    oauth.Code
	}{
		"no client":      {"token=t", nil, nil, http.StatusUnauthorized, oauth.InvalidClient},
		"bearer":         {"token=t", []string{"Authorization", "Bearer t"}, nil, http.StatusUnauthorized, oauth.InvalidClient},
		"no token":       {"client_id=app&client_secret=s", nil, nil, http.StatusBadRequest, oauth.InvalidRequest},
		"two headers":    {"token=t", []string{"Authorization", basic("a:b"), "Authorization", basic("a:b")}, nil, http.StatusBadRequest, oauth.InvalidRequest},
		"a wrong secret": {"client_id=app&client_secret=x&token=t", nil, &oauth.Error{Code: oauth.InvalidClient, Cause: uint16(ledger.SecretWrong)}, http.StatusUnauthorized, oauth.InvalidClient},
		"no leader":      {"client_id=app&client_secret=s&token=t", nil, oauth.ErrUnavailable, http.StatusServiceUnavailable, oauth.TemporarilyUnavailable},
		"too long":       {"token=" + strings.Repeat("t", oauth.MaxBody), nil, nil, http.StatusRequestEntityTooLarge, oauth.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t, nil)
			s.err = test.err
			w := s.introspect(test.body, test.headers...)
			requireError(t, w, test.status, test.code)
			require.Equal(t, test.err != nil, len(s.presented) > 0)
			var body map[string]any
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
			require.NotContains(t, body, "active")
		})
	}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut} {
		require.Equal(t, http.StatusMethodNotAllowed, newTestServer(t, nil).do(method, oauth.PathIntrospect).Code, method)
	}
}

// TestIntrospectionGuessesAreLimited verifies that wrong secrets that may be weak are
// limited as at the token endpoint. A secret in the generated format is always verified.
func TestIntrospectionGuessesAreLimited(t *testing.T) {
	s := newTestServer(t, nil)
	s.err = &oauth.Error{Code: oauth.InvalidClient, Cause: uint16(ledger.SecretWrong)}
	for n := range 100 {
		name := []string{"calendar", "Calendar", "CALENDAR"}[n%3] // the ledger finds all of them
		require.Equal(t, http.StatusUnauthorized, s.introspect("client_id="+name+"&client_secret=x&token=t").Code)
	}
	w := s.introspect("client_id=cALENDAR&client_secret=x&token=t")
	requireError(t, w, http.StatusTooManyRequests, oauth.TemporarilyUnavailable)
	require.NotEmpty(t, w.Header().Get("Retry-After"))
	before := len(s.presented)
	s.introspect("client_id=calendar&client_secret=mms_" + strings.Repeat("A", 43) + "&token=t")
	require.Len(t, s.presented, before+1)
}
