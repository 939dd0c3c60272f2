package bench

import (
	"context"
	"crypto"
	"encoding/base64"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

const audience = verifiertest.Audience

// clock is the time at which every token is verified.
var clock = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// object is a JSON object.
type object map[string]any

// with returns a copy in which members are replaced, or removed by nil.
func (o object) with(changes object) object {
	o = maps.Clone(o)
	maps.Copy(o, changes)
	maps.DeleteFunc(o, func(_ string, value any) bool { return value == nil })
	return o
}

func (o object) json() string { return string(must(json.Marshal(o))) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// kids are the kids of the three keys.
var kids = map[string]string{verifier.ES256: "ec", verifier.RS256: "rsa", verifier.EdDSA: "ed"}

// signers returns issuers with the same URL and one key each, by algorithm.
var signers = sync.OnceValue(func() map[string]*verifiertest.Issuer {
	all := map[string]*verifiertest.Issuer{}
	for alg, kid := range kids {
		i := verifiertest.NewInMemoryIssuer()
		i.Now = func() time.Time { return clock }
		i.RotateTo(alg)
		i.RemoveOldKeys()
		i.ChangeEntries(func(entry map[string]any) { entry["kid"] = kid })
		all[alg] = i
	}
	return all
})

const issuer = "https://auth.example.com" // the URL of every issuer in memory

// entry returns the key set's entry for an algorithm.
func entry(alg string) object {
	var document struct{ Keys []object }
	if err := json.Unmarshal(signers()[alg].KeySet(), &document); err != nil {
		panic(err)
	}
	return document.Keys[0]
}

func keySetOf(entries ...object) []byte { return []byte(object{"keys": entries}.json()) }

func published() []byte {
	return keySetOf(entry(verifier.ES256), entry(verifier.RS256), entry(verifier.EdDSA))
}

var goodHeader = object{"alg": "ES256", "kid": "ec", "typ": "at+jwt"}

var goodClaims = object{
	"iss": issuer, "aud": audience, "sub": "user-1", "client_id": "client-1", "jti": "token-1", "grant_id": "grant-1",
	"iat": clock.Unix(), "exp": clock.Unix() + 1800, "scope": "PROFILE_READ ORG_BOOKING_READ", "legacy": false,
}

// sign makes a token of any two texts, with the key of the algorithm.
func sign(alg, header, payload string) string { return signers()[alg].Sign(header, payload) }

// newVerifier returns a verifier with a cache of the given size and the keys of keySet.
func newVerifier(t testing.TB, keySet []byte, cacheSize int) *verifier.Verifier {
	t.Helper()
	keys, err := verifier.StaticKeys(keySet)
	require.NoError(t, err)
	v, err := verifier.New(verifier.Config{
		Issuer: issuer, Audience: audience, Keys: keys, CacheSize: cacheSize, Now: func() time.Time { return clock },
	})
	require.NoError(t, err)
	return v
}

// jwxParse verifies a token with an independent implementation.
func jwxParse(set jwk.Set, token string) (jwt.Token, error) {
	return jwt.Parse([]byte(token),
		jwt.WithKeySet(set), jwt.WithValidate(true),
		jwt.WithIssuer(issuer), jwt.WithAudience(audience), jwt.WithAcceptableSkew(verifier.DefaultSkew),
		jwt.WithClock(jwt.ClockFunc(func() time.Time { return clock })),
	)
}

// jwx accepts good tokens of all three kinds of key, so its refusals in the fuzz targets
// are meaningful.
func TestJudgeAcceptsGoodTokens(t *testing.T) {
	set, err := jwk.Parse(published())
	require.NoError(t, err)
	for alg, kid := range kids {
		tok := sign(alg, goodHeader.with(object{"alg": alg, "kid": kid}).json(), goodClaims.json())
		_, err := jwxParse(set, tok)
		assert.NoError(t, err, alg)
		_, err = newVerifier(t, published(), -1).Verify(context.Background(), tok)
		assert.NoError(t, err, alg)
	}
}

// corpus returns an issuer at clock, and its odd tokens.
func corpus() (*verifiertest.Issuer, []verifiertest.OddToken) {
	iss := verifiertest.NewInMemoryIssuer()
	iss.Now = func() time.Time { return clock }
	return iss, verifiertest.Corpus(iss)
}

// texts returns a token's header and payload, decoded.
func texts(token string) (header, payload string, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", "", false
	}
	h, errHeader := base64.RawURLEncoding.DecodeString(parts[0])
	p, errPayload := base64.RawURLEncoding.DecodeString(parts[1])
	return string(h), string(p), errHeader == nil && errPayload == nil
}

// FuzzAccessToken signs any header and payload, and appends any text. A token that
// package verifier accepts, jwx accepts with the same claims; package verifier may only
// be stricter.
func FuzzAccessToken(f *testing.F) {
	header, payload := goodHeader.json(), goodClaims.json()
	f.Add("ES256", header, payload, "")
	f.Add("EdDSA", goodHeader.with(object{"alg": "EdDSA", "kid": "ed"}).json(), payload, "")
	f.Add("RS256", goodHeader.with(object{"alg": "RS256", "kid": "rsa"}).json(), payload, "")
	f.Add("ES256", header, goodClaims.with(object{"aud": []string{"x", audience}, "nbf": 1, "x": object{"y": []any{1.5, nil}}}).json(), "")
	f.Add("ES256", strings.Replace(header, "{", "{ \n", 1), strings.Replace(payload, "user-1", `\u0061\ud83d\ude00`, 1), "")
	f.Add("ES256", header, strings.Replace(payload, "{", `{"exp":1e400,`, 1), "")
	f.Add("ES256", header, payload+"{}", "=")
	f.Add("ES256", header, payload, "\n")
	iss, odd := corpus()
	theirs := must(verifier.ParseJWKS(iss.KeySet()))[0].ID()
	for _, o := range odd {
		if header, payload, ok := texts(o.Token); ok {
			f.Add("ES256", strings.ReplaceAll(header, theirs, "ec"), payload, "")
		}
	}
	set, err := jwk.Parse(published())
	require.NoError(f, err)
	v, remembering := newVerifier(f, published(), -1), newVerifier(f, published(), 0)
	f.Fuzz(func(t *testing.T, alg, header, payload, tail string) {
		switch alg {
		case "ES256", "RS256", "EdDSA":
		default:
			alg = "ES256"
		}
		tok := sign(alg, header, payload) + tail
		claims, err := v.Verify(context.Background(), tok)
		for range 2 {
			again, errAgain := remembering.Verify(context.Background(), tok)
			if !reflect.DeepEqual(again, claims) || !reflect.DeepEqual(errAgain, err) {
				t.Fatalf("with a cache: %+v, %v; without: %+v, %v", again, errAgain, claims, err)
			}
		}
		if err != nil {
			if claims != nil {
				t.Fatal("claims of a refused token")
			}
			return
		}
		if named(header, "Ed25519") {
			return // jwx/v2 doesn't know this name of EdDSA (RFC 9864 §2.2)
		}
		parsed, err := jwxParse(set, tok)
		if err != nil {
			t.Fatalf("we accept what jwx refuses: %v\n%s\n%s", err, header, payload)
		}
		clientID, _ := parsed.Get("client_id")
		if parsed.Subject() != claims.Subject() || parsed.JwtID() != claims.ID() || clientID != claims.ClientID() ||
			!parsed.Expiration().Equal(claims.ExpiresAt()) || !parsed.IssuedAt().Equal(claims.IssuedAt()) ||
			!slices.Equal(parsed.Audience(), claims.Audience()) {
			t.Fatalf("we read %+v, jwx %+v", claims, parsed)
		}
		legacy, _ := parsed.Get("legacy")
		if claims.Legacy() != (legacy == true) {
			t.Fatalf("legacy: we read %v, jwx %v", claims.Legacy(), legacy)
		}
		if !claims.Legacy() && claims.Scope().Empty() && claims.Allows("PROFILE_READ") {
			t.Fatal("a token without scope allows something")
		}
		for part := range strings.SplitSeq(tok, ".") {
			octets, err := base64.RawURLEncoding.DecodeString(part)
			if err != nil || base64.RawURLEncoding.EncodeToString(octets) != part {
				t.Fatalf("a second spelling is accepted: %q", part)
			}
		}
		if !json.Valid([]byte(header)) || !json.Valid([]byte(payload)) {
			t.Fatal("encoding/json refuses it")
		}
	})
}

// named reports whether a header is well formed and has this alg.
func named(header, alg string) bool {
	var h struct {
		Alg string `json:"alg"`
	}
	return json.Unmarshal([]byte(header), &h) == nil && h.Alg == alg
}

// FuzzToken verifies arbitrary text. A token that package verifier accepts, jwx accepts
// too.
func FuzzToken(f *testing.F) {
	good := sign("ES256", goodHeader.json(), goodClaims.json())
	f.Add(good)
	f.Add("a.b.c")
	signature := make([]byte, 64) // r is 0, s is 1
	signature[63] = 1
	f.Add(good[:strings.LastIndexByte(good, '.')+1] + base64.RawURLEncoding.EncodeToString(signature))
	iss, odd := corpus()
	for _, o := range odd {
		f.Add(o.Token)
	}
	document := published()
	document = append(append(document[:len(document)-2:len(document)-2], ','), iss.KeySet()[len(`{"keys":[`):]...)
	set, err := jwk.Parse(document)
	require.NoError(f, err)
	v := newVerifier(f, document, -1)
	for _, tok := range []string{good, iss.Token()} {
		_, err := v.Verify(context.Background(), tok)
		require.NoError(f, err)
	}
	f.Fuzz(func(t *testing.T, tok string) {
		if _, err := v.Verify(context.Background(), tok); err != nil {
			return
		}
		if tok != good && !strings.HasPrefix(tok, good[:strings.LastIndexByte(good, '.')]) {
			// For ECDSA, (r, n-s) is as valid as (r, s); no other change may be accepted.
			t.Fatalf("accepted %q", tok)
		}
		if _, err := jwxParse(set, tok); err != nil {
			t.Fatalf("we accept what jwx refuses: %v", err)
		}
	})
}

// FuzzKeySet checks that a key which package verifier accepts is the same key in jwx, if
// jwx can read the set at all.
func FuzzKeySet(f *testing.F) {
	f.Add(published())
	ec := entry(verifier.ES256).with(object{"kid": "a"})
	f.Add(keySetOf(ec, ec.with(object{"use": "enc"}), object{"kty": "AKP"}, entry(verifier.RS256).with(object{"alg": nil})))
	f.Add(keySetOf(entry(verifier.EdDSA).with(object{"kid": "a"}), ec.with(object{"crv": "P-384"})))
	f.Fuzz(func(t *testing.T, document []byte) {
		keys, err := verifier.ParseJWKS(document)
		if err != nil {
			return
		}
		set, err := jwk.Parse(document)
		if err != nil {
			return // jwx refuses the whole set for one malformed entry
		}
		for _, key := range keys {
			if !holds(set, key) {
				t.Fatalf("jwx has no such key: %s\n%s", key.ID(), document)
			}
		}
	})
}

func holds(set jwk.Set, key verifier.Key) bool {
	for n := range set.Len() {
		other, _ := set.Key(n)
		var public any
		if other.KeyID() != key.ID() || other.Raw(&public) != nil {
			continue
		}
		if equal, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool }); ok && equal.Equal(public) {
			return true
		}
	}
	return false
}
