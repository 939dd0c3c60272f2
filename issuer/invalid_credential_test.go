package issuer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestRubbishCostsABarrierOnlyWithASecret verifies that a request without valid
// authentication causes no log entry, and that a request with a correct secret is never
// refused on a stale view.
func TestRubbishCostsABarrierOnlyWithASecret(t *testing.T) {
	b := issuertest.New(t)
	const times = 50
	refused := func(err error, code oauth.Code) {
		t.Helper()
		var refused *oauth.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, code, refused.Code)
	}
	present := func(secret string, code oauth.Code) (entries uint64) {
		t.Helper()
		before := b.Node.Stats().Commit
		for range times {
			for _, r := range []oauth.TokenRequest{
				{GrantType: oauth.AuthorizationCode, Code: "rubbish", RedirectURI: redirect},
				{GrantType: oauth.RefreshToken, RefreshToken: "rubbish"},
			} {
				r.Client = oauth.ClientCredentials{ID: "app", Secret: secret}
				_, err := b.Token(t.Context(), r)
				refused(err, code)
			}
			// A revocation is decided in the same way.
			for _, token := range []string{"rubbish", "a.b.c"} {
				refused(b.Revoke(t.Context(), oauth.PresentedToken{Client: oauth.ClientCredentials{ID: "app", Secret: secret}, Token: token}), code)
			}
		}
		return b.Node.Stats().Commit - before
	}
	require.GreaterOrEqual(t, present("a-secret", oauth.InvalidGrant), uint64(4*times))
	require.Less(t, present("a-wrong-secret", oauth.InvalidClient), uint64(times), "only entries of the node itself")
	require.Less(t, present("", oauth.InvalidClient), uint64(times))
}
