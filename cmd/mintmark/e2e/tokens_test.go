package e2e

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
	"github.com/lestrrat-go/jwx/v2/jwt"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// TestTokensBeforeJudges: two third-party libraries accept the access tokens of every
// algorithm with the published key set, and refuse every manipulated copy.
func TestTokensBeforeJudges(t *testing.T) {
	for _, algorithm := range []string{"ES256", "EdDSA", "RS256"} {
		t.Run(algorithm, func(t *testing.T) {
			settings := "settings: {algorithm: " + algorithm + "}\n"
			if algorithm == "ES256" {
				settings = "" // the default
			}
			s := start(t, fixtures(settings))
			config := xoauth2(s, "cal-app", "cal-app-secret", oauth2.AuthStyleInHeader, "PROFILE_READ", "BOOKING_READ")
			token := obtain(t, config)
			source := config.TokenSource(t.Context(), &oauth2.Token{RefreshToken: token.RefreshToken})
			refreshed, err := source.Token()
			require.NoError(t, err)
			legacy := obtain(t, xoauth2(s, "legacy-app", "legacy-app-secret", oauth2.AuthStyleInHeader))

			good := map[string]string{"good": token.AccessToken, "refreshed": refreshed.AccessToken, "legacy": legacy.AccessToken}
			bad := tampered(t, algorithm, token.AccessToken)
			for _, judge := range []struct {
				name   string
				verify func(*testing.T, verificationRequest) map[string]verdict
			}{{"jose", joseVerdicts}, {"jwx", jwxVerdicts}} {
				t.Run(judge.name, func(t *testing.T) {
					ask := func(tokens map[string]string, c verificationRequest) map[string]verdict {
						c.JWKS, c.Algorithm, c.Tokens = s.BaseURL+"/.well-known/jwks.json", algorithm, tokens
						return judge.verify(t, c)
					}
					right := verificationRequest{Issuer: s.Issuer, Audience: s.BaseURL}
					for name, v := range ask(good, right) {
						require.Empty(t, v.Refused, name)
						checkClaims(t, algorithm, s.Issuer, name, v)
					}
					for name, v := range ask(bad, right) {
						require.NotEmpty(t, v.Refused, "a token with %s was accepted", name)
					}
					for name, c := range map[string]verificationRequest{
						"another issuer":   {Issuer: s.Issuer + "/", Audience: s.BaseURL},
						"another audience": {Issuer: s.Issuer, Audience: "https://api.example"},
						"after its end":    {Issuer: s.Issuer, Audience: s.BaseURL, At: time.Now().Add(31 * time.Minute).Unix()},
					} {
						require.NotEmpty(t, ask(good, c)["good"].Refused, name)
					}
				})
			}
		})
	}
}

// checkClaims checks RFC 9068 §2 on the claims that a library read.
func checkClaims(t *testing.T, algorithm, issuer, name string, v verdict) {
	t.Helper()
	require.Equal(t, "at+jwt", v.Header["typ"])
	require.Equal(t, algorithm, v.Header["alg"])
	require.NotEmpty(t, v.Header["kid"])
	require.Len(t, v.Header, 3)
	require.Equal(t, issuer, v.Payload["iss"])
	require.Equal(t, "u-alice", v.Payload["sub"])
	require.NotEmpty(t, v.Payload["jti"])
	require.InDelta(t, 1800, v.Payload["exp"].(float64)-v.Payload["iat"].(float64), 0)
	client, scope := "cal-app", "PROFILE_READ BOOKING_READ"
	if name == "legacy" {
		client, scope = "legacy-app", ""
	}
	require.Equal(t, client, v.Payload["client_id"])
	require.Equal(t, scope, v.Payload["scope"])
	require.Equal(t, name == "legacy", v.Payload["legacy"])
}

// A verificationRequest is the input of a library: the tokens, and the parameters of
// their verification.
type verificationRequest struct {
	JWKS      string            `json:"jwksURI"`
	Issuer    string            `json:"issuer"`
	Audience  string            `json:"audience"`
	Algorithm string            `json:"algorithm"`
	At        int64             `json:"at,omitempty"` // seconds; 0 for now
	Tokens    map[string]string `json:"tokens"`
}

// A verdict has the claims that a library read, or its refusal.
type verdict struct {
	Header, Payload map[string]any
	Refused         string
}

func joseVerdicts(t *testing.T, c verificationRequest) map[string]verdict {
	var verdicts map[string]verdict
	runNode(t, "jose.mjs", c, nil, &verdicts)
	return verdicts
}

func jwxVerdicts(t *testing.T, c verificationRequest) map[string]verdict {
	keys, err := jwk.Fetch(t.Context(), c.JWKS)
	require.NoError(t, err)
	verdicts := map[string]verdict{}
	for name, token := range c.Tokens {
		verdicts[name] = jwxVerdict(t.Context(), keys, c, []byte(token))
	}
	return verdicts
}

func jwxVerdict(ctx context.Context, keys jwk.Set, c verificationRequest, token []byte) (v verdict) {
	now := time.Now
	if c.At != 0 {
		now = func() time.Time { return time.Unix(c.At, 0) }
	}
	parsed, err := jwt.Parse(token, jwt.WithContext(ctx), jwt.WithKeySet(keys, jws.WithRequireKid(true)),
		jwt.WithIssuer(c.Issuer), jwt.WithAudience(c.Audience), jwt.WithClock(jwt.ClockFunc(now)),
		jwt.WithRequiredClaim(jwt.ExpirationKey), jwt.WithRequiredClaim(jwt.SubjectKey), jwt.WithRequiredClaim(jwt.JwtIDKey),
		jwt.WithRequiredClaim(jwt.IssuedAtKey), jwt.WithRequiredClaim("client_id"))
	if err != nil {
		return verdict{Refused: err.Error()}
	}
	message, err := jws.Parse(token)
	if err != nil {
		return verdict{Refused: err.Error()}
	}
	header := message.Signatures()[0].ProtectedHeaders()
	if header.Type() != "at+jwt" {
		return verdict{Refused: "typ is " + header.Type()}
	}
	for into, from := range map[*map[string]any]any{&v.Header: header, &v.Payload: parsed} {
		text, err := json.Marshal(from)
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			return verdict{Refused: err.Error()}
		}
	}
	return v
}

// tampered returns copies of a token that must be refused.
func tampered(t *testing.T, algorithm, token string) map[string]string {
	t.Helper()
	parts := strings.Split(token, ".")
	require.Len(t, parts, 3)
	decode := func(part string) []byte {
		text, err := base64.RawURLEncoding.DecodeString(part)
		require.NoError(t, err)
		return text
	}
	encode := base64.RawURLEncoding.EncodeToString
	replace := func(part, from, to string) string {
		text := string(decode(part))
		require.Contains(t, text, from)
		return encode([]byte(strings.Replace(text, from, to, 1)))
	}
	signature := decode(parts[2])
	signature[len(signature)/2] ^= 1
	alg := fmt.Sprintf(`"alg":%q`, algorithm)
	none := replace(parts[0], alg, `"alg":"none"`)
	return map[string]string{
		"more scopes":         parts[0] + "." + replace(parts[1], "PROFILE_READ", "BOOKING_WRITE PROFILE_READ") + "." + parts[2],
		"another user":        parts[0] + "." + replace(parts[1], "u-alice", "u-bob") + "." + parts[2],
		"the legacy flag":     parts[0] + "." + replace(parts[1], `"legacy":false`, `"legacy":true`) + "." + parts[2],
		"another typ":         replace(parts[0], "at+jwt", "jwt") + "." + parts[1] + "." + parts[2],
		"one bit flipped":     parts[0] + "." + parts[1] + "." + encode(signature),
		"no signature":        parts[0] + "." + parts[1] + ".",
		"alg none":            none + "." + parts[1] + ".",
		"zeros for signature": parts[0] + "." + parts[1] + "." + encode(make([]byte, len(signature))),
		"a key of a stranger": forged(t, algorithm, decode(parts[0]), decode(parts[1])),
	}
}

// forged returns a token that is signed correctly, under the kid of the server's key, but
// with another key.
func forged(t *testing.T, algorithm string, header, payload []byte) string {
	t.Helper()
	var key crypto.Signer
	var err error
	switch algorithm {
	case "ES256":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "EdDSA":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	default:
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	require.NoError(t, err)
	headers := jws.NewHeaders()
	require.NoError(t, json.Unmarshal(header, headers))
	token, err := jws.Sign(payload, jws.WithKey(jwa.SignatureAlgorithm(algorithm), key, jws.WithProtectedHeaders(headers)))
	require.NoError(t, err)
	return string(token)
}

// TestKeySet: a library reads the key set, which has public keys only.
func TestKeySet(t *testing.T) {
	s := start(t, fixtures(""))
	keys, err := jwk.Fetch(t.Context(), s.BaseURL+"/.well-known/jwks.json")
	require.NoError(t, err)
	require.Positive(t, keys.Len())
	for i := range keys.Len() {
		key, _ := keys.Key(i)
		require.Equal(t, jwk.ForSignature.String(), key.KeyUsage())
		require.Equal(t, jwa.ES256.String(), key.Algorithm().String())
		require.NotEmpty(t, key.KeyID())
		private, err := jwk.IsPrivateKey(key)
		require.NoError(t, err)
		require.False(t, private)
	}
}
