package oauth_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

func TestParseAuthorizationRequest(t *testing.T) {
	const query = "client_id=app&redirect_uri=https%3A%2F%2Fa%2Fcb&scope=A+B&state=x%2By&response_type=code&code_challenge=c&code_challenge_method=S256&foo=bar"
	r, refused := oauth.ParseAuthorizationRequest(query)
	require.Nil(t, refused)
	require.Equal(t, oauth.AuthorizationRequest{
		ClientID: "app", RedirectURI: "https://a/cb", Scope: "A B", State: "x+y",
		ResponseType: "code", CodeChallenge: "c", CodeChallengeMethod: "S256",
	}, r)

	again, refused := oauth.ParseAuthorizationRequest(r.Query())
	require.Nil(t, refused)
	require.Equal(t, r, again)

	for name, bad := range map[string]string{
		"client_id twice":    query + "&client_id=app",
		"redirect_uri twice": query + "&redirect_uri=x",
		"a bad escape":       query + "&x=%zz",
		"too long":           query + "&x=" + strings.Repeat("a", oauth.MaxQuery),
	} {
		_, refused := oauth.ParseAuthorizationRequest(bad)
		require.NotNil(t, refused, name)
	}

	r, refused = oauth.ParseAuthorizationRequest(query + "&scope=C")
	require.Nil(t, refused)
	require.Equal(t, oauth.InvalidRequest, r.Fault.Code)
	require.Equal(t, "x+y", r.State)
	r, _ = oauth.ParseAuthorizationRequest(query + "&state=other")
	require.NotNil(t, r.Fault)
	require.Empty(t, r.State, "a repeated state was returned")

	r, refused = oauth.ParseAuthorizationRequest(query + "&resource=https://a")
	require.Nil(t, refused)
	require.Equal(t, "https://a", r.Resource)
	again, refused = oauth.ParseAuthorizationRequest(r.Query())
	require.Nil(t, refused)
	require.Equal(t, r, again)
	r, _ = oauth.ParseAuthorizationRequest(query + "&resource=https://a&resource=https://b")
	require.Equal(t, oauth.InvalidTarget, r.Fault.Code, "RFC 8707 §2 permits several: it is the target that is refused")
	r, _ = oauth.ParseAuthorizationRequest(query + "&scope=C&resource=https://a&resource=https://b")
	require.Equal(t, oauth.InvalidRequest, r.Fault.Code, "the first fault counts")
}

// TestQuery verifies that only necessary characters are escaped, so that rewriting a query
// doesn't make it longer.
func TestQuery(t *testing.T) {
	require.Equal(t, "client_id=app", (&oauth.AuthorizationRequest{ClientID: "app"}).Query())
	r := oauth.AuthorizationRequest{ClientID: "a b\x1f\x7f\u00e9", State: "%&+#~!=/?;"}
	require.Equal(t, "client_id=a+b%1F%7F%C3%A9&state=%25%26%2B%23~!=/?;", r.Query())
}

// TestRepeatedParameter verifies that parameters after a repeated one are parsed too.
func TestRepeatedParameter(t *testing.T) {
	r, refused := oauth.ParseAuthorizationRequest("client_id=app&scope=A&scope=B&state=x")
	require.Nil(t, refused)
	require.NotNil(t, r.Fault)
	require.Equal(t, "A", r.Scope)
	require.Equal(t, "x", r.State)
}

func TestLocation(t *testing.T) {
	r := oauth.AuthorizationResponse{RedirectURI: "https://a/cb", Code: "c", State: "a b\r\nX: y", Issuer: "https://i"}
	require.Equal(t, "https://a/cb?code=c&state=a+b%0D%0AX%3A+y&iss=https%3A%2F%2Fi", r.Location())
	r = oauth.AuthorizationResponse{RedirectURI: "https://a/cb?x=1", Error: &oauth.Error{Code: oauth.AccessDenied, Description: "No."}, Issuer: "https://i"}
	require.Equal(t, "https://a/cb?x=1&error=access_denied&error_description=No.&iss=https%3A%2F%2Fi", r.Location())
}

// FuzzAuthorizationRequest verifies that a parsed request can be rewritten and parsed to the
// same request, and that state arrives in the redirect unchanged.
func FuzzAuthorizationRequest(f *testing.F) {
	f.Add("client_id=app&redirect_uri=https%3A%2F%2Fa%2Fcb&scope=A+B&state=x%2By")
	f.Add("state=%ff%00&state=&client_id")
	f.Fuzz(func(t *testing.T, query string) {
		r, refused := oauth.ParseAuthorizationRequest(query)
		if refused != nil {
			return
		}
		location := oauth.AuthorizationResponse{RedirectURI: "https://a/cb", Code: "c", State: r.State, Issuer: "i"}.Location()
		u, err := url.Parse(location)
		require.NoError(t, err)
		require.Equal(t, r.State, u.Query().Get("state"))
		fault := r.Fault
		again, refused := oauth.ParseAuthorizationRequest(r.Query())
		if refused == nil { // the rewritten query may be longer than the limit
			again.Fault = fault
			require.Equal(t, r, again)
		}
	})
}
