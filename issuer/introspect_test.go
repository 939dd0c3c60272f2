package issuer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier"
)

// TestIntrospectionIsOneCommandAMinute verifies that an introspection answers without a
// command, and that the use of the secret is noted once a minute.
func TestIntrospectionIsOneCommandAMinute(t *testing.T) {
	b := issuertest.New(t)
	secret, err := b.Secret("mms_secret")
	require.NoError(t, err)
	b.Accept(&ledger.PutResourceServer{Actor: ledger.Actor{Operator: true}, ID: "https://api.example", Name: "api", Secret: &secret})
	live := b.Exchange()
	s := b.View().Settings()
	v, err := verifier.New(verifier.Config{Issuer: s.BaseURL, Audience: s.Audience, Keys: b.Keyring, Now: b.Clock})
	require.NoError(t, err)
	claims, err := v.Verify(t.Context(), live.AccessToken)
	require.NoError(t, err)
	introspect := func(claims *verifier.Claims, token string) oauth.Introspection {
		a, err := b.Introspect(t.Context(), oauth.PresentedToken{
			Client: oauth.ClientCredentials{ID: "api", Secret: "mms_secret"}, Token: token,
		}, claims)
		require.NoError(t, err)
		return a
	}
	used := func() ledger.Time { return b.View().ResourceServer("https://api.example").Secrets[0].Used }

	require.True(t, introspect(claims, live.AccessToken).Active)
	require.Eventually(t, func() bool { return used() > 0 }, 10*time.Second, time.Millisecond)
	index := b.Node.LastMeta().Seq
	for range 20 {
		a := introspect(claims, live.AccessToken)
		require.Equal(t, claims.GrantID(), a.GrantID)
		require.Equal(t, claims.ID(), a.ID)
		require.Equal(t, oauth.Introspection{}, introspect(nil, live.RefreshToken), "a resource server learns nothing about refresh tokens")
	}
	require.Equal(t, index, b.Node.LastMeta().Seq, "an introspection is no command")

	_, err = b.Introspect(t.Context(), oauth.PresentedToken{Client: oauth.ClientCredentials{ID: "api", Secret: "mms_other"}, Token: live.AccessToken}, claims)
	var refused *oauth.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, oauth.InvalidClient, refused.Code)
	require.Equal(t, uint16(ledger.SecretWrong), refused.Cause)

	id, _ := ledger.ParseGrantID(claims.GrantID())
	b.Accept(&ledger.RevokeGrant{Actor: ledger.Actor{Operator: true}, Grant: id})
	require.Equal(t, oauth.Introspection{}, introspect(claims, live.AccessToken))
}
