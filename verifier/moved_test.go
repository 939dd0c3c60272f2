package verifier_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

const movedTo = "https://new.example.com"

// While the public URL changes, tokens of both issuer identifiers are accepted, with the
// keys of Config.Issuer. A cached token gets the same answer.
func TestMoreIssuers(t *testing.T) {
	mintmark := verifiertest.NewInMemoryIssuer()
	c := mintmark.Config()
	c.MoreIssuers = []string{movedTo}
	v, err := verifier.New(c)
	require.NoError(t, err)
	defer v.Close()
	for _, iss := range []string{mintmark.URL, movedTo} {
		token := mintmark.Token(verifiertest.Claim("iss", iss))
		for range 2 {
			claims, err := v.Verify(t.Context(), token)
			require.NoError(t, err, iss)
			assert.Equal(t, iss, claims.Issuer())
		}
	}
	for _, iss := range []string{movedTo + "/", movedTo + ".", "HTTPS://new.example.com", "https://other.example.com", mintmark.URL + " " + movedTo} {
		assert.Equal(t, verifier.ReasonIssuer, reason(t, v, mintmark.Token(verifiertest.Claim("iss", iss))), iss)
	}
	assert.Equal(t, verifier.ReasonClaims, reason(t, v, mintmark.Token(verifiertest.Claim("iss", []string{mintmark.URL, movedTo}))), "iss is one string")
}

// The keys of another authorization server at a listed URL are not fetched, and its
// tokens are refused even with a kid of Config.Issuer's.
func TestMoreIssuersAddNoKeys(t *testing.T) {
	mintmark, other := verifiertest.NewIssuer(), verifiertest.NewIssuer()
	defer mintmark.Close()
	defer other.Close()
	c := mintmark.Config()
	c.MoreIssuers = []string{other.URL}
	v, err := verifier.New(c)
	require.NoError(t, err)
	defer v.Close()
	require.NoError(t, v.Ready(t.Context()))
	ours := must(verifier.ParseJWKS(mintmark.KeySet()))[0].ID()
	for _, iss := range []string{mintmark.URL, other.URL} {
		assert.Equal(t, verifier.ReasonUnknownKey, reason(t, v, other.Token(verifiertest.Claim("iss", iss))), iss)
		assert.Equal(t, verifier.ReasonSignature, reason(t, v, other.Token(verifiertest.Claim("iss", iss), verifiertest.Header("kid", ours))), iss)
	}
	assert.Zero(t, other.Fetches())
	accepted(t, v, mintmark.Token(verifiertest.Claim("iss", other.URL)))
}

// The feed of revocations has the new issuer identifier as soon as the public URL has
// changed. It is accepted if the new identifier is listed, and applies to tokens of both.
func TestRevocationsOfAMovedIssuer(t *testing.T) {
	mintmark := verifiertest.NewIssuer()
	defer mintmark.Close()
	c := mintmark.Config()
	before := mintmark.Token(verifiertest.ClientID("client-2"))
	mintmark.URL = movedTo // in tokens and the feed; the address stays
	after := mintmark.Token(verifiertest.ClientID("client-2"))
	c.Revocations = mintmark.RevocationsConfig()

	strict, err := verifier.New(c)
	require.NoError(t, err)
	defer strict.Close()
	c.MoreIssuers = []string{movedTo}
	v, err := verifier.New(c)
	require.NoError(t, err)
	defer v.Close()

	require.Eventually(t, v.RevocationsFresh, 10*time.Second, time.Millisecond)
	accepted(t, v, before)
	accepted(t, v, after)
	mintmark.RevokeClient("client-2")
	for _, token := range []string{before, after} {
		require.Eventually(t, func() bool {
			_, err := v.Verify(t.Context(), token)
			return err != nil
		}, 10*time.Second, time.Millisecond)
		assert.Equal(t, verifier.ReasonRevoked, reason(t, v, token))
	}
	require.Eventually(t, func() bool { return strict.Revocations().Err != nil }, 10*time.Second, time.Millisecond)
	assert.ErrorContains(t, strict.Revocations().Err, "iss is another issuer")
	assert.False(t, strict.RevocationsFresh())
}

func TestMoreAudiences(t *testing.T) {
	mintmark := verifiertest.NewInMemoryIssuer()
	c := mintmark.Config()
	c.MoreAudiences = []string{"https://old-api.example.com"}
	v, err := verifier.New(c)
	require.NoError(t, err)
	defer v.Close()
	for _, aud := range [][]string{{verifiertest.Audience}, c.MoreAudiences, {"x", c.MoreAudiences[0]}, {c.MoreAudiences[0], verifiertest.Audience}} {
		accepted(t, v, mintmark.Token(verifiertest.ForAudience(aud...)))
	}
	for _, aud := range [][]string{{"x"}, {"x", "https://old-api.example.com/"}, {verifiertest.Audience + " https://old-api.example.com"}} {
		assert.Equal(t, verifier.ReasonAudience, reason(t, v, mintmark.Token(verifiertest.ForAudience(aud...))), aud)
	}
}

// New copies the lists: a change of them afterwards changes no verifier.
func TestConfigIsReadOnce(t *testing.T) {
	mintmark := verifiertest.NewInMemoryIssuer()
	c := mintmark.Config()
	c.MoreIssuers, c.MoreAudiences = make([]string, 1, 8), make([]string, 1, 8)
	c.MoreIssuers[0], c.MoreAudiences[0] = movedTo, "x"
	v, err := verifier.New(c)
	require.NoError(t, err)
	defer v.Close()
	c.MoreIssuers[0], c.MoreAudiences[0] = "https://attacker.example.com", "y"
	assert.Equal(t, verifier.ReasonIssuer, reason(t, v, mintmark.Token(verifiertest.Claim("iss", c.MoreIssuers[0]))))
	assert.Equal(t, verifier.ReasonAudience, reason(t, v, mintmark.Token(verifiertest.ForAudience("y"))))
}

// SkipAudience is for the authorization server itself: a token of any audience is accepted,
// and one without an audience is not.
func TestSkipAudience(t *testing.T) {
	mintmark := verifiertest.NewInMemoryIssuer()
	c := mintmark.Config()
	c.SkipAudience = true
	_, err := verifier.New(c)
	require.ErrorContains(t, err, "SkipAudience", "with an audience the option has no meaning")
	c.Audience, c.MoreAudiences = "", []string{"x"}
	_, err = verifier.New(c)
	require.ErrorContains(t, err, "SkipAudience")
	c.MoreAudiences = nil
	v, err := verifier.New(c)
	require.NoError(t, err)
	defer v.Close()
	for _, aud := range []any{verifiertest.Audience, "https://mcp.example.com", []string{"x", "y"}} {
		accepted(t, v, mintmark.Token(verifiertest.Claim("aud", aud)))
	}
	for _, aud := range []any{[]string{}, nil} {
		require.NotEmpty(t, reason(t, v, mintmark.Token(verifiertest.Claim("aud", aud))), "%v", aud)
	}
	assert.Equal(t, verifier.ReasonIssuer, reason(t, v, mintmark.Token(verifiertest.Claim("iss", movedTo))))
}

// A verifier of one resource server accepts the tokens for it, and neither those for another
// one nor those for the cluster's audience (RFC 8707 §2).
func TestAudienceOfAResourceServer(t *testing.T) {
	mintmark := verifiertest.NewInMemoryIssuer()
	c := mintmark.Config()
	c.Audience = "https://mcp.example.com/mcp"
	v, err := verifier.New(c)
	require.NoError(t, err)
	defer v.Close()
	accepted(t, v, mintmark.Token(verifiertest.Claim("aud", c.Audience)))
	for _, aud := range []string{mintmark.URL, "https://files.example.com", c.Audience + "/", "https://mcp.example.com", "HTTPS://mcp.example.com/mcp"} {
		assert.Equal(t, verifier.ReasonAudience, reason(t, v, mintmark.Token(verifiertest.Claim("aud", aud))), aud)
	}
}
