package oauth_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

func TestCheckResource(t *testing.T) {
	for uri, want := range map[string]string{
		"https://api.example.com":                             "",
		"https://api.example.com:8443":                        "",
		"https://api.example.com/v2":                          "",
		"https://api.example.com/v2/":                         "",
		"https://api.example.com/a%20b":                       "",
		"https://api.example.com/a%2Fb":                       "",
		"https://[2001:db8::1]/v2":                            "",
		"http://localhost:8081":                               "",
		"http://127.0.0.1/v2":                                 "",
		"http://[::1]:8081/v2":                                "",
		"":                                                    "must be an https URI",
		"api.example.com":                                     "must be an https URI",
		"urn:example:api":                                     "must be an https URI",
		"com.example.app:/api":                                "must be an https URI",
		"http://api.example.com":                              "must be https; http is for localhost, 127.0.0.1 and [::1] only",
		"https:///v2":                                         "has no host",
		"https://*.example.com":                               "has a wildcard in its host",
		"https://api.example.com#a":                           "must not have a part after #",
		"https://api.example.com?a=b":                         "must not have a query",
		"https://api.example.com?":                            "must not have a query",
		"https://user@api.example.com":                        "has user information",
		"https://api.example.com:0":                           "has a bad port",
		"https://api.example.com/":                            "must be written as https://api.example.com",
		"https://api.example.com//":                           "must be written as https://api.example.com",
		"https://API.example.com/V2":                          "must be written as https://api.example.com/V2",
		"HTTPS://api.example.com":                             "must have its scheme in lower case",
		"https://api.example.com:443/v2":                      "must be written as https://api.example.com/v2",
		"http://localhost:80":                                 "must be written as http://localhost",
		"https://api.example.com/a/../v2":                     "must be written as https://api.example.com/v2",
		"https://api.example.com/./v2":                        "must be written as https://api.example.com/v2",
		"https://api.example.com//v2":                         "must be written as https://api.example.com/v2",
		"https://api.example.com/%76%32":                      "must be written as https://api.example.com/v2",
		"https://api.example.com/%c3%a9":                      "must be written as https://api.example.com/%C3%A9",
		"https://[2001:DB8:0:0:0:0:0:1]/v2":                   "must be written as https://[2001:db8::1]/v2",
		"https://api.example.com/" + strings.Repeat("a", 489): "is longer than 512 bytes",
		"https://api.example.com/é":                           "holds a space, a control character or a character outside ASCII",
	} {
		require.Equal(t, want, oauth.CheckResource(uri), uri)
	}
}

// FuzzCheckResource verifies that an accepted identifier has only one spelling, and that
// the spelling in a refusal is accepted.
func FuzzCheckResource(f *testing.F) {
	for _, uri := range []string{"https://api.example.com/v2", "http://[::1]:80/%2f%7E/..", "https://a.example/;x=%41//b/./", "https://A:443"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		note := oauth.CheckResource(uri)
		if other, ok := strings.CutPrefix(note, "must be written as "); ok {
			require.Empty(t, oauth.CheckResource(other), "the refusal suggests %q instead of %q", other, uri)
			return
		}
		if note != "" {
			return
		}
		u, err := url.Parse(uri)
		require.NoError(t, err)
		require.Equal(t, uri, u.String())
		require.Empty(t, u.RawQuery+u.Fragment)
		require.Nil(t, u.User)
		require.Equal(t, strings.ToLower(u.Host), u.Host)
	})
}

// FuzzResourceSpellings verifies that a resource parameter matches its own text, and that
// text with one slash more or less at the end. The parameter is not parsed.
func FuzzResourceSpellings(f *testing.F) {
	for _, resource := range []string{"", "/", "https://a.example", "https://a.example//", "https://A.example:443/%2f/../", "https://a.example/?x#y", "\x00/"} {
		f.Add(resource)
	}
	f.Fuzz(func(t *testing.T, resource string) {
		spellings := oauth.ResourceSpellings(resource)
		require.Equal(t, resource, spellings[0])
		longer, shorter := spellings[0], spellings[1]
		if len(longer) < len(shorter) {
			longer, shorter = shorter, longer
		}
		require.Equal(t, longer, shorter+"/")
		require.Equal(t, strings.HasSuffix(resource, "/"), resource == longer, "a slash is added only if there is none")
	})
}
