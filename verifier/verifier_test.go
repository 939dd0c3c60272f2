package verifier_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

func derSignature(signed string) []byte {
	digest := sha256.Sum256([]byte(signed))
	return must(ecdsa.SignASN1(rand.Reader, ecKey(), digest[:]))
}

func TestNewRefusesAnIncompleteConfig(t *testing.T) {
	keys, err := verifier.StaticKeys(published())
	require.NoError(t, err)
	good := verifier.Config{Issuer: issuer, Audience: audience, Keys: keys}
	tests := []struct {
		name   string
		change func(*verifier.Config)
		want   string
	}{
		{"issuer", func(c *verifier.Config) { c.Issuer = "" }, "Config.Issuer"},
		{"audience", func(c *verifier.Config) { c.Audience = "" }, "Config.Audience"},
		{"keys that can't be had", func(c *verifier.Config) { c.Keys, c.Issuer = nil, "http://auth.example.com" }, "JWKSConfig.URL"},
		{"issuer of another scheme", func(c *verifier.Config) { c.Issuer = "ftp://auth.example.com" }, "Config.Issuer is not an absolute http URL"},
		{"issuer without a host", func(c *verifier.Config) { c.Issuer = "auth.example.com" }, "Config.Issuer is not an absolute http URL"},
		{"issuer with userinfo", func(c *verifier.Config) { c.Issuer = "https://a@auth.example.com" }, "Config.Issuer is not an absolute http URL"},
		{"issuer with a query", func(c *verifier.Config) { c.Issuer = "https://auth.example.com?x" }, "Config.Issuer has a query"},
		{"issuer with a fragment", func(c *verifier.Config) { c.Issuer = "https://auth.example.com#" }, "Config.Issuer has a query or a fragment"},
		{"issuer with a slash", func(c *verifier.Config) { c.Issuer = "https://auth.example.com/" }, "Config.Issuer ends with a slash"},
		{"issuer that is no URL", func(c *verifier.Config) { c.Issuer = "https://auth\x7f" }, "Config.Issuer is no URL"},
		{"issuer with an empty port", func(c *verifier.Config) { c.Issuer = "https://auth.example.com:" }, "Config.Issuer has a port"},
		{"issuer with a port of 0", func(c *verifier.Config) { c.Issuer = "https://auth.example.com:0" }, "Config.Issuer has a port"},
		{"issuer with a great port", func(c *verifier.Config) { c.Issuer = "https://auth.example.com:99999" }, "Config.Issuer has a port"},
		{"a further issuer with a slash", func(c *verifier.Config) { c.MoreIssuers = []string{issuer, "https://new.example.com/"} }, `Config.MoreIssuers: "https://new.example.com/" ends with a slash`},
		{"an empty further issuer", func(c *verifier.Config) { c.MoreIssuers = []string{""} }, "Config.MoreIssuers"},
		{"an empty further audience", func(c *verifier.Config) { c.MoreAudiences = []string{"x", ""} }, "Config.MoreAudiences"},
		{"great cache", func(c *verifier.Config) { c.CacheSize = 1<<20 + 1 }, "Config.CacheSize"},
		{"negative skew", func(c *verifier.Config) { c.Skew = -1 }, "Config.Skew"},
		{"great skew", func(c *verifier.Config) { c.Skew = time.Hour }, "Config.Skew"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := good
			tt.change(&c)
			_, err := verifier.New(c)
			assert.ErrorContains(t, err, tt.want)
		})
	}
	_, err = verifier.New(good)
	assert.NoError(t, err)
}

func TestClaims(t *testing.T) {
	v := newVerifier(t)
	claims, err := v.Verify(context.Background(), token(nil, object{"scope": "ORG_BOOKING_READ LATER PROFILE_READ", "nbf": clock.Unix() - 1}))
	require.NoError(t, err)
	assert.True(t, claims.ExpiresAt().Equal(clock.Add(1800*time.Second)))
	assert.True(t, claims.IssuedAt().Equal(clock))
	assert.True(t, claims.NotBefore().Equal(clock.Add(-time.Second)))
	assert.Equal(t, issuer, claims.Issuer())
	assert.Equal(t, "user-1", claims.Subject())
	assert.Equal(t, []string{audience}, claims.Audience())
	assert.Equal(t, "client-1", claims.ClientID())
	assert.Equal(t, "token-1", claims.ID())
	assert.Equal(t, "grant-1", claims.GrantID())
	assert.Equal(t, "ORG_BOOKING_READ LATER PROFILE_READ", claims.ScopeText())
	assert.Equal(t, scope.MustOf("PROFILE_READ", "ORG_BOOKING_READ"), claims.Scope())
	assert.False(t, claims.Legacy())
	claims.Audience()[0] = "changed"
	assert.Equal(t, []string{audience}, claims.Audience())

	claims, err = v.Verify(context.Background(), token(nil, object{"grant_id": nil, "scope": nil, "legacy": nil}))
	require.NoError(t, err)
	assert.Empty(t, claims.GrantID())
	assert.False(t, claims.Legacy())
	assert.True(t, claims.Scope().Empty())
	assert.True(t, claims.NotBefore().IsZero())
}

func TestAllows(t *testing.T) {
	tests := []struct {
		name   string
		claims object
		opens  []string
		closed []string
	}{
		{"scope", object{"scope": "BOOKING_READ"}, []string{"BOOKING_READ"}, []string{"BOOKING_WRITE", "TEAM_BOOKING_READ", "BOOKING_READ_X", "XBOOKING_READ", ""}},
		{"org covers team", object{"scope": "ORG_PROFILE_READ"}, []string{"ORG_PROFILE_READ", "TEAM_PROFILE_READ"}, []string{"PROFILE_READ", "TEAM_PROFILE_WRITE"}},
		{"write is not read", object{"scope": "BOOKING_WRITE"}, []string{"BOOKING_WRITE"}, []string{"BOOKING_READ"}},
		{"legacy opens everything", object{"scope": "", "legacy": true}, []string{"BOOKING_READ", "ORG_MEMBERSHIP_WRITE"}, nil},
		{"no scope, not legacy", object{"scope": ""}, nil, []string{"BOOKING_READ", ""}},
		{"no scope claim", object{"scope": nil, "legacy": nil}, nil, []string{"BOOKING_READ"}},
		{"unknown scope only", object{"scope": "EVERYTHING"}, nil, []string{"BOOKING_READ", "EVERYTHING"}},
	}
	v := newVerifier(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			claims, err := v.Verify(context.Background(), token(nil, tt.claims))
			require.NoError(t, err)
			for _, name := range tt.opens {
				assert.True(t, claims.Allows(name), name)
			}
			for _, name := range tt.closed {
				assert.False(t, claims.Allows(name), name)
			}
			if len(tt.opens) > 0 {
				assert.True(t, claims.AllowsAll(scope.MustOf(tt.opens...)))
			}
			assert.Equal(t, claims.Legacy(), claims.AllowsAll(scope.All()))
		})
	}
}

// failing is a key source with one answer.
type failing struct{ err error }

func (f failing) Key(context.Context, string) (verifier.Key, error) { return verifier.Key{}, f.err }

func TestErrorClasses(t *testing.T) {
	good := newVerifier(t)
	broken := errors.New("dial: refused")
	tests := []struct {
		name  string
		v     *verifier.Verifier
		token string
		class error
	}{
		{"invalid", good, "x", verifier.ErrInvalid},
		{"signature", good, forged(one, one), verifier.ErrInvalid},
		{"unknown key", withKeys(t, failing{verifier.ErrUnknownKey}), token(nil, nil), verifier.ErrInvalid},
		{"expired", good, token(nil, object{"iat": 1, "exp": 2}), verifier.ErrExpired},
		{"keys unavailable", withKeys(t, failing{verifier.ErrKeysUnavailable}), token(nil, nil), verifier.ErrKeysUnavailable},
		{"any other error of the source", withKeys(t, failing{broken}), token(nil, nil), verifier.ErrKeysUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.v.Verify(context.Background(), tt.token)
			for _, class := range []error{verifier.ErrInvalid, verifier.ErrExpired, verifier.ErrKeysUnavailable} {
				assert.Equal(t, class == tt.class, errors.Is(err, class), "%v is %v", err, class)
			}
		})
	}
	_, err := withKeys(t, failing{broken}).Verify(context.Background(), token(nil, nil))
	assert.ErrorIs(t, err, broken, "the cause is kept")
}

// The zero Key of a source verifies nothing.
func TestZeroKeyVerifiesNothing(t *testing.T) {
	v := withKeys(t, failing{nil})
	assert.Equal(t, verifier.ReasonAlgorithm, reason(t, v, token(nil, nil)))
	assert.Equal(t, verifier.ReasonHeader, reason(t, v, token(object{"alg": ""}, nil)))
}

// AB: the text of a refusal contains no part of the token that is longer than a few
// characters.
func TestErrorTextHoldsNoTokenBytes(t *testing.T) {
	v := newVerifier(t)
	marker := "SECRETSECRET"
	for _, tok := range []string{
		marker,
		token(object{"kid": marker}, nil),
		token(object{"alg": marker}, nil),
		token(object{"typ": marker}, nil),
		token(object{marker: "x", "jku": marker}, nil),
		token(nil, object{"iss": marker}),
		token(nil, object{"aud": marker}),
		token(nil, object{"exp": marker}),
	} {
		_, err := v.Verify(context.Background(), tok)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), marker)
		for _, part := range strings.Split(tok, ".") {
			assert.NotContains(t, err.Error(), part)
		}
	}
}

// A token that is bound to a key has an error text of its own, unlike one that is not
// JSON.
func TestBoundTokenSaysSo(t *testing.T) {
	_, err := newVerifier(t).Verify(t.Context(), token(nil, object{"cnf": object{"jkt": "x"}}))
	require.EqualError(t, err, "verify token: claims: cnf binds the token to a key")
}
