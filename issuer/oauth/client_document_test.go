package oauth_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

func TestCheckDocumentURL(t *testing.T) {
	for _, valid := range []string{
		"https://claude.ai/oauth/claude-code-client-metadata",
		"https://vscode.dev/oauth/client-metadata.json",
		"https://xn--bcher-kva.example/client",
		"https://a.b.c.example.com/a/b/c%20d",
	} {
		require.Empty(t, oauth.CheckDocumentURL(valid), valid)
	}
	for _, refused := range []string{
		"",
		"app",
		"http://example.com/client",
		"HTTPS://example.com/client",
		"https://example.com",
		"https://example.com/",
		"https://example.com/client?a=b",
		"https://example.com/client?",
		"https://example.com/client#",
		"https://example.com/client#part",
		"https://user@example.com/client",
		"https://user:password@example.com/client",
		"https://example.com/a/../client",
		"https://example.com/./client",
		"https://example.com/%2e%2e/client",
		"https://example.com/a/%2E/client",
		"https://example.com//client",
		"https://example.com/%63lient",
		"https://example.com/a%2fb%",
		"https://example.com:443/client",
		"https://example.com:8443/client",
		"https://example.com:/client",
		"https://EXAMPLE.com/client",
		"https://example.com./client",
		"https://.example.com/client",
		"https://example..com/client",
		"https://exa_mple.com/client",
		"https://bücher.example/client",
		"https://ｅxample.com/client",
		"https://example。com/client",
		"https://localhost/client",
		"https://app.localhost/client",
		"https://printer.local/client",
		"https://metadata.google.internal/client",
		"https://1.0.0.127.in-addr.arpa/client",
		"https://intranet/client",
		"https://127.0.0.1/client",
		"https://127.1/client",
		"https://2130706433/client",
		"https://0x7f000001/client",
		"https://0x7f.0.0.1/client",
		"https://0177.0.0.1/client",
		"https://93.184.216.34/client",
		"https://[::1]/client",
		"https://[::ffff:7f00:1]/client",
		"https://[2606:4700::1111]/client",
		"https://[fe80::1%25eth0]/client",
		"https://example.com\\@evil.example/client",
		"https://example.com/client ",
		"https://example.com/cl\tient",
		"https://" + strings.Repeat("a", 64) + ".com/client",
		"https://example.com/" + strings.Repeat("a", 512),
	} {
		require.NotEmpty(t, oauth.CheckDocumentURL(refused), refused)
	}
	require.Equal(t, "must be an https URL", oauth.CheckDocumentURL("http://localhost/client"), "unlike the identifier of a resource server")
	require.Equal(t, "must have a path", oauth.CheckDocumentURL("https://example.com"))
}

// TestCheckDocumentRedirectURI verifies that the code goes to the document's host, or to a program
// on the user's computer.
func TestCheckDocumentRedirectURI(t *testing.T) {
	const other = "is neither of the document's host nor of the loopback"
	for uri, want := range map[string]string{
		"https://agent.example/cb?a=b":        "",
		"http://127.0.0.1:3000/cb":            "",
		"http://localhost/cb":                 "",
		"https://other.example/cb":            other,
		"https://agent.example:8443/cb":       other,
		"https://agent.example.evil.test/cb":  other,
		"https://sub.agent.example/cb":        other,
		"https://localhost/cb":                other,
		"agent.example:/cb":                   other, // a private-use scheme
		"agent.example://agent.example/cb":    other,
		"http://agent.example/cb":             "must be https; http is for localhost, 127.0.0.1 and [::1] only",
		"https://user@agent.example/cb":       "has user information",
		"https://agent.example/cb?code=1":     "has the parameter code in its query, which the answer adds",
		"https://agent.example/cb#":           "must not have a part after #",
		"https://agent.example:agent.test/cb": "is not an absolute URI",
	} {
		require.Equal(t, want, oauth.CheckDocumentRedirectURI(uri, "agent.example"), uri)
	}
}

// TestCheckPublisher refuses a host with brackets or a port, and what is no name of the public DNS.
func TestCheckPublisher(t *testing.T) {
	label := strings.Repeat("a", 63) + "."
	longest := label + label + label + strings.Repeat("b", 61) // 253 characters
	for _, accepted := range []string{"example.com", "1.example.com", "example.a1", longest} {
		require.Empty(t, oauth.CheckPublisher(accepted), accepted)
	}
	for _, refused := range []string{
		"", "[", "]", "[]", "[.]", "[:]", "[1]", "[example.com]", "[127.0.0.1]", "[::1", "[::1]", "[::1].com", "[::1]:443",
		"[::ffff:127.0.0.1]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[v1.a]", "[example.com", "example.com]", "example.com:443", "example.com:",
		"EXAMPLE.com", "example.COM", longest + "b", "example.0x7f", "example.-com",
	} {
		require.NotEmpty(t, oauth.CheckPublisher(refused), refused)
	}
}

// FuzzCheckDocumentURL checks that an accepted URL is its own canonical spelling.
func FuzzCheckDocumentURL(f *testing.F) {
	f.Add("https://example.com/client")
	f.Add("https://0x7f.1/client")
	f.Fuzz(func(t *testing.T, clientID string) {
		if oauth.CheckDocumentURL(clientID) != "" {
			return
		}
		u, err := url.Parse(clientID)
		require.NoError(t, err)
		require.Equal(t, clientID, u.String())
		require.Equal(t, oauth.DocumentHost(clientID), u.Host)
		require.Nil(t, u.User)
		require.Empty(t, u.Port())
		require.Empty(t, u.RawQuery)
	})
}
