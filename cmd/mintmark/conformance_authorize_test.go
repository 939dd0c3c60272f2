package main

import (
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// with returns a valid authorization request of a client with some parameters changed.
// pairs are names and values; an empty value removes the parameter.
func with(client string, pairs ...string) string {
	u, _ := url.Parse(good(client))
	q := u.Query()
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			q.Del(pairs[i])
		} else {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return oauth.PathAuthorize + "?" + q.Encode()
}

// conformAuthorize covers what the authorization endpoint refuses and what it ignores.
func conformAuthorize(t *testing.T) {
	s := newSuite(t)
	bob := s.browser() // bob owns none of these clients; an owner is shown more details
	bob.consent("bob", good("cal-app"))

	// If the client or the redirection URI can't be trusted, the error is shown on a
	// page.
	for _, row := range []struct {
		name, path, hides string
		status            int
	}{
		{"AZ06_unknown_client", with("cal-app", "client_id", "nobody"), "127.0.0.1:9999", 400},
		{"AZ07_client_id_missing", with("cal-app", "client_id", ""), "127.0.0.1:9999", 400},
		{"AZ08_redirect_uri_missing", with("cal-app", "redirect_uri", ""), "cal.example", 400},
		{"AZ09_redirect_uri_of_another_origin", with("cal-app", "redirect_uri", "https://evil.example/callback"), "evil.example", 400},
		{"AZ10_trailing_slash", with("cal-app", "redirect_uri", callback+"/"), "callback/", 400},
		{"AZ12_query_added", with("cal-app", "redirect_uri", callback+"?x=1"), "x=1", 400},
		{"AZ14_http_for_https", with("cal-app", "redirect_uri", "http://cal.example/callback"), "cal.example", 400},
		{"AZ14_https_for_http", with("cal-app", "redirect_uri", "https://127.0.0.1:9999/callback"), "127.0.0.1:9999", 400},
		{"AZ16_fragment_added", with("cal-app", "redirect_uri", callback+"#f"), "#f", 400},
		{"AZ18_another_port_of_a_confidential_client", with("cal-app", "redirect_uri", "http://127.0.0.1:1/callback"), "127.0.0.1:1/", 400},
		{"AZ18_localhost_for_the_address", with("native-app", "redirect_uri", "http://localhost:5000/callback"), "localhost:5000", 400},
		{"AZ18_another_path", with("native-app", "redirect_uri", "http://127.0.0.1:5000/other"), "127.0.0.1:5000", 400},
		{"AZ20_client_id_twice", good("cal-app", "client_id", "cal-app"), "127.0.0.1:9999", 400},
		{"AZ20_redirect_uri_twice", good("cal-app", "redirect_uri", callback), "127.0.0.1:9999", 400},
		{"AZ43_client_pending", with("pending-app"), "127.0.0.1:9999", 403},
		{"AZ43_client_rejected", with("rejected-app"), "127.0.0.1:9999", 403},
		{"AZ43_client_suspended", with("suspended-app"), "127.0.0.1:9999", 403},
	} {
		s.run(row.name, func(s *suite) {
			before := s.grants()
			for who, b := range map[string]*browser{"bob": bob, "a stranger": s.browser()} {
				a := b.get(row.path)
				require.Equal(s.t, row.status, a.Status, who)
				require.Contains(s.t, a.Header.Get("Content-Type"), "text/html")
				require.Empty(s.t, a.Header.Get("Location"))
				require.Empty(s.t, a.Header.Get("Refresh"))
				require.NotContains(s.t, strings.ToLower(a.Body), `http-equiv="refresh"`)
				require.NotContains(s.t, a.Body, row.hides)
			}
			require.Equal(s.t, before, s.grants())
		})
	}

	// All other errors are sent to the client once the user has signed in.
	long := strings.Repeat("a", 129)
	for _, row := range []struct {
		name, path string
		code       oauth.Code
	}{
		{"AZ24_response_type_token", with("cal-app", "response_type", "token"), oauth.UnsupportedResponseType},
		{"AZ24_response_type_code_token", with("cal-app", "response_type", "code token"), oauth.UnsupportedResponseType},
		{"AZ27_unknown_scope", with("cal-app", "scope", "PROFILE_READ openid"), oauth.InvalidScope},
		{"AZ28_scope_not_enabled", with("cal-app", "scope", "SCHEDULE_READ"), oauth.InvalidScope},
		{"AZ28_TEAM_under_an_ORG_that_is_enabled", with("cal-app", "scope", "TEAM_PROFILE_READ"), oauth.InvalidScope},
		{"AZ28_no_scope_on_a_scoped_client", with("cal-app", "scope", ""), oauth.InvalidScope},
		{"AZ33_quote_in_scope", with("cal-app", "scope", `PROFILE_READ "raw-quote`), oauth.InvalidScope},
		{"AZ33_backslash_in_scope", with("cal-app", "scope", `raw\quote`), oauth.InvalidScope},
		{"AZ33_control_character_in_scope", with("cal-app", "scope", "raw\x01quote\r\nraw: quote"), oauth.InvalidScope},
		{"AZ36_public_client_without_challenge", with("native-app", "code_challenge", "", "code_challenge_method", ""), oauth.InvalidRequest},
		{"AZ37_challenge_method_plain", with("native-app", "code_challenge_method", "plain"), oauth.InvalidRequest},
		{"AZ37_challenge_method_plain_of_a_confidential_client", with("cal-app", "code_challenge", challenge(verifierText), "code_challenge_method", "plain"), oauth.InvalidRequest},
		{"AZ40_challenge_of_42", with("native-app", "code_challenge", challenge(verifierText)[:42]), oauth.InvalidRequest},
		{"AZ40_challenge_of_129", with("native-app", "code_challenge", long), oauth.InvalidRequest},
		{"AZ40_challenge_with_padding", with("native-app", "code_challenge", challenge(verifierText)[:42]+"="), oauth.InvalidRequest},
		{"AZ40_challenge_with_plus", with("native-app", "code_challenge", "+"+challenge(verifierText)[1:]), oauth.InvalidRequest},
		{"AZ40_challenge_of_a_confidential_client", with("cal-app", "code_challenge", long), oauth.InvalidRequest},
	} {
		s.run(row.name, func(s *suite) {
			before := s.grants()
			stranger := s.browser().get(row.path)
			require.Equal(s.t, http.StatusOK, stranger.Status, "no redirect before the user has signed in")
			require.Contains(s.t, stranger.Body, `name="password"`)

			a := s.browserOf("alice").get(row.path)
			got := sentTo(s.t, a, callback)
			require.ElementsMatch(s.t, []string{"error", "error_description", "state", "iss"}, namesOf(got))
			require.Equal(s.t, string(row.code), got.Get("error"))
			require.Regexp(s.t, describing, got.Get("error_description"))
			require.Equal(s.t, "a-state", got.Get("state"))
			require.Equal(s.t, s.Base, got.Get("iss"))
			require.NotContains(s.t, a.Header.Get("Location"), "quote")
			require.NotContains(s.t, a.Header.Get("Location"), "access_token")
			require.Equal(s.t, "no-store", a.Header.Get("Cache-Control"))
			require.Equal(s.t, before, s.grants())
		})
	}

	s.run("AZ45_POST", func(s *suite) {
		for _, body := range []string{"", "token=x", strings.TrimPrefix(good("cal-app"), oauth.PathAuthorize+"?")} {
			a := s.request(http.MethodPost, good("cal-app"), body, "Content-Type", "application/x-www-form-urlencoded")
			require.Less(s.t, a.Status, 500)
			require.Empty(s.t, a.Header.Get("Location"))
			if body != "token=x" {
				require.Equal(s.t, http.StatusMethodNotAllowed, a.Status)
				require.Equal(s.t, "GET, HEAD", a.Header.Get("Allow"))
			}
		}
	})
	s.run("AZ64_HEAD", func(s *suite) {
		before := s.grants()
		a := do(s.t, s.browserOf("alice").client, must(http.NewRequestWithContext(s.t.Context(), http.MethodHead, s.App+good("cal-app"), nil)))
		require.Equal(s.t, http.StatusOK, a.Status)
		require.Empty(s.t, a.Body)
		require.Empty(s.t, a.Header.Get("Location"))
		require.Equal(s.t, before, s.grants())
	})
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// conformSignIn covers the pages, the session, and what must not be logged.
func conformSignIn(t *testing.T) {
	s := newSuite(t)
	s.run("AZ47_AZ49_AZ50_every_page", func(s *suite) {
		stranger := s.browser()
		signIn := stranger.get(good("cal-app"))
		pages := map[string]answer{
			"sign-in": signIn, "wrong password": stranger.submit(signIn, "password", "username", "bob", "password", "wrong"),
			"right password": stranger.submit(signIn, "password", "username", "bob", "password", passwords["bob"]),
			"consent":        s.browserOf("alice").get(good("cal-app")), "home": s.browserOf("alice").get("/"), "account": s.browserOf("alice").get("/account"),
			"error": s.browserOf("alice").get(with("cal-app", "client_id", "nobody")), "not found": s.browserOf("alice").get("/nowhere"),
		}
		pages["code"] = s.browserOf("alice").submit(pages["consent"], "decision", "decision", "allow")
		for name, page := range pages {
			require.Equal(s.t, "DENY", page.Header.Get("X-Frame-Options"), name)
			require.Contains(s.t, page.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'", name)
			require.Equal(s.t, "no-store", page.Header.Get("Cache-Control"), name)
		}
		require.NotEmpty(s.t, sentTo(s.t, pages["code"], callback).Get("code"))
		require.Equal(s.t, http.StatusSeeOther, pages["right password"].Status)
	})
	s.run("AZ52_session_cookie", func(s *suite) {
		b := s.browser()
		in := b.submit(b.get(good("cal-app")), "password", "username", "alice", "password", passwords["alice"])
		cookies := (&http.Response{Header: in.Header}).Cookies()
		require.NotEmpty(s.t, cookies)
		for _, c := range cookies {
			require.True(s.t, c.HttpOnly, c.Name)
			require.Equal(s.t, http.SameSiteLaxMode, c.SameSite, c.Name)
			require.Equal(s.t, "/", c.Path, c.Name)
			require.False(s.t, c.Secure, "%s on http", c.Name)
		}
	})
	s.run("AZ54_unknown_user_against_wrong_password", func(s *suite) {
		b := s.browser()
		page := b.get(good("cal-app"))
		took := map[string][]time.Duration{}
		bodies := map[string]string{}
		// A busy machine only adds to the time, so the fastest attempt counts.
		ratio := 0.0
		for range 8 {
			for _, user := range []string{"bob", "eve"} {
				began := time.Now()
				a := b.submit(page, "password", "username", user, "password", "a wrong password")
				took[user] = append(took[user], time.Since(began))
				require.Equal(s.t, http.StatusUnprocessableEntity, a.Status)
				bodies[user] = strings.ReplaceAll(a.Body, `"`+user+`"`, `"NAME"`)
			}
			ratio = float64(slices.Min(took["bob"])) / float64(slices.Min(took["eve"]))
		}
		require.Equal(s.t, bodies["bob"], bodies["eve"])
		require.InDelta(s.t, 1, ratio, 0.6, "%v", took)
	})
	t.Run("AZ52_session_cookie_on_https", func(t *testing.T) {
		s, _ := newSecure(t)
		page := s.secureGet(good("cal-app"))
		cookies := (&http.Response{Header: page.Header}).Cookies()
		require.NotEmpty(t, cookies)
		for _, c := range cookies {
			require.True(t, c.Secure && c.HttpOnly, c.Name)
			require.Contains(t, c.Name, "__Host-")
		}
	})
	t.Run("AZ60_logs_after_a_full_flow", conformLogs)
}

func middle[V time.Duration | float64](list []V) V {
	return slices.Sorted(slices.Values(list))[len(list)/2]
}

func conformLogs(t *testing.T) {
	var log testkit.Buffer
	ts := startTestServer(t, t.TempDir(), fixtureText, func(c *server.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	s := suiteOf(t, ts)
	code := s.code("native-app")
	refused(t, s.exchange("native-app", code, "code_verifier", strings.Repeat("v", 43)), 400, oauth.InvalidGrant)
	native := tokensOf(t, s.redeem("native-app", code))
	first := s.tokens("cal-app")
	second := s.refreshed("cal-app", first.Refresh)
	refused(t, s.basicForm("cal-app", "a-wrong-secret", "grant_type", "refresh_token", "refresh_token", second.Refresh), 401, oauth.InvalidClient)
	require.Equal(t, 200, s.me(second.Access).Status)
	require.Equal(t, 401, s.me(second.Access+"x").Status)

	text := log.String()
	require.Contains(t, text, "client=native-app", "the log is not empty")
	site := must(url.Parse(s.App))
	session := s.browserOf("alice").client.Jar.Cookies(site)
	require.NotEmpty(t, session)
	for _, hidden := range []string{
		code, verifierText, strings.Repeat("v", 43), challenge(verifierText), passwords["alice"], url.QueryEscape(passwords["alice"]),
		native.Access, native.Refresh, first.Access, first.Refresh, second.Access, second.Refresh,
		"cal-app-secret", "a-wrong-secret", basicAuth("cal-app", "a-wrong-secret"), "a-state", strings.Split(session[0].Value, ".")[0],
	} {
		require.NotContains(t, text, hidden)
	}
}

// conformCodes covers valid requests.
func conformCodes(t *testing.T) {
	s := newSuite(t)
	for _, row := range []struct {
		name, client, path, uri string
		scope                   string
		noState                 bool
	}{
		{name: "AZ01_good_request", client: "cal-app", path: good("cal-app", "response_type", "code")},
		{name: "AZ03_no_state", client: "cal-app", path: with("cal-app", "state", ""), noState: true},
		{name: "AZ04_iss", client: "cal-app", path: good("cal-app")},
		{name: "AZ18_any_port", client: "native-app", path: with("native-app", "redirect_uri", "http://127.0.0.1:49152/callback"), uri: "http://127.0.0.1:49152/callback"},
		{name: "AZ18_no_port", client: "native-app", path: with("native-app", "redirect_uri", "http://127.0.0.1/callback"), uri: "http://127.0.0.1/callback"},
		{name: "AZ22_empty_state", client: "cal-app", path: with("cal-app", "state", "") + "&state=", noState: true},
		{name: "AZ23_unknown_parameter", client: "cal-app", path: good("cal-app", "foo", "bar", "resource", "https://x.example", "prompt", "none")},
		{name: "AZ26_no_response_type", client: "cal-app", path: good("cal-app")},
		{name: "AZ30_commas", client: "cal-app", path: with("cal-app", "scope", "BOOKING_READ,PROFILE_READ"), scope: "BOOKING_READ PROFILE_READ"},
		{name: "AZ30_commas_and_spaces", client: "cal-app", path: with("cal-app", "scope", " PROFILE_READ, BOOKING_READ,,PROFILE_READ "), scope: "PROFILE_READ BOOKING_READ"},
		{name: "AZ34_legacy_client_without_scope", client: "legacy-app", path: good("legacy-app"), scope: "-"},
		{name: "AZ39_challenge_without_a_method", client: "native-app", path: with("native-app", "code_challenge_method", "")},
	} {
		s.run(row.name, func(s *suite) {
			consent := s.browserOf("alice").get(row.path)
			require.Equal(s.t, http.StatusOK, consent.Status)
			uri := row.uri
			if uri == "" {
				uri = callback
			}
			got := sentTo(s.t, s.browserOf("alice").submit(consent, "decision", "decision", "allow"), uri)
			want := []string{"code", "state", "iss"}
			if row.noState {
				want = []string{"code", "iss"}
			} else {
				require.Equal(s.t, "a-state", got.Get("state"))
			}
			require.ElementsMatch(s.t, want, namesOf(got))
			issuer := s.request(http.MethodGet, oauth.PathMetadata, "").JSON(s.t)["issuer"]
			require.Equal(s.t, issuer, got.Get("iss"))

			pairs := append([]string{"grant_type", "authorization_code", "code", got.Get("code"), "redirect_uri", uri}, credentials(row.client)...)
			if row.client == "native-app" {
				pairs = append(pairs, "code_verifier", verifierText)
			}
			issued := tokensOf(s.t, s.form(pairs...))
			switch row.scope {
			case "":
				require.Equal(s.t, "PROFILE_READ BOOKING_READ", issued.Scope)
			case "-":
				require.Empty(s.t, issued.Scope)
				require.Equal(s.t, true, claimsOf(s.t, issued.Access)["legacy"])
			default:
				require.Equal(s.t, row.scope, issued.Scope)
			}
		})
	}
	s.run("AZ39_never_taken_as_plain", func(s *suite) {
		code := s.browserOf("alice").allow("alice", with("native-app", "code_challenge_method", "")).Query().Get("code")
		refused(s.t, s.exchange("native-app", code, "code_verifier", challenge(verifierText)), 400, oauth.InvalidGrant)
	})
	s.run("AZ42_the_user_denies", func(s *suite) {
		got := sentTo(s.t, s.browserOf("alice").submit(s.browserOf("alice").get(good("cal-app")), "decision", "decision", "cancel"), callback)
		require.ElementsMatch(s.t, []string{"error", "error_description", "state", "iss"}, namesOf(got))
		require.Equal(s.t, "access_denied", got.Get("error"))
		require.Equal(s.t, "a-state", got.Get("state"))
	})
	s.run("AZ55_consent_page", func(s *suite) {
		page := s.browserOf("alice").get(with("cal-app", "redirect_uri", "https://cal.example/callback"))
		require.Contains(s.t, page.Body, "Calendar App")
		require.Contains(s.t, page.Body, "cal.example")
		require.Contains(s.t, page.Body, "See your bookings")
		require.Contains(s.t, page.Body, "See your profile")
		require.NotContains(s.t, page.Body, "BOOKING_READ</")
	})
	s.run("AZ57_wider_scope_is_asked_again", func(s *suite) {
		s.browserOf("alice").allow("alice", with("cal-app", "scope", "PROFILE_READ"))
		before := s.grants()
		page := s.browserOf("alice").get(with("cal-app", "scope", "PROFILE_READ BOOKING_WRITE"))
		require.Equal(s.t, http.StatusOK, page.Status)
		require.Contains(s.t, page.Body, `name="decision"`)
		require.Contains(s.t, page.Body, "reassign your bookings")
		require.Equal(s.t, before, s.grants())
	})
	s.run("AZ62_state_with_line_breaks", func(s *suite) {
		state := "a\r\nSet-Cookie: stolen=1\r\n\r\n<b>&code=x#f"
		a := s.browserOf("alice").submit(s.browserOf("alice").get(with("cal-app", "state", state)), "decision", "decision", "allow")
		require.Equal(s.t, state, sentTo(s.t, a, callback).Get("state"))
		require.NotContains(s.t, a.Header.Get("Location"), "\n")
		for _, line := range a.Header["Set-Cookie"] {
			require.NotContains(s.t, line, "stolen")
		}
	})
	s.run("AZ58_codes_are_distinct", func(s *suite) {
		page := s.browserOf("alice").get(good("cal-app"))
		seen := map[string]bool{}
		random := map[string]bool{}
		for range 1000 {
			code := sentTo(s.t, s.browserOf("alice").submit(page, "decision", "decision", "allow"), callback).Get("code")
			seen[code] = true
			_, text, _ := strings.Cut(code, "_")
			bytes, err := base64.RawURLEncoding.DecodeString(text)
			require.NoError(s.t, err)
			require.GreaterOrEqual(s.t, len(bytes), 16+32, "a random id and a MAC")
			random[string(bytes[len(bytes)-32:])] = true
		}
		require.Len(s.t, seen, 1000)
		require.Len(s.t, random, 1000)
	})
}
