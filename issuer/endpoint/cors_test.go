package endpoint_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

const spa = "https://spa.example"

// TestPreflight covers Fetch §4.8: a preflight permits every origin, no credentials, and no
// header that could carry a secret.
func TestPreflight(t *testing.T) {
	s := newTestServer(t, nil)
	for _, path := range []string{oauth.PathToken, oauth.PathRevoke} {
		w := s.do(http.MethodOptions, path, "Origin", spa, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type")
		require.Equal(t, http.StatusNoContent, w.Code)
		require.Equal(t, http.Header{
			"Allow": {"POST, OPTIONS"}, "Access-Control-Allow-Origin": {"*"}, "Access-Control-Allow-Methods": {"POST"},
			"Access-Control-Allow-Headers": {"Content-Type, *"}, "Access-Control-Max-Age": {"7200"},
			"Vary": {"Origin, Access-Control-Request-Method, Access-Control-Request-Headers"},
		}, w.Header(), path)
		for _, plain := range [][]string{
			nil,
			{"Origin", spa},
			{"Access-Control-Request-Method", "POST"},
			{"Origin", spa, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type"},
		} {
			w := s.do(http.MethodOptions, path, plain...)
			require.Equal(t, http.StatusNoContent, w.Code)
			require.Equal(t, http.Header{"Allow": {"POST, OPTIONS"}, "Vary": {"Origin, Access-Control-Request-Method, Access-Control-Request-Headers"}}, w.Header(), path)
		}
	}
	for _, path := range []string{oauth.PathJWKS, oauth.PathMetadata, oauth.PathOpenAPI, "/.well-known/oauth-protected-resource" + oauth.PathMe} {
		w := s.do(http.MethodOptions, path, "Origin", spa, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "mcp-protocol-version")
		require.Equal(t, http.StatusNoContent, w.Code, path)
		require.Equal(t, "GET, HEAD", w.Header().Get("Access-Control-Allow-Methods"))
		require.Equal(t, "GET, HEAD, OPTIONS", s.do(http.MethodOptions, path).Header().Get("Allow"))
	}
}

// TestExposedResponses verifies that scripts can read every response to a public client, and
// none to a request that carried a secret, nor one to an introspection.
func TestExposedResponses(t *testing.T) {
	for name, c := range map[string]struct {
		body    string
		headers []string
		exposed bool
	}{
		"public client":          {"client_id=app&token=t&grant_type=refresh_token&refresh_token=t", nil, true},
		"malformed":              {"client_id=app", nil, true},
		"secret in the body":     {"client_id=app&client_secret=s&token=t&grant_type=refresh_token&refresh_token=t", nil, false},
		"secret by Basic":        {"token=t&grant_type=refresh_token&refresh_token=t", []string{"Authorization", basic("app:s")}, false},
		"Basic without a secret": {"token=t&grant_type=refresh_token&refresh_token=t", []string{"Authorization", basic("app:")}, false},
		"malformed, with secret": {"client_id=app&client_secret=s", nil, false},
		"another scheme":         {"client_id=app&token=t", []string{"Authorization", "Bearer x"}, false},
		"no client":              {"token=t", nil, false},
		"repeated parameter":     {"client_id=app&client_id=app&client_secret=s", nil, false},
		"unreadable":             {"client_id=app&client_secret=%zz", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{oauth.PathToken, oauth.PathRevoke, oauth.PathIntrospect} {
				for _, err := range []error{nil, &oauth.Error{Code: oauth.InvalidClient}, &oauth.Error{Code: oauth.InvalidGrant}, oauth.ErrUnavailable} {
					s := newTestServer(t, nil)
					s.err = err
					r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(c.body))
					h := s.send(r, append(c.headers, "Content-Type", typeForm, "Origin", spa)...).Header()
					require.NotContains(t, h, "Access-Control-Allow-Credentials")
					require.NotContains(t, h, "Vary")
					if !c.exposed || path == oauth.PathIntrospect {
						require.NotContains(t, h, "Access-Control-Allow-Origin")
						require.NotContains(t, h, "Access-Control-Expose-Headers")
						continue
					}
					require.Equal(t, "*", h.Get("Access-Control-Allow-Origin"))
					require.Equal(t, "Retry-After", h.Get("Access-Control-Expose-Headers"))
				}
			}
		})
	}
}
