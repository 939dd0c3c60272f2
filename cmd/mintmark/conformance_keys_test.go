package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jwt"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/dev"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier"
)

func part(t testing.TB, token string, n int) []byte {
	t.Helper()
	parts := strings.Split(token, ".")
	require.Len(t, parts, 3)
	text, err := base64.RawURLEncoding.Strict().DecodeString(parts[n])
	require.NoError(t, err)
	return text
}

// keySet returns the keys of the published key set, and the response.
func (s *suite) keySet() (list []map[string]any, a answer) {
	s.t.Helper()
	a = s.request(http.MethodGet, oauth.PathJWKS, "")
	require.Equal(s.t, http.StatusOK, a.Status)
	var set struct{ Keys []map[string]any }
	require.NoError(s.t, json.Unmarshal([]byte(a.Body), &set))
	return set.Keys, a
}

// conformAccessToken covers AT for each algorithm that a cluster may choose.
func conformAccessToken(t *testing.T) {
	for alg, signature := range map[string]int{"ES256": 64, "EdDSA": 64, "RS256": 384} {
		s := newSuite(t, "settings: {algorithm: "+alg+"}")
		a := s.redeem("cal-app", s.code("cal-app"))
		live := tokensOf(t, a)
		var header map[string]any
		require.NoError(t, json.Unmarshal(part(t, live.Access, 0), &header))
		claims := claimsOf(t, live.Access)
		published, _ := s.keySet()

		s.run("AT01_AT02_AT03_header_"+alg, func(s *suite) {
			require.Equal(s.t, map[string]any{"typ": "at+jwt", "alg": alg, "kid": published[0]["kid"]}, header)
			require.Equal(s.t, alg, published[0]["alg"])
		})
		s.run("AT04_AT05_AT07_AT08_claims_"+alg, func(s *suite) {
			for _, name := range []string{"iss", "sub", "client_id", "jti", "scope", "grant_id"} {
				require.NotEmpty(s.t, claims[name].(string), name)
			}
			require.Equal(s.t, s.Base, claims["aud"])
			require.Equal(s.t, float64(1800), claims["exp"].(float64)-claims["iat"].(float64))
			require.Equal(s.t, float64(1800), a.JSON(s.t)["expires_in"])
			require.InDelta(s.t, float64(time.Now().Unix()), claims["iat"], 60)
			require.Equal(s.t, s.request("GET", oauth.PathMetadata, "").JSON(s.t)["issuer"], claims["iss"])
			require.Equal(s.t, live.Scope, claims["scope"])
			require.Equal(s.t, "PROFILE_READ BOOKING_READ", claims["scope"])
			require.Equal(s.t, false, claims["legacy"])
			require.Equal(s.t, "u-alice", claims["sub"])
			require.Equal(s.t, "cal-app", claims["client_id"])
		})
		s.run("AT12_no_personal_data_"+alg, func(s *suite) {
			require.ElementsMatch(s.t, []string{"iss", "sub", "aud", "exp", "iat", "jti", "client_id", "scope", "legacy", "grant_id"}, namesOf(claims))
			for _, datum := range []string{"alice@example.com", "Alice", "London"} {
				require.NotContains(s.t, string(part(s.t, live.Access, 1)), datum)
			}
		})
		s.run("AT14_signature_"+alg, func(s *suite) {
			sig := part(s.t, live.Access, 2)
			require.Len(s.t, sig, signature)
			if alg == "ES256" {
				octets := func(text any) []byte { return must(base64.RawURLEncoding.DecodeString(text.(string))) }
				point := slices.Concat([]byte{4}, octets(published[0]["x"]), octets(published[0]["y"]))
				key := must(ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point))
				digest := sha256.Sum256([]byte(live.Access[:strings.LastIndex(live.Access, ".")]))
				require.True(s.t, ecdsa.Verify(key, digest[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])))
			}
		})
		s.run("AT15_verifiers_in_Go_"+alg, func(s *suite) {
			_, document := s.keySet()
			set := must(jwk.Parse([]byte(document.Body)))
			ours := must(verifier.New(verifier.Config{Issuer: s.Base, Audience: s.Base, Keys: must(verifier.StaticKeys([]byte(document.Body)))}))
			accept := func(token string) map[string]bool {
				_, err := jwt.ParseString(token, jwt.WithKeySet(set), jwt.WithIssuer(s.Base), jwt.WithAudience(s.Base))
				_, own := ours.Verify(s.t.Context(), token)
				return map[string]bool{"jwx": err == nil, "verifier": own == nil, "/v2/me": s.me(token).Status == 200}
			}
			require.Equal(s.t, map[string]bool{"jwx": true, "verifier": true, "/v2/me": true}, accept(live.Access))
			for name, token := range tampered(s.t, live.Access) {
				require.Equal(s.t, map[string]bool{"jwx": false, "verifier": false, "/v2/me": false}, accept(token), name)
			}
		})
		conformKeys(s, alg)
	}
	s := newSuite(t)
	s.run("AT10_jti_over_1000_tokens", func(s *suite) {
		live := s.tokens("cal-app")
		seen := map[any]bool{}
		for range 1000 {
			live = s.refreshed("cal-app", live.Refresh)
			seen[claimsOf(s.t, live.Access)["jti"]] = true
		}
		require.Len(s.t, seen, 1000)
	})
}

// tampered returns copies of a token whose content or signature was changed.
func tampered(t testing.TB, token string) map[string]string {
	parts := strings.Split(token, ".")
	encoded := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	flip := func(s string, i int) string {
		b := []byte(s)
		if b[i] == 'A' {
			b[i] = 'B'
		} else {
			b[i] = 'A'
		}
		return string(b)
	}
	payload := string(part(t, token, 1))
	wider := strings.Replace(payload, "PROFILE_READ", "PROFILE_WRITE", 1)
	require.NotEqual(t, payload, wider)
	legacy := strings.Replace(payload, `"legacy":false`, `"legacy":true`, 1)
	require.NotEqual(t, payload, legacy)
	return map[string]string{
		"wider scope":      parts[0] + "." + encoded(wider) + "." + parts[2],
		"made legacy":      parts[0] + "." + encoded(legacy) + "." + parts[2],
		"signature":        parts[0] + "." + parts[1] + "." + flip(parts[2], 10),
		"no signature":     parts[0] + "." + parts[1] + ".",
		"alg none":         encoded(`{"alg":"none","typ":"at+jwt"}`) + "." + parts[1] + ".",
		"signature zeroed": parts[0] + "." + parts[1] + "." + strings.Repeat("A", len(parts[2])),
		"payload cut":      parts[0] + "." + parts[1][:len(parts[1])-4] + "." + parts[2],
		"two parts":        parts[0] + "." + parts[1],
	}
}

// conformKeys covers the contents of one key set.
func conformKeys(s *suite, alg string) {
	s.run("JW01_JW02_JW03_key_set_"+alg, func(s *suite) {
		list, a := s.keySet()
		require.Contains(s.t, []string{"application/jwk-set+json", "application/json"}, a.Header.Get("Content-Type"))
		require.Len(s.t, list, 1)
		key := list[0]
		want := map[string][]string{
			"ES256": {"kty", "kid", "use", "alg", "crv", "x", "y"}, "EdDSA": {"kty", "kid", "use", "alg", "crv", "x"},
			"RS256": {"kty", "kid", "use", "alg", "n", "e"},
		}[alg]
		require.ElementsMatch(s.t, want, namesOf(key), "the key has no private member")
		require.Equal(s.t, map[string]string{"ES256": "EC", "EdDSA": "OKP", "RS256": "RSA"}[alg], key["kty"])
		require.Equal(s.t, "sig", key["use"])
		require.Equal(s.t, alg, key["alg"])
		if alg == "RS256" {
			require.GreaterOrEqual(s.t, len(must(base64.RawURLEncoding.DecodeString(key["n"].(string))))*8, 2048)
		}
	})
}

var ages = regexp.MustCompile(`max-age=(\d+)`)

func maxAge(t testing.TB, a answer) int {
	t.Helper()
	m := ages.FindStringSubmatch(a.Header.Get("Cache-Control"))
	require.NotNil(t, m)
	return must(strconv.Atoi(m[1]))
}

// conformKeySet covers the key set document and a rotation.
func conformKeySet(t *testing.T) {
	s := newSuite(t)
	s.run("JW04_headers", func(s *suite) {
		_, a := s.keySet()
		require.Equal(s.t, 300, maxAge(s.t, a))
		again := s.request("GET", oauth.PathJWKS, "", "If-None-Match", a.Header.Get("ETag"))
		require.Equal(s.t, http.StatusNotModified, again.Status)
		require.Empty(s.t, again.Body)
		head := s.request("HEAD", oauth.PathJWKS, "")
		require.Equal(s.t, a.Header.Get("Content-Length"), head.Header.Get("Content-Length"))
	})
	for name, path := range map[string]string{"JW06_any_origin_may_read": oauth.PathJWKS, "MD13_any_origin_may_read": oauth.PathMetadata} {
		s.run(name, func(s *suite) {
			a := s.request("GET", path, "", "Origin", "https://spa.example")
			require.Equal(s.t, "*", a.Header.Get("Access-Control-Allow-Origin"))
			require.Empty(s.t, a.Header.Get("Access-Control-Allow-Credentials"))
		})
	}
	s.run("JW12_other_methods", func(s *suite) {
		for _, path := range []string{oauth.PathJWKS, oauth.PathMetadata, oauth.PathMe} {
			for _, method := range []string{"POST", "PUT", "DELETE"} {
				a := s.request(method, path, "")
				require.Equal(s.t, http.StatusMethodNotAllowed, a.Status, "%s %s", method, path)
				require.Contains(s.t, a.Header.Get("Allow"), "GET")
			}
		}
	})
	t.Run("JW08_rotation", conformRotation)
	t.Run("JW10_without_a_quorum", func(t *testing.T) {
		s := newSuite(t)
		live := s.tokens("cal-app")
		api, _ := demoServer(t, s)
		require.Equal(t, 200, api("GET", "/v2/bookings", live.Access).Status)
		before, _ := s.keySet()
		s.loseTheLeader()
		after, _ := s.keySet()
		require.Equal(t, before, after)
		require.Equal(t, 200, s.request("GET", oauth.PathMetadata, "").Status)
		require.Equal(t, 200, s.me(live.Access).Status)
		require.Equal(t, 200, api("GET", "/v2/bookings", live.Access).Status)
		require.Equal(t, 503, s.request("GET", s.Ops+"/readyz", "").Status)
		require.Equal(t, 200, s.request("GET", s.Ops+"/livez", "").Status)
	})
}

// conformRotation rotates the signing key once.
func conformRotation(t *testing.T) {
	s, clock := newClocked(t)
	published := func() (ids []any) {
		list, _ := s.keySet()
		for _, k := range list {
			ids = append(ids, k["kid"])
		}
		return ids
	}
	refuses := func(id string) {
		t.Helper()
		o := s.propose(&ledger.DropKey{ID: id})
		require.NotNil(t, o.Refusal, "a key that is in use must not be dropped")
		require.Equal(t, ledger.KeyInUse, o.Refusal.Cause)
	}
	active := func() string { return s.s.Issuer.View().ActiveKey(ledger.ForSigning).ID }
	old := active()
	live := s.tokens("cal-app")
	refuses(old)

	fresh, err := s.s.Issuer.Keyring.Add(t.Context(), ledger.ForSigning)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(published()) == 2 }, 5*time.Second, time.Millisecond)
	require.Contains(t, published(), fresh)
	live = s.refreshed("cal-app", live.Refresh)
	require.Contains(t, string(part(t, live.Access, 0)), old, "the new key is announced, not used yet")
	step := func() { s.propose(&ledger.ActivateKey{ID: fresh, Voters: []string{s.s.Node.ID()}}) }
	clock.forward(9 * time.Minute)
	step()
	require.Equal(t, old, active(), "verifiers may not have learnt the new key yet")
	_, a := s.keySet()
	require.LessOrEqual(t, maxAge(t, a), 60)
	clock.forward(time.Minute)
	require.Eventually(t, func() bool { step(); return active() == fresh }, 5*time.Second, time.Millisecond)

	next := s.refreshed("cal-app", live.Refresh)
	require.Contains(t, string(part(t, next.Access, 0)), fresh)
	require.Equal(t, 200, s.me(live.Access).Status)
	refuses(fresh)
	clock.forward(1800 * time.Second)
	require.Equal(t, 200, s.me(s.refreshed("cal-app", next.Refresh).Access).Status)
	refuses(old)
	require.Contains(t, published(), old)
	_, a = s.keySet()
	require.LessOrEqual(t, maxAge(t, a), 60)
	clock.forward(60 * time.Second)
	require.Eventually(t, func() bool {
		s.propose(&ledger.DropKey{ID: old})
		ids := published()
		return len(ids) == 1 && ids[0] == fresh
	}, 5*time.Second, time.Millisecond)
}

// scopes30 are the 30 scopes of section 2.4 of the service document.
const scopes30 = `
	EVENT_TYPE_READ EVENT_TYPE_WRITE BOOKING_READ BOOKING_WRITE SCHEDULE_READ SCHEDULE_WRITE
	APPS_READ APPS_WRITE PROFILE_READ PROFILE_WRITE
	TEAM_EVENT_TYPE_READ TEAM_EVENT_TYPE_WRITE TEAM_BOOKING_READ TEAM_BOOKING_WRITE TEAM_SCHEDULE_READ
	TEAM_SCHEDULE_WRITE TEAM_PROFILE_READ TEAM_PROFILE_WRITE TEAM_MEMBERSHIP_READ TEAM_MEMBERSHIP_WRITE
	ORG_EVENT_TYPE_READ ORG_EVENT_TYPE_WRITE ORG_BOOKING_READ ORG_BOOKING_WRITE ORG_SCHEDULE_READ
	ORG_SCHEDULE_WRITE ORG_PROFILE_READ ORG_PROFILE_WRITE ORG_MEMBERSHIP_READ ORG_MEMBERSHIP_WRITE`

// conformMetadata covers MD.
func conformMetadata(t *testing.T) {
	s := newSuite(t)
	a := s.request("GET", oauth.PathMetadata, "")
	m := a.JSON(t)
	list := func(name string) (texts []string) {
		for _, v := range m[name].([]any) {
			texts = append(texts, v.(string))
		}
		return texts
	}
	s.run("MD01_answer", func(s *suite) {
		require.Equal(s.t, 200, a.Status)
		require.Equal(s.t, "application/json", a.Header.Get("Content-Type"))
	})
	s.run("MD02_issuer", func(s *suite) {
		require.Equal(s.t, s.Base, m["issuer"])
		require.NotContains(s.t, m["issuer"], "?")
		require.NotContains(s.t, m["issuer"], "#")
	})
	t.Run("MD02_issuer_behind_TLS", func(t *testing.T) {
		s, _ := newSecure(t)
		m := s.secureGet(oauth.PathMetadata).JSON(t)
		require.Equal(t, "https://auth.example", m["issuer"])
		require.Equal(t, "https://app.example/auth/oauth2/authorize", m["authorization_endpoint"])
	})
	s.run("MD03_members", func(s *suite) {
		require.Equal(s.t, s.App+"/auth/oauth2/authorize", m["authorization_endpoint"])
		require.Equal(s.t, s.Base+"/v2/auth/oauth2/token", m["token_endpoint"])
		require.Equal(s.t, s.Base+"/.well-known/jwks.json", m["jwks_uri"])
	})
	s.run("MD03_announces_nothing_that_is_not_offered", func(s *suite) {
		for _, statement := range readConformance(s.t) {
			if member, ok := strings.CutPrefix(statement.tests[0], notOffered); ok {
				require.NotContains(s.t, m, member, statement.section)
			}
		}
	})
	s.run("MD04_response_types", func(s *suite) { require.Equal(s.t, []string{"code"}, list("response_types_supported")) })
	s.run("MD06_grant_types", func(s *suite) {
		require.ElementsMatch(s.t, []string{"authorization_code", "refresh_token"}, list("grant_types_supported"))
	})
	s.run("MD08_scopes", func(s *suite) {
		require.Len(s.t, strings.Fields(scopes30), 30)
		require.ElementsMatch(s.t, strings.Fields(scopes30), list("scopes_supported"))
	})
	s.run("MD09_iss_parameter", func(s *suite) {
		require.Equal(s.t, true, m["authorization_response_iss_parameter_supported"])
	})
	s.run("MD11_nothing_empty_or_null", func(s *suite) {
		for name, value := range m {
			require.NotEmpty(s.t, value, name)
		}
		require.ElementsMatch(s.t, []string{"S256"}, list("code_challenge_methods_supported"))
		require.ElementsMatch(s.t, []string{"client_secret_basic", "client_secret_post", "none"}, list("token_endpoint_auth_methods_supported"))
	})
}

// demoServer returns the example resource server that authors of resource servers copy.
func demoServer(t *testing.T, s *suite) (call func(method, path string, tokens ...string) answer, url string) {
	t.Helper()
	api := httptest.NewServer(must(dev.API(s.Base, s.Base)))
	t.Cleanup(api.Close)
	return func(method, path string, tokens ...string) answer {
		t.Helper()
		var headers []string
		for _, token := range tokens {
			headers = append(headers, "Authorization", "Bearer "+token)
		}
		return s.request(method, api.URL+path, "", headers...)
	}, api.URL
}

var challengeParameter = regexp.MustCompile(`^(error|error_description|scope|resource_metadata)="([\x20\x21\x23-\x5b\x5d-\x7e]+)"$`)

// challenged verifies RS17 for a refusal of a resource server: one challenge, each
// attribute once, and only permitted characters in values.
func challenged(t testing.TB, a answer, status int, code string) map[string]string {
	t.Helper()
	require.Equal(t, status, a.Status, a.Body)
	require.Len(t, a.Header.Values("WWW-Authenticate"), 1)
	scheme, rest, _ := strings.Cut(a.Header.Get("WWW-Authenticate"), " ")
	require.Equal(t, "Bearer", scheme)
	found := map[string]string{}
	for p := range strings.SplitSeq(rest, ", ") {
		if p == "" {
			continue
		}
		m := challengeParameter.FindStringSubmatch(p)
		require.NotNil(t, m, p)
		require.NotContains(t, found, m[1])
		found[m[1]] = m[2]
	}
	require.Equal(t, code, found["error"])
	delete(found, "resource_metadata") // not part of the error (RFC 9728 §5.1)
	return found
}

// conformResource covers RS, at GET /v2/me and at the example resource server.
func conformResource(t *testing.T) {
	s := newSuite(t)
	live, legacy := s.tokens("cal-app"), s.tokens("legacy-app")
	narrow := tokensOf(t, s.refresh("cal-app", live.Refresh, "scope", "BOOKING_READ"))
	profile := tokensOf(t, s.refresh("cal-app", narrow.Refresh, "scope", "PROFILE_READ"))
	api, apiURL := demoServer(t, s)
	now := time.Now().Unix()
	expired := s.mint(func(c *credential.AccessClaims) { c.IssuedAt, c.ExpiresAt = now-1900, now-100 })
	withScope := func(scope string) string {
		return s.mint(func(c *credential.AccessClaims) { c.Scope = scope })
	}

	for name, at := range map[string]struct {
		url     string
		good    string // has the scope
		missing string // does not
		scope   string
	}{
		"me":  {s.Base + oauth.PathMe, profile.Access, narrow.Access, "PROFILE_READ"},
		"api": {apiURL + "/v2/bookings", narrow.Access, profile.Access, "BOOKING_READ"},
	} {
		get := func(s *suite, headers ...string) answer { return s.request("GET", at.url, "", headers...) }
		s.run("RS01_no_token_"+name, func(s *suite) {
			for _, a := range []answer{get(s), get(s, "Authorization", basicAuth("cal-app", "cal-app-secret"))} {
				require.Empty(s.t, challenged(s.t, a, 401, ""))
			}
		})
		s.run("RS02_malformed_token_"+name, func(s *suite) {
			for _, token := range []string{"x", "a.b.c", "..", at.good + "x", at.good[1:], strings.Repeat("a", 8000), s.Base} {
				challenged(s.t, get(s, "Authorization", "Bearer "+token), 401, "invalid_token")
			}
			for what, token := range tampered(s.t, live.Access) {
				require.Equal(s.t, 401, get(s, "Authorization", "Bearer "+token).Status, what)
			}
		})
		s.run("RS03_expired_token_"+name, func(s *suite) {
			found := challenged(s.t, get(s, "Authorization", "Bearer "+expired), 401, "invalid_token")
			require.Equal(s.t, "The access token has expired", found["error_description"])
		})
		s.run("RS04_without_the_scope_"+name, func(s *suite) {
			found := challenged(s.t, get(s, "Authorization", "Bearer "+at.missing), 403, "insufficient_scope")
			require.Equal(s.t, at.scope, found["scope"])
		})
		s.run("RS17_challenge_syntax_"+name, func(s *suite) {
			for code, a := range map[string]answer{
				"": get(s), "invalid_request": get(s, "Authorization", "Bearer a b"),
				"invalid_token":      get(s, "Authorization", `Bearer "<x>",scope="y"`),
				"insufficient_scope": get(s, "Authorization", "Bearer "+at.missing),
			} {
				found := challenged(s.t, a, a.Status, code)
				require.Equal(s.t, code != "", found["error_description"] != "", code)
				require.Equal(s.t, code == "insufficient_scope", found["scope"] != "", code)
			}
		})
		s.run("RS05_token_in_the_query_"+name, func(s *suite) {
			require.Empty(s.t, challenged(s.t, s.request("GET", at.url+"?access_token="+at.good, ""), 401, ""))
		})
		for _, scheme := range []string{"Bearer", "bearer", "BEARER", "bEaReR"} {
			s.run("RS07_"+scheme+"_"+name, func(s *suite) {
				require.Equal(s.t, 200, get(s, "Authorization", scheme+" "+at.good).Status)
			})
		}
		s.run("RS09_no_or_two_words_"+name, func(s *suite) {
			for _, value := range []string{"Bearer", "Bearer  ", "Bearer a b", "Bearer " + at.good + " x"} {
				challenged(s.t, get(s, "Authorization", value), 400, "invalid_request")
			}
			challenged(s.t, get(s, "Authorization", "Bearer "+at.good, "Authorization", "Bearer "+at.good), 400, "invalid_request")
		})
		s.run("RS15_whole_names_"+name, func(s *suite) {
			for _, other := range []string{"TEAM_" + at.scope, "ORG_" + at.scope, at.scope + "_X", "X" + at.scope, strings.ToLower(at.scope)} {
				challenged(s.t, get(s, "Authorization", "Bearer "+withScope(other)), 403, "insufficient_scope")
			}
		})
	}
	s.run("RS03_expires_with_the_clock", func(s *suite) {
		s, clock := newClocked(s.t)
		live := s.tokens("cal-app")
		clock.forward(1799 * time.Second)
		require.Equal(s.t, 200, s.me(live.Access).Status)
		clock.forward(verifier.DefaultSkew + 2*time.Second)
		challenged(s.t, s.me(live.Access), 401, "invalid_token")
	})
	s.run("RS10_ORG_on_a_TEAM_route", func(s *suite) {
		for scope, status := range map[string]int{
			"TEAM_BOOKING_READ": 200, "ORG_BOOKING_READ": 200, "BOOKING_READ": 403, "ORG_BOOKING_WRITE": 403, "ORG_PROFILE_READ": 403,
		} {
			require.Equal(s.t, status, api("GET", "/v2/teams/7/bookings", withScope(scope)).Status, scope)
		}
	})
	s.run("RS12_legacy_token", func(s *suite) {
		require.Equal(s.t, 200, s.me(legacy.Access).Status)
		for _, route := range []string{"GET /v2/bookings", "POST /v2/bookings/1/confirm", "GET /v2/schedules", "GET /v2/teams/7/bookings", "POST /v2/bookings"} {
			method, path, _ := strings.Cut(route, " ")
			require.Equal(s.t, 200, api(method, path, legacy.Access).Status, route)
		}
	})
	s.run("RS13_public_route", func(s *suite) {
		require.Equal(s.t, 200, api("POST", "/v2/bookings").Status)
		require.Equal(s.t, "u-alice", api("POST", "/v2/bookings", profile.Access).JSON(s.t)["user"])
		challenged(s.t, api("POST", "/v2/bookings", "x"), 401, "invalid_token")
		challenged(s.t, api("POST", "/v2/bookings", expired), 401, "invalid_token")
	})
	s.run("RS18_me", func(s *suite) {
		a := s.me(profile.Access)
		uncached(s.t, a)
		require.Equal(s.t, `{"status":"success","data":{"id":"u-alice","username":"alice","email":"alice@example.com","name":"Alice Example",`+
			`"avatarUrl":null,"bio":null,"timeFormat":24,"defaultScheduleId":null,"weekStart":null,"timeZone":"Europe/London","locale":null,"organizationId":null}}`, a.Body)
	})
	s.run("RS12_neither_legacy_nor_a_scope_opens_nothing", func(s *suite) {
		for _, scope := range []string{"", "UNKNOWN"} {
			require.Equal(s.t, 403, api("GET", "/v2/bookings", withScope(scope)).Status)
			require.Equal(s.t, 403, s.me(withScope(scope)).Status)
		}
	})
}
