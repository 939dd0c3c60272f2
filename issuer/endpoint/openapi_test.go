package endpoint_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/julienschmidt/httprouter"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/endpoint"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// routes records what is registered.
type routes map[string]bool

func (r routes) Handle(method, path string, _ httprouter.Handle) { r[method+" "+path] = true }
func (r routes) Handler(method, path string, _ http.Handler)     { r[method+" "+path] = true }

// TestOpenAPIHasEveryRoute verifies that every route has an operation, and the reverse. The
// other operations are compared where their routes are: the authorization step in cmd/mintmark,
// monitoring in cmd/mintmark/internal/server.
func TestOpenAPIHasEveryRoute(t *testing.T) {
	s := newTestServer(t, func(s *testServer) { s.config.Revocations = polled{} })
	registered, described := routes{}, routes{}
	endpoint.New(s.config).Register(registered)
	text := endpoint.OpenAPI("https://api.example.com", "https://app.example.com")
	doc, err := openapi3.NewLoader().LoadFromData(text)
	require.NoError(t, err)
	require.NoError(t, doc.Validate(t.Context()))
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if tag := operation.Tags[0]; tag != "Authorization" && tag != "Monitoring" {
				described[method+" "+path] = true
			}
		}
	}
	require.Equal(t, registered, described)
	require.NotContains(t, string(text), "_url}")
	require.Equal(t, "https://app.example.com"+oauth.PathAuthorize, doc.Components.SecuritySchemes["oauth"].Value.Flows.AuthorizationCode.AuthorizationURL)
	for name := range doc.Components.SecuritySchemes["oauth"].Value.Flows.AuthorizationCode.Scopes {
		_, err := scope.Of(name)
		require.NoError(t, err)
	}
}

// TestOpenAPIDescribesTheMetadata verifies that the description has every member of the
// metadata, and no other.
func TestOpenAPIDescribesTheMetadata(t *testing.T) {
	metadata := oauth.DescribeServer("https://api.example.com", "https://app.example.com", []string{"A"})
	metadata.Documents, metadata.RegistrationEndpoint = true, "https://api.example.com"+oauth.PathRegister
	metadata.PolicyURI, metadata.TermsURI = "https://example.com/privacy", "https://example.com/terms"
	text, err := json.Marshal(metadata)
	require.NoError(t, err)
	var members map[string]any
	require.NoError(t, json.Unmarshal(text, &members))
	var doc struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	require.NoError(t, json.Unmarshal(endpoint.OpenAPI("", ""), &doc))
	described := doc.Components.Schemas["ServerMetadata"].Properties
	for name := range members {
		require.Contains(t, described, name)
	}
	require.Len(t, described, len(members))
}

func TestOpenAPIIsServed(t *testing.T) {
	s := newTestServer(t, nil)
	w := s.do(http.MethodGet, oauth.PathOpenAPI)
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	require.Equal(t, "*", w.Header().Get("Access-Control-Allow-Origin"))
	require.True(t, strings.Contains(w.Body.String(), `"servers": [{"url": "`+s.issuer.URL+`"}]`), w.Body)
	etag := w.Header().Get("ETag")
	require.NotEmpty(t, etag)
	require.Equal(t, http.StatusNotModified, s.do(http.MethodGet, oauth.PathOpenAPI, "If-None-Match", etag).Code)
}
