package issuer_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// introspect introspects a token as the client "app".
func introspect(ctx context.Context, b *issuertest.Issuer, token string) (oauth.Introspection, error) {
	return b.Introspect(ctx, oauth.PresentedToken{Client: oauth.ClientCredentials{ID: "app", Secret: "a-secret"}, Token: token})
}

// TestIntrospectionUnderADroppedKey verifies that a node that still has a leaked signing key
// in its keyring reports no token under that key as active.
func TestIntrospectionUnderADroppedKey(t *testing.T) {
	b := issuertest.New(t)
	leaked := b.Exchange().AccessToken
	b.Close() // nothing opens keys, or closes dropped ones
	active := func(token string) bool {
		t.Helper()
		a, err := introspect(t.Context(), b, token)
		require.NoError(t, err)
		return a.Active
	}
	require.True(t, active(leaked))
	next, err := b.Keyring.Add(t.Context(), ledger.ForSigning)
	require.NoError(t, err)
	require.NoError(t, b.Keyring.Reopen())
	b.Accept(&ledger.AcknowledgeKeys{Node: b.Node.ID(), Opened: b.Keyring.Ring().Opened(), Version: "test"})
	b.Accept(&ledger.ActivateKey{ID: next, Voters: []string{b.Node.ID()}, Emergency: true})
	kid := issuertest.KeyID(t, leaked)
	b.Accept(&ledger.DropKey{ID: kid, Emergency: true})
	require.NotNil(t, b.Keyring.Ring().Signer(kid), "this node still has the leaked key")
	require.False(t, active(leaked))
	require.True(t, active(b.Exchange().AccessToken))
}

// TestIntrospectionWithoutKeys verifies that a token whose key this node can't look up is not
// reported as inactive.
func TestIntrospectionWithoutKeys(t *testing.T) {
	b := issuertest.New(t)
	parts := strings.Split(b.Exchange().AccessToken, ".")
	header := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","kid":"newer","typ":"at+jwt"}`))
	unknown := strings.Join([]string{header, parts[1], parts[2]}, ".")
	a, err := introspect(t.Context(), b, unknown)
	require.NoError(t, err)
	require.False(t, a.Active, "no node has such a key")
	for {
		<-time.After(250 * time.Millisecond) // the keyring waits this long between reloads, so the next reload starts at once
		began := time.Now()
		require.NoError(t, b.Keyring.Reload(t.Context()))
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err = introspect(ctx, b, unknown)
		cancel()
		if time.Since(began) < 250*time.Millisecond { // no other reload has started meanwhile
			break
		}
	}
	require.ErrorIs(t, err, oauth.ErrUnavailable)
}

// TestIntrospectionIsOneCommandAMinute verifies that an introspection needs no command,
// except that the use of the secret is recorded once a minute.
func TestIntrospectionIsOneCommandAMinute(t *testing.T) {
	b := issuertest.New(t)
	secret, err := b.Secret("mms_secret")
	require.NoError(t, err)
	b.Accept(&ledger.PutResourceServer{Actor: ledger.Actor{Operator: true}, ID: "https://api.example", Name: "api", Secret: &secret})
	live := b.Exchange()
	introspect := func(token string) oauth.Introspection {
		a, err := b.Introspect(t.Context(), oauth.PresentedToken{
			Client: oauth.ClientCredentials{ID: "api", Secret: "mms_secret"}, Token: token,
		})
		require.NoError(t, err)
		return a
	}
	used := func() ledger.Time { return b.View().ResourceServer("https://api.example").Secrets[0].Used }

	first := introspect(live.AccessToken)
	require.True(t, first.Active)
	require.Eventually(t, func() bool { return used() > 0 }, 10*time.Second, time.Millisecond)
	index := b.Node.LastMeta().Seq
	for range 20 {
		require.Equal(t, first, introspect(live.AccessToken))
		require.Equal(t, oauth.Introspection{}, introspect(live.RefreshToken), "a resource server learns nothing about refresh tokens")
	}
	require.Equal(t, index, b.Node.LastMeta().Seq, "an introspection is no command")

	_, err = b.Introspect(t.Context(), oauth.PresentedToken{Client: oauth.ClientCredentials{ID: "api", Secret: "mms_other"}, Token: live.AccessToken})
	var refused *oauth.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, oauth.InvalidClient, refused.Code)
	require.Equal(t, uint16(ledger.SecretWrong), refused.Cause)

	id, _ := ledger.ParseGrantID(first.GrantID)
	b.Accept(&ledger.RevokeGrant{Actor: ledger.Actor{Operator: true}, Grant: id})
	require.Equal(t, oauth.Introspection{}, introspect(live.AccessToken))
}
