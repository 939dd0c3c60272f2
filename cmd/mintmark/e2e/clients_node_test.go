package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A grantReport is the report of a script of clients/ about the life of a grant.
type grantReport struct {
	First, Second, Third struct {
		AccessToken  string  `json:"access_token"`
		RefreshToken string  `json:"refresh_token"`
		TokenType    string  `json:"token_type"`
		ExpiresIn    float64 `json:"expires_in"`
		Scope        string  `json:"scope"`
	}
	Profile struct {
		Status string
		Data   struct{ ID, Username string }
	}
	Claims  map[string]any
	Refused map[string]refused
}

// A refused is an error of a client library.
type refused struct {
	Kind, Code, Error, Scheme, Message string
	Status                             int
}

// TestNodeClients: two certified client libraries go through the whole life of a grant,
// with every client authentication method.
func TestNodeClients(t *testing.T) {
	s := start(t, fixtures(""))
	for _, script := range []string{"oauth4webapi.mjs", "openid-client.mjs"} {
		for _, c := range []struct{ name, method, client, secret string }{
			{"basic", "client_secret_basic", "cal-app", "cal-app-secret"},
			{"basic, a secret that must be encoded", "client_secret_basic", "cal-app", oddSecret},
			{"post", "client_secret_post", "cal-app", "cal-app-secret"},
			{"post, a secret that must be encoded", "client_secret_post", "cal-app", oddSecret},
			{"public", "none", "native-app", ""},
		} {
			t.Run(script+"/"+c.name, func(t *testing.T) {
				args := map[string]string{
					"issuer": s.Issuer, "audience": s.BaseURL, "method": c.method,
					"clientId": c.client, "secret": c.secret,
					"redirectURI": callback, "scope": "PROFILE_READ BOOKING_READ",
				}
				var story grantReport
				runNode(t, script, args, alice(t), &story)
				checkReport(t, story, c.method)
				if script == "oauth4webapi.mjs" { // verifies access tokens too (RFC 9068 §4)
					require.Equal(t, "u-alice", story.Claims["sub"])
					require.Equal(t, c.client, story.Claims["client_id"])
					require.Equal(t, "PROFILE_READ BOOKING_READ", story.Claims["scope"])
				}
			})
		}
	}
}

func checkReport(t *testing.T, story grantReport, method string) {
	t.Helper()
	require.Equal(t, "bearer", story.First.TokenType)
	require.Equal(t, 1800.0, story.First.ExpiresIn)
	require.Equal(t, "PROFILE_READ BOOKING_READ", story.First.Scope)
	require.Equal(t, "PROFILE_READ BOOKING_READ", story.Second.Scope)
	require.Equal(t, "PROFILE_READ", story.Third.Scope)
	require.NotEqual(t, story.First.RefreshToken, story.Second.RefreshToken)
	require.NotEqual(t, story.Second.RefreshToken, story.Third.RefreshToken)
	require.NotEqual(t, story.First.AccessToken, story.Second.AccessToken)
	require.Equal(t, "success", story.Profile.Status)
	require.Equal(t, "u-alice", story.Profile.Data.ID)
	require.Equal(t, "alice", story.Profile.Data.Username)

	// Manipulated metadata and responses that the library refuses.
	for name, about := range map[string]string{
		"otherIssuer": "issuer", "wrongState": `"state"`, "mixedUp": `"iss"`, "noIssuer": `"iss"`,
	} {
		got := story.Refused[name]
		require.Contains(t, []string{"OperationProcessingError", "ClientError"}, got.Kind, "%s: %+v", name, got)
		require.Contains(t, got.Message, about, name)
	}
	cancelled := story.Refused["cancelled"]
	require.Equal(t, "AuthorizationResponseError", cancelled.Kind, "%+v", cancelled)
	require.Equal(t, "access_denied", cancelled.Error)

	// Refusals of the server, as the library reports them.
	for name, code := range map[string]string{
		"wrongVerifier": "invalid_grant", "codeAgain": "invalid_grant", "afterwards": "invalid_grant", "wider": "invalid_scope",
	} {
		got := story.Refused[name]
		require.Equal(t, "ResponseBodyError", got.Kind, "%s: %+v", name, got)
		require.Equal(t, code, got.Error, "%s: %+v", name, got)
		require.Equal(t, 400, got.Status, "%s: %+v", name, got)
	}
	switch wrong := story.Refused["wrongSecret"]; method {
	case "client_secret_basic": // the challenge that RFC 6749 §5.2 requires
		require.Equal(t, "WWWAuthenticateChallengeError", wrong.Kind, "%+v", wrong)
		require.Equal(t, "basic", wrong.Scheme)
		require.Equal(t, 401, wrong.Status)
	case "client_secret_post":
		require.Equal(t, "ResponseBodyError", wrong.Kind, "%+v", wrong)
		require.Equal(t, "invalid_client", wrong.Error)
		require.Equal(t, 401, wrong.Status)
	}
	tampered := story.Refused["tampered"] // RFC 6750 §3.1
	require.Equal(t, "WWWAuthenticateChallengeError", tampered.Kind, "%+v", tampered)
	require.Equal(t, "bearer", tampered.Scheme)
	require.Equal(t, "invalid_token", tampered.Error)
	require.Equal(t, 401, tampered.Status)
}
