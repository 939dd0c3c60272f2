package verifier_test

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// judge asks an independent implementation about a token.
func judge(set jwk.Set, token string) (jwt.Token, error) {
	return jwt.Parse([]byte(token),
		jwt.WithKeySet(set), jwt.WithValidate(true),
		jwt.WithIssuer(issuer), jwt.WithAudience(audience), jwt.WithAcceptableSkew(verifier.DefaultSkew),
		jwt.WithClock(jwt.ClockFunc(func() time.Time { return clock })),
	)
}

// The judge accepts what we do from all three kinds of key, so its refusals in
// the fuzz target mean something.
func TestJudgeAcceptsGoodTokens(t *testing.T) {
	set, err := jwk.Parse(published())
	require.NoError(t, err)
	for alg, kid := range map[string]string{"ES256": "ec", "RS256": "rsa", "EdDSA": "ed"} {
		tok := sign(alg, goodHeader.with(object{"alg": alg, "kid": kid}).json(), goodClaims.json())
		_, err := judge(set, tok)
		assert.NoError(t, err, alg)
		_, err = newVerifier(t).Verify(context.Background(), tok)
		assert.NoError(t, err, alg)
	}
}

// corpus is odd tokens of our issuer at clock, and who signed them.
func corpus() (*verifiertest.Issuer, []verifiertest.OddToken) {
	iss := verifiertest.NewInMemoryIssuer()
	iss.URL, iss.Now = issuer, func() time.Time { return clock }
	return iss, verifiertest.Corpus(iss)
}

// texts are a token's header and payload, if it has one of each.
func texts(token string) (header, payload string, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", "", false
	}
	h, errHeader := base64.RawURLEncoding.DecodeString(parts[0])
	p, errPayload := base64.RawURLEncoding.DecodeString(parts[1])
	return string(h), string(p), errHeader == nil && errPayload == nil
}

// FuzzAccessToken signs any header and payload, and appends anything. What we
// accept, the judge accepts and reads the same way; we may only be stricter.
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
	v, remembering := newVerifier(f), newRig(f)
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
		parsed, err := judge(set, tok)
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
			t.Fatal("a token without scope opens something")
		}
		for part := range strings.SplitSeq(tok, ".") {
			octets, err := base64.RawURLEncoding.DecodeString(part)
			if err != nil || b64(octets) != part {
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

// FuzzToken is garbage as it comes from the network. Here too, jwx accepts what
// we accept.
func FuzzToken(f *testing.F) {
	good := token(nil, nil)
	f.Add(good)
	f.Add("a.b.c")
	f.Add(forged(zero, one))
	iss, odd := corpus()
	for _, o := range odd {
		f.Add(o.Token)
	}
	document := published()
	document = append(append(document[:len(document)-2:len(document)-2], ','), iss.KeySet()[len(`{"keys":[`):]...)
	set, err := jwk.Parse(document)
	require.NoError(f, err)
	keys, err := verifier.StaticKeys(document)
	require.NoError(f, err)
	v := withKeys(f, keys)
	for _, tok := range []string{good, iss.Token()} {
		accepted(f, v, tok)
	}
	f.Fuzz(func(t *testing.T, tok string) {
		if _, err := v.Verify(context.Background(), tok); err != nil {
			return
		}
		if tok != good && !strings.HasPrefix(tok, good[:strings.LastIndexByte(good, '.')]) {
			// ECDSA lets (r, n-s) stand for (r, s); nothing else may pass.
			t.Fatalf("accepted %q", tok)
		}
		if _, err := judge(set, tok); err != nil {
			t.Fatalf("we accept what jwx refuses: %v", err)
		}
	})
}

// FuzzKeySet: a key that we take, jwx reads as the same key if it can read the
// set at all.
func FuzzKeySet(f *testing.F) {
	f.Add(published())
	ec := ecJWK("a", &ecKey().PublicKey)
	f.Add(jwks(ec, ec.with(object{"use": "enc"}), object{"kty": "AKP"}, rsaJWK("b", &rsaKey().PublicKey).with(object{"alg": nil})))
	f.Add(jwks(edJWK("a", edKey().Public().(ed25519.PublicKey)), ec.with(object{"crv": "P-384"})))
	f.Fuzz(func(t *testing.T, document []byte) {
		keys, err := verifier.ParseJWKS(document)
		if err != nil {
			return
		}
		set, err := jwk.Parse(document)
		if err != nil {
			return // one doubtful entry spoils the set for jwx
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
