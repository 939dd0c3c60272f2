package clientdoc_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/clientdoc"
)

// TestRefusedDocuments: each of these documents is refused for one reason.
func TestRefusedDocuments(t *testing.T) {
	set := func(name string, value any) func(map[string]any) {
		return func(d map[string]any) { d[name] = value }
	}
	for _, c := range []struct {
		name   string
		change func(map[string]any)
		reason clientdoc.Reason
	}{
		{"another client_id", set("client_id", "https://example.com/other"), clientdoc.OtherClientID},
		{"client_id with a slash more", set("client_id", agentURL+"/"), clientdoc.OtherClientID},
		{"no client_id", set("client_id", nil), clientdoc.OtherClientID},
		{"a number as client_id", set("client_id", 1), clientdoc.NotJSON},
		{"a secret", set("client_secret", "s"), clientdoc.HasSecret},
		{"the expiry of a secret", set("client_secret_expires_at", 0), clientdoc.HasSecret},
		{"client_secret_basic", set("token_endpoint_auth_method", "client_secret_basic"), clientdoc.MethodNotOffered},
		{"private_key_jwt", set("token_endpoint_auth_method", "private_key_jwt"), clientdoc.MethodNotOffered},
		{"no name", set("client_name", ""), clientdoc.NameMissing},
		{"no redirect URIs", set("redirect_uris", []string{}), clientdoc.RedirectURIsMissing},
		{"one redirect URI as text", set("redirect_uris", "https://example.com/cb"), clientdoc.NotJSON},
		{"a redirect URI of another host", set("redirect_uris", []string{"https://evil.example/cb"}), clientdoc.RedirectURIRefused},
		{"a redirect URI of a subdomain", set("redirect_uris", []string{"https://a.example.com/cb"}), clientdoc.RedirectURIRefused},
		{"a redirect URI with a port", set("redirect_uris", []string{"https://example.com:8443/cb"}), clientdoc.RedirectURIRefused},
		{"a redirect URI in http", set("redirect_uris", []string{"http://example.com/cb"}), clientdoc.RedirectURIRefused},
		{"a private-use redirect URI", set("redirect_uris", []string{"com.example.app:/cb"}), clientdoc.RedirectURIRefused},
		{"a redirect URI of a private network", set("redirect_uris", []string{"http://10.0.0.1/cb"}), clientdoc.RedirectURIRefused},
		{"javascript", set("redirect_uris", []string{"javascript:alert(1)"}), clientdoc.RedirectURIRefused},
		{"user information", set("redirect_uris", []string{"https://example.com@evil.example/cb"}), clientdoc.RedirectURIRefused},
		{"one good redirect URI and null", set("redirect_uris", []any{"https://example.com/cb", nil}), clientdoc.RedirectURIRefused},
	} {
		_, err := clientdoc.Parse(documentOf(agentURL, c.change), agentURL)
		require.NotNil(t, err, c.name)
		require.Equal(t, c.reason, err.Reason, c.name)
	}
	for _, text := range []string{
		``, `null`, `[]`, `"text"`, `{`, `{}{}`, `{} x`,
		`{"client_id":"https://example.com/client","client_id":"https://example.com/client"}`,
		`{"client_id":"https://example.com/client","x":{"a":1,"\u0061":2}}`,
		`{"x":[{"a":1},{"b":{"c":1,"c":2}}]}`,
		"{\"client_name\":\"\xff\"}",
		strings.Repeat(`{"a":`, 500) + "1",
	} {
		_, err := clientdoc.Parse([]byte(text), agentURL)
		require.NotNil(t, err, text)
		require.Equal(t, clientdoc.NotJSON, err.Reason, text)
	}
}

// TestDocumentsAreCut: values that this service does not support are removed from a
// document.
func TestDocumentsAreCut(t *testing.T) {
	for _, change := range []func(map[string]any){
		func(d map[string]any) { delete(d, "token_endpoint_auth_method") },
		func(d map[string]any) {
			d["token_endpoint_auth_method"] = "private_key_jwt"
			d["token_endpoint_auth_methods_supported"] = []string{"none", "private_key_jwt"}
		},
		func(d map[string]any) { d["response_types"] = []string{"code", "token"} },
		func(d map[string]any) { d["CLIENT_ID"] = "https://evil.example/x" },
		func(d map[string]any) { d["client_uri"] = "https://evil.example" },
		func(d map[string]any) {
			d["redirect_uris"] = []string{"http://localhost:1234/cb", "http://localhost:1234/cb"}
		},
	} {
		d, err := clientdoc.Parse(documentOf(agentURL, change), agentURL)
		require.Nil(t, err)
		require.NotContains(t, d.Website, "evil")
		require.Equal(t, agentURL, d.ClientID)
	}
}

// FuzzParse verifies what is true of every accepted document.
func FuzzParse(f *testing.F) {
	f.Add(documentOf(agentURL, nil))
	f.Add([]byte(`{"client_id":"https://example.com/client","client_name":"\ud800","redirect_uris":["http://[::1]:1/x"]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := clientdoc.Parse(body, agentURL)
		if err != nil {
			return
		}
		var members map[string]any
		require.NoError(t, json.Unmarshal(body, &members))
		require.Equal(t, agentURL, members["client_id"])
		require.NotEmpty(t, d.Name)
		require.NotEmpty(t, d.RedirectURIs)
		for _, uri := range d.RedirectURIs {
			u, err := url.Parse(uri)
			require.NoError(t, err)
			if u.Scheme != "http" {
				require.Equal(t, "https://example.com", u.Scheme+"://"+u.Host)
				continue
			}
			require.Contains(t, []string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
		}
	})
}
