package verifiertest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

func TestIssuerMintsGoodTokens(t *testing.T) {
	for _, alg := range []string{verifier.ES256, verifier.RS256, verifier.EdDSA} {
		t.Run(alg, func(t *testing.T) {
			issuer := verifiertest.NewIssuer()
			defer issuer.Close()
			issuer.RotateTo(alg)
			v, err := verifier.New(issuer.Config())
			require.NoError(t, err)
			defer v.Close()
			claims, err := v.Verify(context.Background(), issuer.Token(
				verifiertest.Scope("BOOKING_READ"), verifiertest.Subject("u"), verifiertest.ClientID("c"),
				verifiertest.ForAudience("other", verifiertest.Audience)))
			require.NoError(t, err)
			assert.Equal(t, "u", claims.Subject())
			assert.Equal(t, "c", claims.ClientID())
			assert.True(t, claims.Allows("BOOKING_READ"))
			assert.False(t, claims.Allows("BOOKING_WRITE"))

			claims, err = v.Verify(context.Background(), issuer.Token(verifiertest.Legacy()))
			require.NoError(t, err)
			assert.True(t, claims.Allows("BOOKING_WRITE"))

			_, err = v.Verify(context.Background(), issuer.Token(verifiertest.Expired()))
			assert.ErrorIs(t, err, verifier.ErrExpired)
			_, err = v.Verify(context.Background(), issuer.Token(verifiertest.Claim("jti", nil)))
			assert.ErrorIs(t, err, verifier.ErrInvalid)
			_, err = v.Verify(context.Background(), issuer.Token(verifiertest.Header("typ", "JWT")))
			assert.ErrorIs(t, err, verifier.ErrInvalid)
		})
	}
}

// The clock moves tokens and keys together.
func TestClock(t *testing.T) {
	clock := verifiertest.NewClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	issuer := verifiertest.NewIssuer()
	defer issuer.Close()
	issuer.Now = clock.Now
	v, err := verifier.New(issuer.Config())
	require.NoError(t, err)
	defer v.Close()
	ctx := context.Background()
	token := issuer.Token(verifiertest.ExpiresIn(time.Hour))
	_, err = v.Verify(ctx, token)
	require.NoError(t, err)
	clock.Advance(time.Hour + verifier.DefaultSkew)
	_, err = v.Verify(ctx, token)
	assert.ErrorIs(t, err, verifier.ErrExpired)

	issuer.Down()
	_, err = v.Verify(ctx, issuer.Token())
	assert.NoError(t, err, "a known key")
	clock.Advance(24 * time.Hour)
	_, err = v.Verify(ctx, issuer.Token())
	assert.ErrorIs(t, err, verifier.ErrKeysUnavailable)
	assert.False(t, v.State().Ready)
}

func TestClaims(t *testing.T) {
	claims := verifiertest.Claims(verifiertest.Subject("u"), verifiertest.Scope("BOOKING_READ"))
	assert.True(t, claims.Allows("BOOKING_READ"))
	assert.Equal(t, "u", claims.Subject())
	assert.Panics(t, func() { verifiertest.Claims(verifiertest.Expired()) })
	assert.Panics(t, func() { verifiertest.Scope("NO_SUCH_SCOPE") })
}

// The configuration of an issuer in memory reaches it, and no other host.
func TestInMemoryIssuerIsReachedByItsConfig(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // fails if anything waits for the network
		issuer := verifiertest.NewInMemoryIssuer()
		v, err := verifier.New(issuer.Config())
		require.NoError(t, err)
		defer v.Close()
		_, err = v.Verify(t.Context(), issuer.Token())
		require.NoError(t, err)
		require.Equal(t, 1, issuer.Fetches())
	})
}
