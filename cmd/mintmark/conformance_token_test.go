package main

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// object returns a JSON object of pairs of name and value.
func object(pairs ...string) string {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return string(must(json.Marshal(m)))
}

// exchangeOf returns the parameters of a valid exchange of cal-app.
func exchangeOf(code string, more ...string) []string {
	return append([]string{
		"grant_type", "authorization_code", "client_id", "cal-app", "client_secret", "cal-app-secret",
		"code", code, "redirect_uri", callback,
	}, more...)
}

// conformToken covers the token endpoint in general.
func conformToken(t *testing.T) {
	s := newSuite(t)
	s.run("TK01_GET", func(s *suite) {
		code := s.code("cal-app")
		for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "PATCH"} {
			a := s.request(method, oauth.PathToken+"?"+encode(exchangeOf(code)...), "")
			require.Equal(s.t, http.StatusMethodNotAllowed, a.Status, method)
			require.Equal(s.t, "OPTIONS, POST", a.Header.Get("Allow"))
			require.NotContains(s.t, a.Body, "token\":")
			if method != "HEAD" {
				require.Equal(s.t, `{"error":"invalid_request","error_description":"The path does not have this method; see the header Allow."}`, a.Body)
				uncached(s.t, a)
			}
		}
		tokensOf(s.t, s.redeem("cal-app", code))
	})
	for name, send := range map[string]func(s *suite, code string) answer{
		"TK02_form":                func(s *suite, code string) answer { return s.form(exchangeOf(code)...) },
		"TK03_JSON":                func(s *suite, code string) answer { return s.jsonBody(object(exchangeOf(code)...)) },
		"TK15_unknown_parameter":   func(s *suite, code string) answer { return s.form(exchangeOf(code, "foo", "bar", "resource", "x")...) },
		"TK15_unknown_JSON_member": func(s *suite, code string) answer { return s.jsonBody(object(exchangeOf(code, "foo", "bar")...)) },
		"TK15_unknown_member_object": func(s *suite, code string) answer {
			return s.jsonBody(object(exchangeOf(code)...)[:1] + `"foo":{"code":[1,null]},` + object(exchangeOf(code)...)[1:])
		},
		"TK02_form_with_charset": func(s *suite, code string) answer {
			return s.request("POST", oauth.PathToken, encode(exchangeOf(code)...), "Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
		},
	} {
		s.run(name, func(s *suite) {
			a := send(s, s.code("cal-app"))
			success(s.t, a)
			require.Equal(s.t, "PROFILE_READ BOOKING_READ", a.JSON(s.t)["scope"])
			success(s.t, s.refresh("cal-app", tokensOf(s.t, a).Refresh))
		})
	}
	s.run("TK06_TK07_TK27_success", func(s *suite) { success(s.t, s.redeem("cal-app", s.code("cal-app"))) })
	s.run("TK27_legacy", func(s *suite) {
		a := s.redeem("legacy-app", s.code("legacy-app"))
		success(s.t, a)
		require.Equal(s.t, "", a.JSON(s.t)["scope"])
	})

	// None of these requests spends the code that it carries.
	code := s.code("cal-app")
	texts := map[string]string{
		"TK09_grant_type_missing": "The parameter grant_type is missing.",
		"TK12_code_twice":         "A parameter came more than once.",
		"TK14_code_missing":       "The parameter code is missing.",
		"TK14_client_id_missing":  "The parameter client_id is missing.",
		"TK17_broken_JSON":        "The body can not be read as its Content-Type says.",
		"TK19_64_KiB_and_one":     "The body is longer than 64 KiB.",
	}
	for _, row := range []struct {
		name   string
		send   func(s *suite) answer
		status int
		error  oauth.Code
	}{
		{"TK05_everything_in_the_query", func(s *suite) answer {
			return s.request("POST", oauth.PathToken+"?"+encode(exchangeOf(code)...), "", "Content-Type", "application/x-www-form-urlencoded")
		}, 400, oauth.InvalidRequest},
		{"TK05_no_body_and_no_type", func(s *suite) answer {
			return s.request("POST", oauth.PathToken+"?"+encode(exchangeOf(code)...), "")
		}, 400, oauth.InvalidRequest},
		{"TK09_grant_type_missing", func(s *suite) answer { return s.form(exchangeOf(code)[2:]...) }, 400, oauth.InvalidRequest},
		{"TK09_grant_type_empty", func(s *suite) answer { return s.form(append(exchangeOf(code)[2:], "grant_type", "")...) }, 400, oauth.InvalidRequest},
		{"TK10_grant_type_in_upper_case", grantType(code, "AUTHORIZATION_CODE"), 400, oauth.UnsupportedGrantType},
		{"TK10_grant_type_code", grantType(code, "code"), 400, oauth.UnsupportedGrantType},
		{"TK10_another_grant_type", grantType(code, "refresh_token"), 400, oauth.InvalidRequest},
		{"TK10_grant_type_foo", grantType(code, "foo"), 400, oauth.UnsupportedGrantType},
		{"TK11_password", grantType(code, "password"), 400, oauth.UnsupportedGrantType},
		{"TK11_client_credentials", grantType(code, "client_credentials"), 400, oauth.UnsupportedGrantType},
		{"TK11_implicit", grantType(code, "implicit"), 400, oauth.UnsupportedGrantType},
		{"TK12_code_twice", func(s *suite) answer { return s.form(exchangeOf(code, "code", code)...) }, 400, oauth.InvalidRequest},
		{"TK12_unknown_parameter_twice", func(s *suite) answer { return s.form(exchangeOf(code, "x", "1", "x", "1")...) }, 400, oauth.InvalidRequest},
		{"TK12_JSON_member_twice", func(s *suite) answer {
			return s.jsonBody(`{"code":"x",` + object(exchangeOf(code)...)[1:])
		}, 400, oauth.InvalidRequest},
		{"TK14_code_missing", func(s *suite) answer { return s.form(without(exchangeOf(code), "code")...) }, 400, oauth.InvalidRequest},
		{"TK14_client_id_missing", func(s *suite) answer { return s.form(without(exchangeOf(code), "client_id")...) }, 400, oauth.InvalidRequest},
		{"TK14_code_empty", func(s *suite) answer { return s.form(exchangeOf("")...) }, 400, oauth.InvalidRequest},
		{"TK14_JSON_code_null", func(s *suite) answer {
			return s.jsonBody(strings.Replace(object(exchangeOf("X")...), `"X"`, "null", 1))
		}, 400, oauth.InvalidRequest},
		{"TK17_broken_JSON", func(s *suite) answer { return s.jsonBody(object(exchangeOf(code)...)[:40]) }, 400, oauth.InvalidRequest},
		{"TK17_trailing_text", func(s *suite) answer { return s.jsonBody(object(exchangeOf(code)...) + "{}") }, 400, oauth.InvalidRequest},
		{"TK17_null", func(s *suite) answer { return s.jsonBody("null") }, 400, oauth.InvalidRequest},
		{"TK17_array", func(s *suite) answer { return s.jsonBody("[" + object(exchangeOf(code)...) + "]") }, 400, oauth.InvalidRequest},
		{"TK17_string", func(s *suite) answer { return s.jsonBody(`"` + code + `"`) }, 400, oauth.InvalidRequest},
		{"TK17_number_for_a_text", func(s *suite) answer {
			return s.jsonBody(strings.Replace(object(exchangeOf("X")...), `"X"`, "1", 1))
		}, 400, oauth.InvalidRequest},
		{"TK17_empty", func(s *suite) answer { return s.jsonBody("") }, 400, oauth.InvalidRequest},
		{"TK17_other_content_type", func(s *suite) answer {
			return s.request("POST", oauth.PathToken, encode(exchangeOf(code)...), "Content-Type", "text/plain")
		}, 400, oauth.InvalidRequest},
		{"TK17_bad_percent", func(s *suite) answer {
			return s.request("POST", oauth.PathToken, encode(exchangeOf(code)...)+"&x=%zz", "Content-Type", "application/x-www-form-urlencoded")
		}, 400, oauth.InvalidRequest},
		{"TK19_64_KiB_and_one", func(s *suite) answer { return s.form(exchangeOf(code, "x", strings.Repeat("x", 64<<10))...) }, 413, oauth.InvalidRequest},
	} {
		s.run(row.name, func(s *suite) {
			a := row.send(s)
			refused(s.t, a, row.status, row.error)
			if text, ok := texts[row.name]; ok {
				exactly(s.t, a, row.error, text)
			}
			require.Empty(s.t, a.Header.Values("WWW-Authenticate"))
			require.Empty(s.t, a.Header.Values("Retry-After"))
		})
	}
	s.run("TK08_nothing_was_spent", func(s *suite) { tokensOf(s.t, s.redeem("cal-app", code)) })

	s.run("TK19_2_MiB", func(s *suite) {
		for name, body := range map[string]io.Reader{
			"with a length": strings.NewReader(strings.Repeat("x", 2<<20)),
			"chunked":       io.MultiReader(strings.NewReader(strings.Repeat("x", 2<<20))),
		} {
			r := must(http.NewRequestWithContext(s.t.Context(), "POST", s.Base+oauth.PathToken, body))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			a, err := noRedirects(nil).Do(r)
			require.NoError(s.t, err, name)
			text, err := io.ReadAll(a.Body)
			require.NoError(s.t, err, name)
			require.NoError(s.t, a.Body.Close())
			refused(s.t, answer{Status: a.StatusCode, Header: a.Header, Body: string(text)}, 413, oauth.InvalidRequest)
			require.True(s.t, a.Close, "the connection is closed")
		}
	})
	s.run("TK20_descriptions_echo_nothing", func(s *suite) {
		for _, a := range []answer{
			s.form(exchangeOf("echo-code")...), s.form(exchangeOf("x", "code", "echo-again")...),
			s.form("grant_type", "echo-grant", "client_id", "cal-app"),
			s.form("grant_type", "refresh_token", "client_id", "echo-client", "client_secret", "echo-secret", "refresh_token", "echo-token"),
			s.form("grant_type", "refresh_token", "client_id", "cal-app", "client_secret", "echo-secret", "refresh_token", "echo-token"),
			s.jsonBody(`{"echo":echo}`),
		} {
			require.GreaterOrEqual(s.t, a.Status, 400)
			require.NotContains(s.t, a.JSON(s.t)["error_description"], "echo")
		}
	})
	s.run("TK23_OPTIONS", func(s *suite) {
		a := s.request("OPTIONS", oauth.PathToken, "", "Origin", "https://x.example", "Access-Control-Request-Method", "POST")
		require.Equal(s.t, http.StatusNoContent, a.Status)
		require.Empty(s.t, a.Body)
		require.Equal(s.t, "POST, OPTIONS", a.Header.Get("Allow"))
		require.Empty(s.t, a.Header.Get("Access-Control-Allow-Credentials"))
		require.Equal(s.t, "*", a.Header.Get("Access-Control-Allow-Origin"))
		require.Equal(s.t, "POST", a.Header.Get("Access-Control-Allow-Methods"))
		require.NotContains(s.t, strings.ToLower(a.Header.Get("Access-Control-Allow-Headers")), "authorization")
	})
	t.Run("TK25_no_leader", func(t *testing.T) {
		s := newSuite(t)
		code, held := s.code("cal-app"), s.tokens("cal-app")
		s.loseTheLeader()
		for _, send := range []func() answer{
			func() answer { return s.redeem("cal-app", code) },
			func() answer { return s.refresh("cal-app", held.Refresh) },
			func() answer { return s.refresh("other-app", held.Refresh) },
			func() answer {
				return s.form("grant_type", "refresh_token", "client_id", "cal-app", "client_secret", "wrong", "refresh_token", held.Refresh)
			},
		} {
			began := time.Now()
			unavailable(t, send())
			require.Less(t, time.Since(began), 4*time.Second, "a request without a leader fails after 1 s, a proposed command after 5 s; the rest is for a busy machine")
		}
	})
}

func grantType(code, value string) func(*suite) answer {
	return func(s *suite) answer { return s.form(append(exchangeOf(code)[2:], "grant_type", value)...) }
}

// success verifies TK06, TK07 and TK27.
func success(t testing.TB, a answer) {
	t.Helper()
	require.Equal(t, http.StatusOK, a.Status, a.Body)
	uncached(t, a)
	m := a.JSON(t)
	require.ElementsMatch(t, []string{"access_token", "refresh_token", "token_type", "expires_in", "scope"}, namesOf(m))
	require.NotEmpty(t, m["access_token"].(string))
	require.NotEmpty(t, m["refresh_token"].(string))
	require.Equal(t, "bearer", m["token_type"])
	require.Equal(t, float64(1800), m["expires_in"])
	require.Equal(t, strings.Join(strings.Fields(m["scope"].(string)), " "), m["scope"])
}

// unavailable requires the response that is given while there is no leader.
func unavailable(t testing.TB, a answer) {
	t.Helper()
	require.Equal(t, http.StatusServiceUnavailable, a.Status, a.Body)
	uncached(t, a)
	require.Equal(t, "1", a.Header.Get("Retry-After"))
	exactly(t, a, oauth.TemporarilyUnavailable, "The server can not decide now. Try again.")
	require.Empty(t, a.Header.Get("WWW-Authenticate"))
}

// conformClientAuthentication covers CA.
func conformClientAuthentication(t *testing.T) {
	s := newSuite(t)
	grant := func(code string) []string {
		return []string{"grant_type", "authorization_code", "code", code, "redirect_uri", callback}
	}
	for name, send := range map[string]func(s *suite, code string) answer{
		"CA01_secret_in_the_body": func(s *suite, code string) answer { return s.form(exchangeOf(code)...) },
		"CA02_Basic":              func(s *suite, code string) answer { return s.basicForm("cal-app", "cal-app-secret", grant(code)...) },
		"CA02_Basic_and_an_equal_client_id": func(s *suite, code string) answer {
			return s.basicForm("cal-app", "cal-app-secret", append(grant(code), "client_id", "cal-app")...)
		},
		"CA02_Basic_with_JSON": func(s *suite, code string) answer {
			return s.request("POST", oauth.PathToken, object(grant(code)...), "Content-Type", "application/json", "Authorization", basicAuth("cal-app", "cal-app-secret"))
		},
		"CA13_second_secret":    func(s *suite, code string) answer { return s.basicForm("cal-app", generatedSecret, grant(code)...) },
		"CA16_scheme_in_lower":  func(s *suite, code string) answer { return s.scheme("basic", grant(code)) },
		"CA16_scheme_in_upper":  func(s *suite, code string) answer { return s.scheme("BASIC", grant(code)) },
		"CA16_scheme_with_care": func(s *suite, code string) answer { return s.scheme("bAsIc", grant(code)) },
	} {
		s.run(name, func(s *suite) { success(s.t, send(s, s.code("cal-app"))) })
	}

	code := s.code("cal-app")
	live := s.tokens("cal-app")
	as := func(id, secret string) func(*suite) answer {
		return func(s *suite) answer { return s.form(append(grant(code), "client_id", id, "client_secret", secret)...) }
	}
	texts := map[string]string{
		"CA04_Basic_and_secret": "The client authenticated in two ways.",
		"CA12_two_client_ids":   "The parameter client_id differs from the Authorization header.",
	}
	for _, row := range []struct {
		name   string
		send   func(s *suite) answer
		status int
		error  oauth.Code
		basic  bool
	}{
		{"CA04_Basic_and_secret", func(s *suite) answer { return s.basicForm("cal-app", "cal-app-secret", exchangeOf(code)...) }, 400, oauth.InvalidRequest, false},
		{"CA05_empty_secret", as("cal-app", ""), 401, oauth.InvalidClient, false},
		{"CA05_secret_in_upper_case", as("cal-app", "CAL-APP-SECRET"), 401, oauth.InvalidClient, false},
		{"CA05_secret_with_a_space", as("cal-app", "cal-app-secret "), 401, oauth.InvalidClient, false},
		{"CA05_public_client_sends_a_secret", as("native-app", "x"), 401, oauth.InvalidClient, false},
		{"CA07_unknown_client_with_a_good_code", as("nobody", "cal-app-secret"), 401, oauth.InvalidClient, false},
		{"CA07_client_in_upper_case", as("CAL-APP", "cal-app-secret"), 401, oauth.InvalidClient, false},
		{"CA07_another_client", as("other-app", "cal-app-secret"), 401, oauth.InvalidClient, false},
		{"CM03_pending_client", as("pending-app", "pending-app-secret"), 400, oauth.UnauthorizedClient, false},
		{"CM03_pending_client_with_a_wrong_secret", as("pending-app", "wrong"), 401, oauth.InvalidClient, false},
		{"CM10_rejected_client", as("rejected-app", "rejected-app-secret"), 400, oauth.UnauthorizedClient, false},
		{"CM10_suspended_client", as("suspended-app", "suspended-app-secret"), 400, oauth.UnauthorizedClient, false},
		{"CA05_wrong_secret", as("cal-app", "wrong"), 401, oauth.InvalidClient, false},
		{"CA05_secret_of_another_client", as("cal-app", "other-app-secret"), 401, oauth.InvalidClient, false},
		{"CA06_wrong_secret_by_Basic", func(s *suite) answer { return s.basicForm("cal-app", "wrong", grant(code)...) }, 401, oauth.InvalidClient, true},
		{"CA06_another_scheme", func(s *suite) answer {
			return s.request("POST", oauth.PathToken, encode(grant(code)...), "Content-Type", "application/x-www-form-urlencoded", "Authorization", "Bearer "+live.Access)
		}, 401, oauth.InvalidClient, true},
		{"CA06_not_base64", func(s *suite) answer {
			return s.request("POST", oauth.PathToken, encode(grant(code)...), "Content-Type", "application/x-www-form-urlencoded", "Authorization", "Basic ***")
		}, 401, oauth.InvalidClient, true},
		{"CA08_no_secret", func(s *suite) answer { return s.form(append(grant(code), "client_id", "cal-app")...) }, 401, oauth.InvalidClient, false},
		{"CA08_no_secret_by_Basic", func(s *suite) answer { return s.basicForm("cal-app", "", grant(code)...) }, 401, oauth.InvalidClient, true},
		{"CA10_only_code_verifier", func(s *suite) answer {
			return s.form(append(grant(code), "client_id", "cal-app", "code_verifier", verifierText)...)
		}, 401, oauth.InvalidClient, false},
		{"CA12_two_client_ids", func(s *suite) answer {
			return s.basicForm("cal-app", "cal-app-secret", append(grant(code), "client_id", "other-app")...)
		}, 400, oauth.InvalidRequest, false},
		{"CA12_two_Authorization_headers", func(s *suite) answer {
			return s.request("POST", oauth.PathToken, encode(grant(code)...), "Content-Type", "application/x-www-form-urlencoded",
				"Authorization", basicAuth("cal-app", "cal-app-secret"), "Authorization", basicAuth("other-app", "other-app-secret"))
		}, 400, oauth.InvalidRequest, false},
		{"CA14_revoked_secret", as("cal-app", "old-secret"), 401, oauth.InvalidClient, false},
	} {
		s.run(row.name, func(s *suite) {
			a := row.send(s)
			refused(s.t, a, row.status, row.error)
			if text, ok := texts[row.name]; ok {
				exactly(s.t, a, row.error, text)
			}
			var challenges []string
			if row.basic {
				challenges = []string{`Basic realm="token", charset="UTF-8"`}
			}
			require.Equal(s.t, challenges, a.Header.Values("WWW-Authenticate"))
		})
	}
	s.run("CA08_nothing_was_spent", func(s *suite) { tokensOf(s.t, s.redeem("cal-app", code)) })
	s.run("CA07_unknown_client", conformUnknownClient)
	s.run("CA14_revoked_at_once", func(s *suite) {
		made := operated(s, admin.AddSecret, admin.NewSecret{Client: "other-app"})
		live := s.tokens("other-app")
		use := func() answer {
			return s.basicForm("other-app", made.Secret.Reveal(), "grant_type", "refresh_token", "refresh_token", live.Refresh)
		}
		live = tokensOf(s.t, use())
		operated(s, admin.RevokeSecret, admin.SecretRef{Client: "other-app", ID: made.ID})
		refused(s.t, use(), 401, oauth.InvalidClient)
		s.refreshed("other-app", live.Refresh)
	})
	s.run("CA19_generated_secret", func(s *suite) {
		seen := map[string]bool{}
		for range 20 {
			made := operated(s, admin.AddSecret, admin.NewSecret{Client: "other-app"})
			secret := made.Secret.Reveal()
			require.GreaterOrEqual(s.t, len(secret), 43, "256 bits in base64url")
			seen[secret] = true
			shown := string(must(json.Marshal(operated(s, admin.ShowClient, admin.ClientRef{ID: "other-app"}))))
			require.NotContains(s.t, shown, secret)
			require.NotContains(s.t, shown, secret[:len(secret)-8])
			operated(s, admin.RevokeSecret, admin.SecretRef{Client: "other-app", ID: made.ID})
		}
		require.Len(s.t, seen, 20)
	})
	s.run("CA18_nothing_in_clear_on_disk", func(s *suite) {
		code := s.code("cal-app")
		spent := s.code("cal-app")
		live := tokensOf(s.t, s.redeem("cal-app", spent))
		next := s.refreshed("cal-app", live.Refresh)
		for _, snapshot := range []bool{false, true} {
			if snapshot {
				require.NoError(s.t, s.s.Node.Snapshot())
			}
			held := onDisk(s.t, filepath.Join(s.dir, "data"))
			require.Contains(s.t, string(held), "cal-app", "the files contain the state")
			for _, secret := range []string{
				"cal-app-secret", generatedSecret, "old-secret", passwords["alice"], verifierText,
				code, spent, live.Access, live.Refresh, next.Access, next.Refresh,
			} {
				require.False(s.t, bytes.Contains(held, []byte(secret)), "%.12s…", secret)
			}
		}
	})
}

func (s *suite) scheme(name string, pairs []string) answer {
	return s.request("POST", oauth.PathToken, encode(pairs...), "Content-Type", "application/x-www-form-urlencoded",
		"Authorization", strings.Replace(basicAuth("cal-app", "cal-app-secret"), "Basic", name, 1))
}

// onDisk returns the contents of all files below a folder.
func onDisk(t testing.TB, dir string) (all []byte) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, text...)
		return err
	}))
	return all
}

// conformUnknownClient compares the median times of alternating requests. It is repeated
// several times, since the machine may be busy.
func conformUnknownClient(s *suite) {
	send := func(id string) answer {
		return s.form("grant_type", "refresh_token", "client_id", id, "client_secret", "wrong", "refresh_token", "garbage")
	}
	known, unknown := send("cal-app"), send("nobody-app")
	refused(s.t, known, 401, oauth.InvalidClient)
	refused(s.t, unknown, 401, oauth.InvalidClient)
	require.Equal(s.t, len(known.Body), len(unknown.Body))
	require.Equal(s.t, known.JSON(s.t)["error_description"], unknown.JSON(s.t)["error_description"])
	var ratio float64
	for range 4 {
		took := map[string][]time.Duration{}
		for range 100 {
			for _, id := range []string{"cal-app", "nobody-app"} {
				began := time.Now()
				send(id)
				took[id] = append(took[id], time.Since(began))
			}
		}
		ratio = float64(middle(took["cal-app"])) / float64(middle(took["nobody-app"]))
		if ratio > 1/1.2 && ratio < 1.2 {
			return
		}
	}
	require.InDelta(s.t, 1, ratio, 0.2)
}

// conformCodeGrant covers CG.
func conformCodeGrant(t *testing.T) {
	s := newSuite(t)
	s.run("CG01_good_exchange", func(s *suite) { success(s.t, s.redeem("cal-app", s.code("cal-app"))) })
	s.run("CG02_unknown_code", func(s *suite) {
		for _, code := range []string{"x", "nonsense", "mmc_", "mmc_AAAA", strings.Repeat("a", 10_000), "mmc_" + strings.Repeat("A", 90)} {
			refused(s.t, s.exchange("cal-app", code), 400, oauth.InvalidGrant)
		}
	})
	s.run("CG03_code_again", func(s *suite) {
		code := s.code("cal-app")
		live := tokensOf(s.t, s.redeem("cal-app", code))
		refused(s.t, s.redeem("cal-app", code), 400, oauth.InvalidGrant)
		refused(s.t, s.refresh("cal-app", live.Refresh), 400, oauth.InvalidGrant)
		require.Equal(s.t, 401, s.me(live.Access).Status)
	})
	s.run("CG06_code_of_another_client", func(s *suite) {
		code := s.code("cal-app")
		refused(s.t, s.exchange("other-app", code), 400, oauth.InvalidGrant)
		success(s.t, s.redeem("cal-app", code))
	})
	s.run("CG08_redirect_uri_missing", func(s *suite) {
		code := s.code("cal-app")
		pairs := exchangeOf(code)
		a := s.form(pairs[:len(pairs)-2]...)
		refused(s.t, a, 400, oauth.InvalidRequest)
		exactly(s.t, a, oauth.InvalidRequest, "The parameter redirect_uri is missing.")
		success(s.t, s.redeem("cal-app", code))
	})
	s.run("CG09_another_registered_redirect_uri", func(s *suite) {
		code := s.code("cal-app")
		for _, uri := range []string{"https://cal.example/callback", callback + "/", "http://127.0.0.1:1/callback", "https://evil.example/"} {
			refused(s.t, s.form(replaced(exchangeOf(code), "redirect_uri", uri)...), 400, oauth.InvalidGrant)
		}
		success(s.t, s.redeem("cal-app", code))
	})
	s.run("CG10_code_changed", func(s *suite) {
		code := s.code("cal-app")
		for i := range code {
			b := []byte(code)
			b[i] ^= 1
			refused(s.t, s.exchange("cal-app", string(b)), 400, oauth.InvalidGrant)
		}
		for _, other := range []string{strings.ToUpper(code), strings.ToLower(code), code + "A", code[:len(code)-1], code + "=", " " + code} {
			refused(s.t, s.exchange("cal-app", other), 400, oauth.InvalidGrant)
		}
		success(s.t, s.redeem("cal-app", code))
	})
	s.run("CG11_20_at_once", func(s *suite) {
		code := s.code("cal-app")
		answers := atOnce(20, func() answer { return s.exchange("cal-app", code) })
		good := 0
		for _, a := range answers {
			if a.Status == 200 {
				good++
				continue
			}
			refused(s.t, a, 400, oauth.InvalidGrant)
		}
		require.Equal(s.t, 1, good)
	})
	s.run("CG15_code_as_refresh_token", func(s *suite) {
		code := s.code("cal-app")
		refused(s.t, s.refresh("cal-app", code), 400, oauth.InvalidGrant)
		live := tokensOf(s.t, s.redeem("cal-app", code))
		refused(s.t, s.exchange("cal-app", live.Refresh), 400, oauth.InvalidGrant)
		s.refreshed("cal-app", live.Refresh)
	})
	s.run("CG17_code_as_bearer_token", func(s *suite) {
		code := s.code("cal-app")
		require.Equal(s.t, 401, s.me(code).Status)
		live := tokensOf(s.t, s.redeem("cal-app", code))
		require.Equal(s.t, 401, s.me(live.Refresh).Status)
	})
	t.Run("CG13_code_made_before_a_restart", func(t *testing.T) {
		s := newSuite(t)
		code := s.code("cal-app")
		s = s.restarted()
		success(t, s.redeem("cal-app", code))
	})
}

// atOnce calls f from n goroutines that start together.
func atOnce[V any](n int, f func() V) []V {
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	list := make([]V, n)
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-begin
			list[i] = f()
		})
	}
	ready.Wait()
	close(begin)
	done.Wait()
	return list
}

// conformPKCE covers PK.
func conformPKCE(t *testing.T) {
	s := newSuite(t)
	for _, client := range []string{"native-app", "cal-app"} {
		code := func(s *suite) string {
			if client == "native-app" {
				return s.code(client)
			}
			return s.code(client, "code_challenge", challenge(verifierText), "code_challenge_method", "S256")
		}
		s.run("PK01_right_verifier_of_"+client, func(s *suite) {
			success(s.t, s.exchange(client, code(s), "code_verifier", verifierText))
		})
		s.run("PK02_PK03_PK06_bad_verifiers_of_"+client, func(s *suite) {
			code := code(s)
			refused(s.t, s.exchange(client, code), 400, oauth.InvalidGrant)
			refused(s.t, s.exchange(client, code, "code_verifier", ""), 400, oauth.InvalidGrant)
			for _, bad := range []string{
				"short", strings.Repeat("w", 43), verifierText + "x", challenge(verifierText), strings.Repeat("a", 42), strings.Repeat("a", 129),
				verifierText + "!", verifierText + "=", verifierText + " ", verifierText + "\x00", "é" + verifierText,
			} {
				refused(s.t, s.exchange(client, code, "code_verifier", bad), 400, oauth.InvalidGrant)
			}
			success(s.t, s.exchange(client, code, "code_verifier", verifierText))
		})
	}
	for _, length := range []int{43, 128} {
		s.run("PK06_longest_and_shortest", func(s *suite) {
			verifier := strings.Repeat("a-._~Z09", 16)[:length]
			success(s.t, s.exchange("native-app", s.browserOf("alice").allow("alice", with("native-app", "code_challenge", challenge(verifier))).Query().Get("code"), "code_verifier", verifier))
		})
	}
	s.run("PK04_verifier_without_a_challenge", func(s *suite) {
		code := s.code("cal-app")
		for _, verifier := range []string{verifierText, "short", strings.Repeat("a", 129)} {
			refused(s.t, s.exchange("cal-app", code, "code_verifier", verifier), 400, oauth.InvalidRequest)
		}
		success(s.t, s.redeem("cal-app", code))
	})
	s.run("PK08_public_client", func(s *suite) { success(s.t, s.redeem("native-app", s.code("native-app"))) })
}
