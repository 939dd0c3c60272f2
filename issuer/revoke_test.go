package issuer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestGenuineRevocations verifies which refused revocations are reported as genuine, so that
// the endpoint doesn't count them: those whose client has authenticated, and whose token this
// server issued.
func TestGenuineRevocations(t *testing.T) {
	b := issuertest.New(t)
	live, old := b.Exchange(), b.Exchange()
	present := func(secret, token string) *oauth.Error {
		t.Helper()
		err := b.Revoke(t.Context(), oauth.PresentedToken{Client: oauth.ClientCredentials{ID: "app", Secret: secret}, Token: token})
		var refused *oauth.Error
		require.ErrorAs(t, err, &refused)
		return refused
	}
	check := func(when string, secret, token string, code oauth.Code, genuine bool) {
		t.Helper()
		refused := present(secret, token)
		require.Equal(t, code, refused.Code, when)
		require.Equal(t, genuine, refused.Genuine, when)
	}
	for _, token := range []string{live.AccessToken, live.RefreshToken, "rubbish", "a.b.c"} {
		for _, secret := range []string{"wrong", ""} {
			check("not authenticated", secret, token, oauth.InvalidClient, false)
		}
	}
	check("no token of this server", "a-secret", "rubbish", oauth.InvalidGrant, false)
	check("no resource server reads the feed", "a-secret", live.AccessToken, oauth.UnsupportedTokenType, true)
	b.Offset.Store(int64(time.Hour + oauth.AccessTokenLifetime*time.Second))
	check("expired", "a-secret", old.AccessToken, oauth.InvalidGrant, true)
	check("expired, with a wrong secret", "wrong", old.AccessToken, oauth.InvalidClient, false)
}
