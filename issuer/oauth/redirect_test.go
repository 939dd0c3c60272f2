package oauth_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

func TestCheckRedirectURI(t *testing.T) {
	for uri, want := range map[string]string{ // part of the reason, "" for a valid URI
		"https://app.example/cb":                     "",
		"https://app.example":                        "",
		"https://app.example:8443/cb?x=1":            "",
		"http://localhost/cb":                        "",
		"http://localhost:8080/cb":                   "",
		"http://127.0.0.1/cb":                        "",
		"http://[::1]:9/cb":                          "",
		"com.example.app:/cb":                        "public",
		"":                                           "empty",
		"/cb":                                        "absolute",
		"//app.example/cb":                           "absolute",
		"https://app.example/cb#f":                   "part after #",
		"https://app.example/cb#":                    "part after #",
		"https://user@app.example/cb":                "user information",
		"https://user:pw@app.example/":               "user information",
		"http://app.example/cb":                      "https",
		"http://127.0.0.2/cb":                        "https",
		"http://localhost.example/cb":                "https",
		"https:///cb":                                "host",
		"https:app.example/cb":                       "host",
		"https://*.example/cb":                       "wildcard",
		"https://app.example:0/cb":                   "port",
		"https://app.example:0443/cb":                "port",
		"http://127.0.0.1:08080/cb":                  "port",
		"https://app.example:99999/cb":               "port",
		"https://app.example:18446744073709551617/":  "port",
		"https://app.example:/cb":                    "port",
		"HTTPS://app.example/cb":                     "lower case",
		"javascript:alert(1)":                        "private-use scheme",
		"data:text/html,x":                           "private-use scheme",
		"myapp:/cb":                                  "private-use scheme",
		"https://app.example/a b":                    "character",
		"https://app.example/\u00e4":                 "character",
		"https://app.example/\\evil":                 "character",
		"https://app.example/\r\nX: y":               "character",
		"https://" + strings.Repeat("a", 1024) + "/": "1,024",
	} {
		reason := oauth.CheckRedirectURI(uri, false)
		if want == "" {
			require.Empty(t, reason, uri)
			continue
		}
		require.Contains(t, reason, want, uri)
	}
	require.Empty(t, oauth.CheckRedirectURI("com.example.app:/cb", true))
	require.NotEmpty(t, oauth.CheckRedirectURI("javascript:alert(1)", true))
}

// TestCheckRedirectURIAsABrowserGoes verifies that a registered URI is safe for browsers and
// leaves the response unambiguous.
func TestCheckRedirectURIAsABrowserGoes(t *testing.T) {
	for uri, want := range map[string]string{
		"https://App-1.example:8443/cb?x=1&codes=2&y=code#":      "part after #",
		"https://App-1.example:8443/cb?x=1&codes=2&y=code":       "",
		"https://xn--bcher-kva.example/cb'":                      "",
		"https://[2001:db8::1]:8443/cb":                          "",
		"https://192.0.2.1/cb":                                   "",
		"http://[::1]:9/cb?x":                                    "",
		"com.example.app:/cb":                                    "",
		"com.example.app:/cb?code=1":                             "parameter code",
		"https://x.example'/cb":                                  "host with other",
		"https://x.example;script-src/cb":                        "host with other",
		"https://a,b.example/cb":                                 "host with other",
		"https://a_b.example/cb":                                 "host with other",
		"https://x.example./cb":                                  "host with other",
		"https://x..example/cb":                                  "host with other",
		"https://x%2eexample/cb":                                 "absolute",
		"https://x%E2%80%AE.example/cb":                          "host with other",
		"https://[fe80::1%25eth0]/cb":                            "no IP address",
		"https://[192.0.2.1]/cb":                                 "absolute",
		"https://x.example/cb?code":                              "parameter code",
		"https://x.example/cb?a=b&state=":                        "parameter state",
		"https://x.example/cb?%65rror=1":                         "parameter error",
		"https://x.example/cb?error_description=1":               "parameter error_description",
		"https://x.example/cb?error_uri=1":                       "parameter error_uri",
		"https://x.example/cb?x=%zz&iss=https%3A%2F%2Fx.example": "parameter iss",
	} {
		reason := oauth.CheckRedirectURI(uri, true)
		if want == "" {
			require.Empty(t, reason, uri)
			continue
		}
		require.Contains(t, reason, want, uri)
	}
}

func TestSameOrigin(t *testing.T) {
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"https://app.example/cb", "https://app.example", true},
		{"https://app.example:443/cb", "https://APP.example", true},
		{"http://127.0.0.1:80", "http://127.0.0.1/x", true},
		{"http://[0:0:0:0:0:0:0:1]:8080/cb", "http://[::1]:8080", true},
		{"http://localhost:8080/cb", "http://127.0.0.1:8080", true},
		{"http://LOCALHOST:8080/cb", "http://[0::1]:8080", true},
		{"http://localhost/cb", "http://127.0.0.1:8080", false},
		{"http://127.0.0.2:8080", "http://127.0.0.1:8080", false},
		{"http://localhost.example", "http://localhost", false},
		{"https://app.example:8443/cb", "https://app.example", false},
		{"http://localhost/cb", "https://localhost", false},
		{"https://app.example.org/cb", "https://app.example", false},
		{"com.example:/cb", "com.example:/cb", false},
		{"https://app.example/cb", "", false},
		{"", "", false},
		{"%", "%", false},
	} {
		require.Equal(t, test.same, oauth.SameOrigin(test.a, test.b), "%s %s", test.a, test.b)
		require.Equal(t, test.same, oauth.SameOrigin(test.b, test.a), "%s %s", test.b, test.a)
	}
}

// FuzzCheckRedirectURI verifies that an accepted URI has a valid host and no parameter of the
// response.
func FuzzCheckRedirectURI(f *testing.F) {
	f.Add("https://x.example'/cb?code=1")
	f.Add("https://[::1]:8/cb?%63ode")
	f.Fuzz(func(t *testing.T, uri string) {
		if oauth.CheckRedirectURI(uri, true) != "" {
			return
		}
		require.Regexp(t, `^(([A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\])(:[0-9]+)?|[a-z0-9.+-]+)$`, oauth.RedirectHost(uri))
		u, err := url.Parse(uri)
		require.NoError(t, err)
		for _, name := range []string{"code", "state", "error", "error_description", "error_uri", "iss"} {
			require.False(t, u.Query().Has(name))
		}
	})
}

func TestMatchRedirectURI(t *testing.T) {
	for _, test := range []struct {
		registered, requested string
		public, want          bool
	}{
		{"https://a/cb", "https://a/cb", false, true},
		{"https://a/cb", "https://a/cb/", false, false},
		{"https://a/cb", "https://a/cb?x=1", false, false},
		{"https://a/cb", "http://a/cb", false, false},
		{"https://a/cb", "https://A/cb", false, false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:5555/cb", true, true},
		{"http://127.0.0.1:80/cb", "http://127.0.0.1:5555/cb", true, true},
		{"http://127.0.0.1:80/cb", "http://127.0.0.1/cb", true, true},
		{"http://[::1]/cb", "http://[::1]:5555/cb", true, true},
		{"http://127.0.0.1/cb", "http://127.0.0.1:5555/cb", false, false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:5555/other", true, false},
		{"http://127.0.0.1/cb", "http://[::1]:5555/cb", true, false},
		{"http://localhost/cb", "http://localhost:5555/cb", true, true},
		{"http://localhost:80/cb?a", "http://localhost/cb?a", true, true},
		{"http://localhost/cb", "http://localhost:5555/cb", false, false},
		{"http://localhost/cb", "http://127.0.0.1:5555/cb", true, false},
		{"http://localhost/cb", "http://localhost.example.com:5555/cb", true, false},
		{"https://localhost/cb", "https://localhost:5555/cb", true, false},
		{"https://127.0.0.1/cb", "https://127.0.0.1:5555/cb", true, false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:/cb", true, false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:0/cb", true, false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:70000/cb", true, false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:5555@evil.example/cb", true, false},
		{"http://127.0.0.1/cb", "http://127.0.0.1.evil.example/cb", true, false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:5555/cb#f", true, false},
		{"http://localhost", "http://localhost:5555", true, true},
		{"http://localhost?a", "http://localhost:5555?a", true, true},
		// URIs that can't be registered.
		{"http://localhost:80x/cb", "http://localhost:90x/cb", true, false},
		{"http://localhost/cb#f", "http://localhost:5555/cb#f", true, false},
		{"http://localhost/\u00e4", "http://localhost:5555/\u00e4", true, false},
	} {
		require.Equal(t, test.want, oauth.MatchRedirectURI(test.registered, test.requested, test.public),
			"%s against %s, public %v", test.requested, test.registered, test.public)
	}
}

// FuzzMatchRedirectURI verifies that matching URIs differ at most in the port and have the
// same host.
func FuzzMatchRedirectURI(f *testing.F) {
	f.Add("http://127.0.0.1/cb", "http://127.0.0.1:5555/cb")
	f.Add("http://[::1]:1/cb?x", "http://[::1]/cb?x")
	f.Add("http://localhost:1/cb", "http://localhost:2/cb")
	f.Fuzz(func(t *testing.T, registered, requested string) {
		if oauth.CheckRedirectURI(registered, true) != "" || !oauth.MatchRedirectURI(registered, requested, true) {
			return
		}
		a, err := url.Parse(registered)
		require.NoError(t, err)
		b, err := url.Parse(requested)
		require.NoError(t, err)
		require.Equal(t, a.Hostname(), b.Hostname())
		require.Nil(t, b.User)
		require.Empty(t, b.Fragment)
		require.Equal(t, a.RequestURI(), b.RequestURI())
	})
}

func TestRedirectHost(t *testing.T) {
	require.Equal(t, "a:8443", oauth.RedirectHost("https://a:8443/cb?x"))
	require.Equal(t, "localhost:8080", oauth.RedirectHost("http://localhost:8080/cb"))
	require.Equal(t, "com.example.app", oauth.RedirectHost("com.example.app:/cb"))
	require.Empty(t, oauth.RedirectHost("%"))
}

func TestIsLoopback(t *testing.T) {
	for uri, want := range map[string]bool{
		"http://127.0.0.1:8080/cb": true, "http://localhost/cb": true, "http://[::1]/cb": true,
		"https://localhost/cb": false, "http://127.0.0.1.example.com/cb": false, "com.example.app:/cb": false, "": false,
	} {
		require.Equal(t, want, oauth.IsLoopback(uri), uri)
	}
}

func TestCheckHost(t *testing.T) {
	for host, want := range map[string]string{
		"app.example":     "",
		"[2001:db8::1]:8": "",
		"":                "has no host",
		"app.example:0":   "has a bad port",
		"[192.0.2.1]":     "has a host that is no IP address",
		"[fe80::1%eth0]":  "has a host that is no IP address",
	} {
		require.Equal(t, want, oauth.CheckHost(&url.URL{Scheme: "https", Host: host}), host)
	}
}
