package issuer_test

import (
	"context"
	"encoding/base64"
	"fmt"
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
// except that the use of the secret is recorded once a minute: not earlier, even if another
// minute of the clock has begun, and again afterwards.
func TestIntrospectionIsOneCommandAMinute(t *testing.T) {
	b := issuertest.New(t)
	// register returns the number of commands before.
	register := func(name string) uint64 {
		secret, err := b.Secret("mms_" + name)
		require.NoError(t, err)
		b.Accept(&ledger.PutResourceServer{Actor: ledger.Actor{Operator: true}, ID: "https://" + name + ".example", Name: name, Secret: &secret})
		return b.View().ResourceServerNamed(name).CreatedSeq - 1
	}
	introspectAs := func(name, token string) oauth.Introspection {
		a, err := b.Introspect(t.Context(), oauth.PresentedToken{
			Client: oauth.ClientCredentials{ID: name, Secret: "mms_" + name}, Token: token,
		})
		require.NoError(t, err)
		return a
	}
	used := func(name string) time.Time {
		return b.View().ResourceServerNamed(name).Secrets[0].Used.Std().UTC()
	}
	minute := time.Now().UTC().Truncate(time.Minute).Add(2 * time.Minute)
	setClock := func(after time.Duration) { b.Offset.Store(int64(time.Until(minute.Add(after)))) }
	register("api")
	live := b.Exchange()
	setClock(30 * time.Second)
	introspect := func(token string) oauth.Introspection { return introspectAs("api", token) }

	first := introspect(live.AccessToken)
	require.True(t, first.Active)
	require.Eventually(t, func() bool { return used("api").Equal(minute) }, 10*time.Second, time.Millisecond)
	before, own := register("flush"), uint64(1)
	// commands returns the number of commands since then, without its own. Uses are recorded in
	// their order: once that of a new resource server is, all before are.
	commands := func() uint64 {
		name := fmt.Sprintf("flush%d", own)
		register(name)
		introspectAs(name, live.AccessToken)
		require.Eventually(t, func() bool { return used(name).Unix() > 0 }, 10*time.Second, time.Millisecond)
		n := register(name+"end") - before - own - 2
		own += 3
		return n
	}
	for _, later := range []time.Duration{0, 55 * time.Second} {
		setClock(30*time.Second + later)
		for range 5 {
			require.Equal(t, first, introspect(live.AccessToken))
			require.Equal(t, oauth.Introspection{}, introspect(live.RefreshToken), "a resource server learns nothing about refresh tokens")
		}
		require.Zero(t, commands(), "an introspection is no command")
		require.Equal(t, minute, used("api"), later)
	}
	for n := range uint64(3) {
		setClock(30*time.Second + time.Duration(n+1)*61*time.Second)
		for range 5 {
			introspect(live.AccessToken)
		}
		next := minute.Add(time.Duration(n+1) * time.Minute)
		require.Eventually(t, func() bool { return used("api").Equal(next) }, 10*time.Second, time.Millisecond)
		require.Equal(t, n+1, commands(), "one a minute")
	}

	_, err := b.Introspect(t.Context(), oauth.PresentedToken{Client: oauth.ClientCredentials{ID: "api", Secret: "mms_other"}, Token: live.AccessToken})
	var refused *oauth.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, oauth.InvalidClient, refused.Code)
	require.Equal(t, uint16(ledger.SecretWrong), refused.Cause)

	id, _ := ledger.ParseGrantID(first.GrantID)
	b.Accept(&ledger.RevokeGrant{Actor: ledger.Actor{Operator: true}, Grant: id})
	require.Equal(t, oauth.Introspection{}, introspect(live.AccessToken))
}
