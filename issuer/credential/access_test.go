package credential_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
	"github.com/lestrrat-go/jwx/v2/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/keys"
)

func signer(t testing.TB) *keys.Signer {
	t.Helper()
	s, err := keys.GenerateSigner(keys.ES256)
	require.NoError(t, err)
	return s
}

func claims() credential.AccessClaims {
	return credential.AccessClaims{
		Issuer: "https://id.example.com", Subject: "usr_8Zk2", Audience: "https://api.example.com",
		ClientID: "cli_5gT0aaBv", Scope: "BOOKING_READ BOOKING_WRITE SCHEDULE_READ",
		GrantID: "3q2-7wQFBgcICQoLDA0ODw", ID: "0b5XhDqmRiWcDzQ1jvyk3g",
		IssuedAt: 1_790_000_000, ExpiresAt: 1_790_001_800,
	}
}

// TestAccessRef verifies that a token without the id of a key or of a grant has no reference.
func TestAccessRef(t *testing.T) {
	s, grant := signer(t), ledger.GrantID{0xab, 15: 1}
	token, err := credential.MintAccess(s, claims())
	require.NoError(t, err)
	header := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) + ".e30.AA" }
	for _, c := range []struct {
		token, grant string
		ok           bool
	}{
		{token.Reveal(), grant.String(), true},
		{token.Reveal(), "", false},
		{token.Reveal(), grant.String()[1:], false},
		{token.Reveal(), grant.String() + "00", false},
		{header(`{"alg":"ES256"}`), grant.String(), false},
		{header(`{"kid":""}`), grant.String(), false},
		{header("kid"), grant.String(), false},
		{"", grant.String(), false},
	} {
		ref, ok := credential.AccessRef(c.token, c.grant)
		require.Equal(t, c.ok, ok, "%s %s", c.token, c.grant)
		if ok {
			require.Equal(t, ledger.AccessRef{Grant: grant, Key: s.KeyID()}, ref)
		}
	}
}

// TestAccessTokenIsReadByJWX verifies tokens of each algorithm with an independent
// implementation (conformance AT01 to AT14).
func TestAccessTokenIsReadByJWX(t *testing.T) {
	for _, alg := range []keys.Algorithm{keys.ES256, keys.EdDSA, keys.RS256} {
		t.Run(string(alg), func(t *testing.T) {
			s, err := keys.GenerateSigner(alg)
			require.NoError(t, err)
			c := claims()
			token, err := credential.MintAccess(s, c)
			require.NoError(t, err)

			document, err := keys.JWKS([][]byte{s.Public().JWK()})
			require.NoError(t, err)
			set, err := jwk.Parse(document)
			require.NoError(t, err)
			parsed, err := jwt.ParseString(token.Reveal(), jwt.WithKeySet(set),
				jwt.WithValidate(true), jwt.WithIssuer(c.Issuer), jwt.WithAudience(c.Audience),
				jwt.WithClock(jwt.ClockFunc(func() time.Time { return time.Unix(c.IssuedAt+1, 0) })))
			require.NoError(t, err)

			assert.Equal(t, c.Subject, parsed.Subject())
			assert.Equal(t, c.ID, parsed.JwtID())
			assert.Equal(t, c.IssuedAt, parsed.IssuedAt().Unix())
			assert.Equal(t, c.ExpiresAt, parsed.Expiration().Unix())
			assert.Equal(t, map[string]any{
				"client_id": c.ClientID, "scope": c.Scope, "legacy": false, "grant_id": c.GrantID,
			}, parsed.PrivateClaims())

			message, err := jws.ParseString(token.Reveal())
			require.NoError(t, err)
			require.Len(t, message.Signatures(), 1)
			header, err := message.Signatures()[0].ProtectedHeaders().AsMap(t.Context())
			require.NoError(t, err)
			assert.Len(t, header, 3, "the header must have alg, kid and typ only")
			assert.Equal(t, "at+jwt", header["typ"])
			assert.Equal(t, s.KeyID(), header["kid"])
			assert.Equal(t, string(alg), s.Alg())
		})
	}
}

func TestLegacyAccessToken(t *testing.T) {
	c := claims()
	c.Legacy, c.Scope = true, ""
	token, err := credential.MintAccess(signer(t), c)
	require.NoError(t, err)
	payload := payloadOf(t, token)
	assert.Contains(t, payload, `"scope":""`)
	assert.Contains(t, payload, `"legacy":true`)
}

func payloadOf(t testing.TB, token credential.AccessToken) string {
	t.Helper()
	parts := strings.Split(token.Reveal(), ".")
	require.Len(t, parts, 3)
	payload, err := base64.RawURLEncoding.Strict().DecodeString(parts[1])
	require.NoError(t, err)
	return string(payload)
}

func TestMintAccessRefuses(t *testing.T) {
	s := signer(t)
	for name, change := range map[string]func(*credential.AccessClaims){
		"no issuer":          func(c *credential.AccessClaims) { c.Issuer = "" },
		"no subject":         func(c *credential.AccessClaims) { c.Subject = "" },
		"no audience":        func(c *credential.AccessClaims) { c.Audience = "" },
		"no client":          func(c *credential.AccessClaims) { c.ClientID = "" },
		"no grant":           func(c *credential.AccessClaims) { c.GrantID = "" },
		"no id":              func(c *credential.AccessClaims) { c.ID = "" },
		"expired when made":  func(c *credential.AccessClaims) { c.ExpiresAt = c.IssuedAt },
		"legacy with scopes": func(c *credential.AccessClaims) { c.Legacy = true },
	} {
		t.Run(name, func(t *testing.T) {
			c := claims()
			change(&c)
			token, err := credential.MintAccess(s, c)
			require.ErrorIs(t, err, credential.ErrClaims)
			assert.Empty(t, token.Reveal())
		})
	}
	broken := errors.New("broken")
	_, err := credential.MintAccess(brokenSigner{s, broken}, claims())
	require.ErrorIs(t, err, broken)
}

type brokenSigner struct {
	credential.Signer
	err error
}

func (b brokenSigner) Sign([]byte) ([]byte, error) { return nil, b.err }

// TestLongClaims has claims longer than the scratch buffer.
func TestLongClaims(t *testing.T) {
	c := claims()
	c.Scope = strings.Repeat("SOME_SCOPE ", 500) + "LAST"
	token, err := credential.MintAccess(signer(t), c)
	require.NoError(t, err)
	assert.Contains(t, payloadOf(t, token), c.Scope)
}

// FuzzAccessClaims verifies that a token has exactly the requested claims, whatever
// characters they contain: no value can end its string and become a claim.
func FuzzAccessClaims(f *testing.F) {
	s := &fixedSigner{}
	f.Add("usr_1", "BOOKING_READ", "g", false)
	f.Add(`a","legacy":true,"x":"`, "\\", "\x00", true)
	f.Fuzz(func(t *testing.T, subject, scope, grantID string, legacy bool) {
		c := claims()
		c.Subject, c.Scope, c.GrantID, c.Legacy = subject, scope, grantID, legacy
		token, err := credential.MintAccess(s, c)
		if err != nil {
			require.ErrorIs(t, err, credential.ErrClaims)
			return
		}
		want, err := json.Marshal(map[string]any{
			"iss": c.Issuer, "sub": c.Subject, "aud": c.Audience, "exp": c.ExpiresAt, "iat": c.IssuedAt,
			"jti": c.ID, "client_id": c.ClientID, "scope": c.Scope, "legacy": c.Legacy, "grant_id": c.GrantID,
		})
		require.NoError(t, err)
		require.JSONEq(t, string(want), payloadOf(t, token))
	})
}

type fixedSigner struct{}

func (*fixedSigner) KeyID() string               { return "kid" }
func (*fixedSigner) Alg() string                 { return "ES256" }
func (*fixedSigner) Sign([]byte) ([]byte, error) { return make([]byte, 64), nil }

// FuzzJSONString compares with encoding/json, byte for byte.
func FuzzJSONString(f *testing.F) {
	for _, s := range []string{"", "plain", `"\/`, "\x00\x1f\x7f\b\f\n\r\t", "é😀", "\u2028\u2029", "\xff\xc0\x80", "<&>", "\ufffd", "a\xf0\x9f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		require.NoError(t, encoder.Encode(s))
		require.Equal(t, strings.TrimSuffix(want.String(), "\n"), string(credential.AppendString(nil, s)))
	})
}

// BenchmarkMintAccess minus BenchmarkRawSign is the cost of everything but the signature.
func BenchmarkMintAccess(b *testing.B) {
	s, c := signer(b), claims()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = credential.MintAccess(s, c)
	}
}

func BenchmarkRawSign(b *testing.B) {
	s := signer(b)
	token, err := credential.MintAccess(s, claims())
	require.NoError(b, err)
	input := []byte(token.Reveal()[:strings.LastIndex(token.Reveal(), ".")])
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Sign(input)
	}
}

// BenchmarkMintAccessUnsigned is BenchmarkMintAccess without the variance of a signature.
func BenchmarkMintAccessUnsigned(b *testing.B) {
	s, c := &fixedSigner{}, claims()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = credential.MintAccess(s, c)
	}
}

func BenchmarkParseRefresh(b *testing.B) {
	ring := keyring(b)
	text := credential.MintRefresh(mac(b, ring, 1), ledger.CredentialRef{Key: 1, Grant: grant, Generation: 2}).Reveal()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = credential.ParseRefresh(text, ring)
	}
}
