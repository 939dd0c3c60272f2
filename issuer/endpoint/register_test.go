package endpoint_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// newAgentsServer accepts agents.
func newAgentsServer(t *testing.T) *testServer {
	s := newTestServer(t, nil)
	settings := *s.View().Settings()
	settings.Agents = ledger.AgentsListed
	s.insert(ledger.TableSettings, &settings)
	return s
}

func (s *testServer) register(address, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, oauth.PathRegister, strings.NewReader(body))
	r.RemoteAddr = address + ":1234"
	if len(headers) == 0 {
		headers = []string{"Content-Type", "application/json"}
	}
	return s.send(r, headers...)
}

// TestRegister covers RFC 7591 §3.2.1: the response has what the client is registered with,
// whatever else it asked for.
func TestRegister(t *testing.T) {
	s := newAgentsServer(t)
	w := s.register("192.0.2.1", `{"client_name":"Agent","redirect_uris":["http://127.0.0.1:3000/cb"],"token_endpoint_auth_method":"client_secret_basic",
		"grant_types":["authorization_code","implicit"],"response_types":["code","token"],"scope":"BOOKING_READ","logo_uri":"https://example.com/x","contacts":["a"],"software_id":"s"}`)
	require.Equal(t, http.StatusCreated, w.Code, w.Body)
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	require.Equal(t, "*", w.Header().Get("Access-Control-Allow-Origin"))
	require.JSONEq(t, `{"client_id":"mmd_Agent","client_name":"Agent","redirect_uris":["http://127.0.0.1:3000/cb"],
		"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none"}`, w.Body.String())
	require.Equal(t, http.StatusCreated, s.register("192.0.2.1", `{"redirect_uris":["http://127.0.0.1/cb"]}`).Code)
	require.Equal(t, "An unnamed program", s.registered[1].Name)

	// A registration does not make a program one of a host.
	w = s.register("192.0.2.1", `{"client_name":"Editor","redirect_uris":["https://vscode.dev/redirect","http://127.0.0.1:33418/"]}`)
	require.Contains(t, w.Body.String(), `"redirect_uris":["http://127.0.0.1:33418/"]`)
	require.Equal(t, []string{"http://127.0.0.1:33418/"}, s.registered[2].RedirectURIs)
	require.Equal(t, http.StatusNoContent, s.do(http.MethodOptions, oauth.PathRegister, "Origin", spa, "Access-Control-Request-Method", "POST").Code)

	var metadata map[string]any
	require.NoError(t, json.Unmarshal(s.do(http.MethodGet, oauth.PathMetadata).Body.Bytes(), &metadata))
	require.Equal(t, s.issuer.URL+oauth.PathRegister, metadata["registration_endpoint"])
	require.Equal(t, true, metadata["client_id_metadata_document_supported"])
}

// TestRegisterRefused covers RFC 7591 §3.2.2.
func TestRegisterRefused(t *testing.T) {
	s := newAgentsServer(t)
	for _, c := range []struct {
		body string
		code oauth.Code
	}{
		{``, oauth.InvalidClientMetadata},
		{`[]`, oauth.InvalidClientMetadata},
		{`{"client_name":"Agent"}`, oauth.InvalidRedirectURI},
		{`{"redirect_uris":[]}`, oauth.InvalidRedirectURI},
		{`{"redirect_uris":"http://127.0.0.1/cb"}`, oauth.InvalidClientMetadata},
		{`{"redirect_uris":["http://127.0.0.1/cb"],"client_name":1}`, oauth.InvalidClientMetadata},
		{`{"redirect_uris":["http://127.0.0.1/cb"],"client_name":"a","client_name":"b"}`, oauth.InvalidClientMetadata},
		{`{"redirect_uris":["http://127.0.0.1/cb"],"grant_types":["client_credentials"]}`, oauth.InvalidClientMetadata},
		{`{"redirect_uris":["http://127.0.0.1/cb"],"response_types":["token"]}`, oauth.InvalidClientMetadata},
		{`{"redirect_uris":["http://127.0.0.1/cb"],"client_name":"refused"}`, oauth.InvalidRedirectURI},
	} {
		w := s.register("192.0.2.1", c.body)
		requireError(t, w, http.StatusBadRequest, c.code)
		require.Contains(t, w.Body.String(), `"error_id":"id of `+string(c.code)+`"`)
	}
	for _, contentType := range []string{"", "text/plain", "application/json; charset"} {
		requireError(t, s.register("192.0.2.1", `{"redirect_uris":["http://127.0.0.1/cb"]}`, "Content-Type", contentType), http.StatusBadRequest, oauth.InvalidClientMetadata)
	}
	require.Equal(t, http.StatusRequestEntityTooLarge, s.register("192.0.2.1", strings.Repeat("x", 9000)).Code)
	require.Empty(t, s.registered)
}

// TestFloodOfRegistrations: one address registers few clients, and others are not affected.
func TestFloodOfRegistrations(t *testing.T) {
	s := newAgentsServer(t)
	const body = `{"client_name":"Agent","redirect_uris":["http://127.0.0.1/cb"]}`
	for range 60 {
		require.Equal(t, http.StatusCreated, s.register("192.0.2.1", body).Code)
	}
	for range 1000 {
		w := s.register("192.0.2.1", body)
		requireError(t, w, http.StatusTooManyRequests, oauth.TemporarilyUnavailable)
		require.Equal(t, "10", w.Header().Get("Retry-After"))
	}
	require.Len(t, s.registered, 60)
	for n := range 12_000 {
		require.Equal(t, http.StatusCreated, s.register(fmt.Sprintf("10.0.%d.%d", n/256, n%256), body).Code)
	}
}

// TestNoRegistrations: with the setting agents off there is no such path.
func TestNoRegistrations(t *testing.T) {
	s := newTestServer(t, nil)
	require.Equal(t, http.StatusNotFound, s.register("192.0.2.1", `{"redirect_uris":["http://127.0.0.1/cb"]}`).Code)
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "OTHER"} {
		w := s.do(method, oauth.PathRegister)
		require.Equal(t, http.StatusNotFound, w.Code, method)
		require.JSONEq(t, `{"error":"not_found"}`, w.Body.String(), method)
		require.NotContains(t, w.Header(), "Allow", method)
		if method != "POST" && method != "OPTIONS" {
			require.Equal(t, http.StatusMethodNotAllowed, newAgentsServer(t).do(method, oauth.PathRegister).Code, method)
		}
	}
	require.Empty(t, s.registered)
	require.NotContains(t, s.do(http.MethodGet, oauth.PathMetadata).Body.String(), "registration")
}
