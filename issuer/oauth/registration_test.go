package oauth_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

func TestCheckPrivateURI(t *testing.T) {
	for _, good := range []string{
		"cursor://anysphere.cursor-mcp/oauth/callback", "com.example.app://cb", "vscode://x/y?z=1",
		"com.example.app://" + strings.Repeat("a", oauth.MaxRedirectURI-len("com.example.app://")),
		"cursor://anysphere.cursor-retrieval/oauth/user-bookings/callback", "vscode://vscode.github-authentication/did-authenticate?window=1%2F2",
	} {
		require.Empty(t, oauth.CheckPrivateURI(good), good)
	}
	for _, bad := range []string{
		"", "cursor", "cursor:cb", "http://127.0.0.1/cb", "https://example.com/cb", "HTTPS://example.com", "javascript://x", "JavaScript://x", "data://x",
		"file:///etc/passwd", "cursor://a#b", "cursor://a b", "Cursor://a/cb", "cursor://u@a/cb", "cursor://a/cb?code=1", "://x", "1x://a", "view-source://x",
		"microsoft-edge:https://evil.example/x", "firefox://open-url?url=https://evil.example", "x-safari-https://evil.example/x", "googlechromes://evil.example",
		"opera-http://evil.example", "microsoft-edge://evil.example", "app:https://evil.example", "app://open?url=https://evil.example",
		"app://open?url=https%3A%2F%2Fevil.example", "app://open?url=https%253A%252F%252Fevil.example", "app://open?url=//evil.example",
		"app://a//evil.example", "app:////evil.example", "app://open/https:/evil.example", "com.example.app://open?u=https://evil.example",
		`app://open?url=%5C%5Cevil.example`, "app://open?url=%2F%5Cevil.example", "app://open?url=https:%5Cevil.example", "app://open?url=%zz",
	} {
		require.NotEmpty(t, oauth.CheckPrivateURI(bad), bad)
	}
}

// TestIsAgentID: agents have a client_id that nobody has registered by hand.
func TestIsAgentID(t *testing.T) {
	for id, want := range map[string]bool{
		"https://agent.example/client": true, "mmd_AQ": true,
		"": false, "app": false, "http://agent.example/client": false, "mms_AQ": false, "mmd": false, "app-mmd_AQ": false,
	} {
		require.Equal(t, want, oauth.IsAgentID(id), id)
	}
}

func TestRegisteredHost(t *testing.T) {
	for _, c := range []struct {
		uri, host string
		ok        bool
	}{
		{"https://agent.example/cb", "agent.example", true},
		{"https://agent.example:8443/cb", "", false}, // the host of no publisher
		{"https://local/cb", "", false},              // not LocalPublisher
		{"https://127.0.0.1/cb", "", false},
		{"http://localhost:3000/cb", "", true},
		{"http://[::1]/cb", "", true},
		{"cursor://a/cb", "", true},
		{"http://agent.example/cb", "", false},
		{"https://agent.example/cb#x", "agent.example", false},
		{"https://agent.example/open?to=https://evil.example", "", false},
		{"https://agent.example/cb?", "", false},
		{"javascript:alert(1)", "", false},
		{"%", "", false},
	} {
		host, note := oauth.RegisteredHost(c.uri)
		require.Equal(t, c.ok, note == "", c.uri)
		if c.ok {
			require.Equal(t, c.host, host, c.uri)
		}
	}
}

// TestShareRegistration: copies of a program on different ports are one client.
func TestShareRegistration(t *testing.T) {
	require.Equal(t, []string{"cursor://a:1/cb", "http://127.0.0.1/cb", "https://agent.example:443/cb"},
		oauth.ShareRegistration([]string{"https://agent.example:443/cb", "http://127.0.0.1:3000/cb", "cursor://a:1/cb", "http://127.0.0.1:4000/cb"}))
	require.Equal(t, []string{"http://[::1]", "http://localhost/"}, oauth.ShareRegistration([]string{"http://localhost:1/", "http://[::1]:1"}))
}

// TestRegistrableURIs: URIs of hosts are left out beside those of a program, and nothing else is.
func TestRegistrableURIs(t *testing.T) {
	for _, c := range []struct{ asked, left []string }{
		{[]string{"https://vscode.dev/redirect", "https://insiders.vscode.dev/redirect", "http://127.0.0.1/", "http://127.0.0.1:33418/"}, []string{"http://127.0.0.1/", "http://127.0.0.1:33418/"}},
		{[]string{"cursor://a/cb", "https://cursor.example/cb"}, []string{"cursor://a/cb"}},
		{[]string{"https://agent.example/a", "https://agent.example/b"}, []string{"https://agent.example/a", "https://agent.example/b"}},
		{[]string{"https://agent.example/a", "http://evil.example/"}, []string{"https://agent.example/a", "http://evil.example/"}},
		{[]string{"https://agent.example/a", "javascript:alert(1)"}, []string{"https://agent.example/a", "javascript:alert(1)"}},
		{[]string{"http://localhost/", "http://evil.example/", "https://agent.example/a"}, []string{"http://localhost/", "http://evil.example/"}},
		{nil, nil},
	} {
		asked := slices.Clone(c.asked)
		require.Equal(t, c.left, oauth.RegistrableURIs(asked))
		require.Equal(t, c.asked, asked, "the argument is not changed")
	}
}
