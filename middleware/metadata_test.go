package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/middleware"
)

// RFC 9728 §3: the document, its location, and its URL in the challenge.
func TestConformance_PM01_metadata(t *testing.T) {
	m, err := middleware.NewMetadata(middleware.MetadataConfig{
		Resource:             "https://api.example.com/v2",
		AuthorizationServers: []string{"https://auth.example.com"},
		Scopes:               []string{"BOOKING_READ", "PROFILE_READ"},
		Name:                 "Scheduling",
		Documentation:        "https://api.example.com/docs",
	})
	require.NoError(t, err)
	assert.Equal(t, "/.well-known/oauth-protected-resource/v2", m.Path())
	assert.Equal(t, "https://api.example.com/.well-known/oauth-protected-resource/v2", m.URL())

	ask := func(method string, headers ...string) *http.Response {
		r := httptest.NewRequest(method, m.Path(), nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return do(m, r)
	}
	res := ask("GET")
	require.Equal(t, 200, res.StatusCode)
	assert.Equal(t, "application/json", res.Header.Get("Content-Type"))
	assert.Equal(t, "*", res.Header.Get("Access-Control-Allow-Origin"))
	assert.JSONEq(t, `{
		"resource": "https://api.example.com/v2",
		"authorization_servers": ["https://auth.example.com"],
		"scopes_supported": ["BOOKING_READ", "PROFILE_READ"],
		"bearer_methods_supported": ["header"],
		"resource_name": "Scheduling",
		"resource_documentation": "https://api.example.com/docs"
	}`, body(t, res))

	assert.Empty(t, body(t, ask("HEAD")))
	assert.Equal(t, 304, ask("GET", "If-None-Match", res.Header.Get("ETag")).StatusCode)
	res = ask("POST")
	assert.Equal(t, 405, res.StatusCode)
	assert.Equal(t, "GET, HEAD", res.Header.Get("Allow"))

	issuer := newIssuer()
	defer issuer.Close()
	h := middleware.New(issuer.verifier(), middleware.Config{ResourceMetadata: m.URL()}).Require("BOOKING_READ")(who)
	assert.Equal(t, m.URL(), readChallenge(t, do(h, request()))["resource_metadata"])
}

func TestMetadataPlace(t *testing.T) {
	for resource, want := range map[string]string{
		"https://api.example.com":      "https://api.example.com/.well-known/oauth-protected-resource",
		"https://api.example.com/":     "https://api.example.com/.well-known/oauth-protected-resource",
		"https://api.example.com/a/b":  "https://api.example.com/.well-known/oauth-protected-resource/a/b",
		"https://api.example.com:8443": "https://api.example.com:8443/.well-known/oauth-protected-resource",
		"http://127.0.0.1:8090":        "http://127.0.0.1:8090/.well-known/oauth-protected-resource",
	} {
		m, err := middleware.NewMetadata(middleware.MetadataConfig{Resource: resource, AuthorizationServers: []string{"https://auth.example.com"}})
		require.NoError(t, err)
		assert.Equal(t, want, m.URL())
		assert.JSONEq(t, `{"resource":"`+resource+`","authorization_servers":["https://auth.example.com"],"bearer_methods_supported":["header"]}`,
			body(t, do(m, httptest.NewRequest("GET", m.Path(), nil))), "empty members are omitted")
	}
}

func TestMetadataRefuses(t *testing.T) {
	good := middleware.MetadataConfig{Resource: "https://api.example.com", AuthorizationServers: []string{"https://auth.example.com"}}
	tests := []struct {
		name   string
		change func(*middleware.MetadataConfig)
	}{
		{"no resource", func(c *middleware.MetadataConfig) { c.Resource = "" }},
		{"http", func(c *middleware.MetadataConfig) { c.Resource = "http://api.example.com" }},
		{"no host", func(c *middleware.MetadataConfig) { c.Resource = "https:///v2" }},
		{"fragment", func(c *middleware.MetadataConfig) { c.Resource += "#x" }},
		{"empty fragment", func(c *middleware.MetadataConfig) { c.Resource += "#" }},
		{"query", func(c *middleware.MetadataConfig) { c.Resource += "?x=y" }},
		{"userinfo", func(c *middleware.MetadataConfig) { c.Resource = "https://u:p@api.example.com" }},
		{"no issuer", func(c *middleware.MetadataConfig) { c.AuthorizationServers = nil }},
		{"issuer over http", func(c *middleware.MetadataConfig) { c.AuthorizationServers = []string{"http://auth.example.com"} }},
		{"other letters", func(c *middleware.MetadataConfig) { c.Resource = "https://kalender-für-alle.example" }},
		{"quotation mark", func(c *middleware.MetadataConfig) { c.Resource = `https://api.example.com/"` }},
		{"scope that is not of resources", func(c *middleware.MetadataConfig) { c.Scopes = []string{"BOOKING_READ", "offline_access"} }},
		{"unknown scope", func(c *middleware.MetadataConfig) { c.Scopes = []string{"BOOKINGS"} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := good
			tt.change(&c)
			m, err := middleware.NewMetadata(c)
			require.Error(t, err)
			assert.Nil(t, m)
		})
	}
}
