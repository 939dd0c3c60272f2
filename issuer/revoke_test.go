package issuer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestRevocationTellsNothingOfOthers verifies that another client's token is refused and
// counted like a value that is no token, whether that token is valid or not and whether
// the feed is on or off.
func TestRevocationTellsNothingOfOthers(t *testing.T) {
	b := issuertest.New(t)
	secret, err := b.Secret("thief-secret")
	require.NoError(t, err)
	b.Accept(&ledger.ImportClient{
		ID: "thief", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved, Secrets: []ledger.NewSecret{secret},
		Profile: ledger.Profile{Name: "Thief", RedirectURIs: []string{issuertest.RedirectURI}, Scopes: []string{"PROFILE_READ"}},
	})
	live, dead := b.Exchange(), b.Exchange()
	app, thief := oauth.ClientCredentials{ID: "app", Secret: "a-secret"}, oauth.ClientCredentials{ID: "thief", Secret: "thief-secret"}
	require.NoError(t, b.Revoke(t.Context(), oauth.PresentedToken{Client: app, Token: dead.RefreshToken}))
	check := func(when string, tokens ...string) {
		t.Helper()
		for _, token := range append(tokens, "rubbish", "a.b.c", live.AccessToken[:len(live.AccessToken)-6]+"AAAAAA") {
			var refused *oauth.Error
			require.ErrorAs(t, b.Revoke(t.Context(), oauth.PresentedToken{Client: thief, Token: token}), &refused, when)
			require.Equal(t, oauth.InvalidGrant, refused.Code, when)
			require.False(t, refused.Genuine, when)
		}
		_, err := b.Token(t.Context(), oauth.TokenRequest{GrantType: oauth.RefreshToken, Client: thief, RefreshToken: live.RefreshToken})
		var refused *oauth.Error
		require.ErrorAs(t, err, &refused, when)
		require.False(t, refused.Genuine, "at the token endpoint")
	}
	check("the feed is off", live.AccessToken, live.RefreshToken, dead.AccessToken, dead.RefreshToken)
	readers, err := b.Secret("r-secret")
	require.NoError(t, err)
	b.Accept(&ledger.PutResourceServer{Actor: ledger.Actor{Operator: true}, ID: "https://calendar.example", Name: "calendar", New: true, Secret: &readers})
	check("the feed is on", live.AccessToken, live.RefreshToken, dead.AccessToken, dead.RefreshToken)
	require.NoError(t, b.Revoke(t.Context(), oauth.PresentedToken{Client: app, Token: dead.AccessToken}), "an invalid token of the client itself")
	b.Offset.Store(int64(time.Hour + oauth.AccessTokenLifetime*time.Second))
	check("expired", live.AccessToken, dead.AccessToken)
}

// TestKnowsSecret verifies secrets by the node's own state, without a leader.
func TestKnowsSecret(t *testing.T) {
	b := issuertest.New(t)
	require.True(t, b.KnowsSecret(oauth.ClientCredentials{ID: "app", Secret: "a-secret"}))
	for _, c := range []oauth.ClientCredentials{{ID: "app", Secret: "wrong"}, {ID: "app"}, {ID: "nobody", Secret: "a-secret"}} {
		require.False(t, b.KnowsSecret(c))
	}
}

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
