package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier"
)

// conformAudiences: RFC 8707. A grant may be for one registered resource server.
func conformAudiences(t *testing.T) {
	s := newSuite(t)
	const mcp, files = "https://mcp.example/mcp", "https://files.example"
	redeem := func(s *suite, resource string) tokens {
		s.t.Helper()
		return tokensOf(s.t, s.exchange("cal-app", s.code("cal-app", "resource", resource)))
	}
	aud := func(s *suite, token string) any { return claimsOf(s.t, token)["aud"] }

	before := redeem(s, mcp)
	s.run("nothing_is_registered", func(s *suite) {
		require.Equal(s.t, s.Base, aud(s, before.Access), "the parameter has no effect without resource servers")
		before = tokensOf(s.t, s.refresh("cal-app", before.Refresh, "resource", mcp))
		require.Equal(s.t, s.Base, aud(s, before.Access))
		require.Equal(s.t, 200, s.me(before.Access).Status)
	})

	register := func(uri, name string, more ...string) []string {
		out := s.cli().OK("", append([]string{"resource-server", "add", uri, "--name", name}, more...)...)
		return []string{"client_id", name, "client_secret", strings.TrimSpace(out)}
	}
	ofMCP, ofFiles := register(mcp, "bookings-mcp", "--scope", "BOOKING_READ,PROFILE_READ"), register(files, "files", "--scope", "BOOKING_WRITE")
	live := redeem(s, mcp)

	s.run("the_audience_is_the_registered_identifier", func(s *suite) {
		require.Equal(s.t, mcp, aud(s, live.Access))
		require.Equal(s.t, mcp, aud(s, redeem(s, mcp+"/").Access), "a slash at the end is accepted, since clients add one")
		for _, own := range []string{s.Base, s.Base + "/", s.Base + oauth.PathMe} {
			require.Equal(s.t, s.Base, aud(s, redeem(s, own).Access), own)
		}
		require.Equal(s.t, s.Base, aud(s, s.tokens("cal-app").Access), "without the parameter")
	})
	s.run("the_consent_page_names_it", func(s *suite) {
		page := s.browserOf("alice").get(good("cal-app", "resource", mcp+"/"))
		require.Contains(s.t, page.Body, "<bdi>bookings-mcp</bdi>")
		require.Contains(s.t, page.Body, mcp)
		require.NotContains(s.t, s.browserOf("alice").get(good("cal-app")).Body, "bookings-mcp")
	})
	s.run("an_unknown_resource_at_the_authorization_endpoint", func(s *suite) {
		for name, more := range map[string][]string{
			"unknown":        {"resource", "https://other.example"},
			"another path":   {"resource", "https://mcp.example"},
			"another case":   {"resource", "https://MCP.example/mcp"},
			"two slashes":    {"resource", mcp + "//"},
			"a port":         {"resource", "https://mcp.example:443/mcp"},
			"an escape":      {"resource", "https://mcp.example/%6dcp"},
			"a query":        {"resource", mcp + "?x"},
			"a fragment":     {"resource", mcp + "#x"},
			"a name":         {"resource", "bookings-mcp"},
			"two":            {"resource", mcp, "resource", files},
			"twice the same": {"resource", mcp, "resource", mcp},
			"very long":      {"resource", mcp + strings.Repeat("a", 4096)},
		} {
			q := s.answered(good("cal-app", more...))
			require.Equal(s.t, string(oauth.InvalidTarget), q.Get("error"), name)
			require.Equal(s.t, "a-state", q.Get("state"))
			require.Equal(s.t, s.Base, q.Get("iss"))
			require.Regexp(s.t, describing, q.Get("error_description"))
		}
		require.Empty(s.t, s.answered(good("cal-app", "resource", "")).Get("error"), "an empty value is absent")
	})
	s.run("its_scopes_limit_what_may_be_asked_for", func(s *suite) {
		require.Equal(s.t, string(oauth.InvalidScope), s.answered(good("cal-app", "resource", files)).Get("error"))
	})
	s.run("the_token_endpoint_gives_the_same_or_nothing", func(s *suite) {
		code := s.code("cal-app", "resource", mcp)
		ids := map[string]string{}
		refuse := func(name string, a answer) {
			s.t.Helper()
			refused(s.t, a, 400, oauth.InvalidTarget)
			ids[name] = a.JSON(s.t)["error_id"].(string)
		}
		refuse("other", s.exchange("cal-app", code, "resource", files))
		refuse("the cluster", s.exchange("cal-app", code, "resource", s.Base))
		refuse("unknown", s.exchange("cal-app", code, "resource", "https://other.example"))
		refuse("very long", s.exchange("cal-app", code, "resource", mcp+strings.Repeat("/", 4096)))
		refuse("twice", s.exchange("cal-app", code, "resource", mcp, "resource", mcp))
		next := tokensOf(s.t, s.exchange("cal-app", code, "resource", mcp+"/"))
		require.Equal(s.t, mcp, aud(s, next.Access), "a refusal spends no code")

		refuse("other", s.refresh("cal-app", next.Refresh, "resource", files))
		refuse("the cluster", s.refresh("cal-app", next.Refresh, "resource", s.Base))
		for _, resource := range []string{"", mcp, mcp + "/"} {
			next = tokensOf(s.t, s.refresh("cal-app", next.Refresh, "resource", resource))
			require.Equal(s.t, mcp, aud(s, next.Access))
		}
		narrow := s.refresh("cal-app", next.Refresh, "resource", mcp, "scope", "BOOKING_READ")
		require.Equal(s.t, "BOOKING_READ", tokensOf(s.t, narrow).Scope)
		refuse("never more", s.refresh("cal-app", before.Refresh, "resource", mcp))
		before = tokensOf(s.t, s.refresh("cal-app", before.Refresh, "resource", s.Base))

		for name, text := range map[string]string{
			"other": "another resource server than the grant is for", "never more": "another resource server than the grant is for",
			"unknown": "names no registered resource server", "very long": "names no registered resource server", "twice": "more than once",
		} {
			require.Contains(s.t, s.cli().OK("", "explain", ids[name]), text)
		}
		metrics := s.scrape()
		for _, cause := range []string{"resource_other", "resource_unknown", "resource_repeated"} {
			require.Contains(s.t, metrics, `cause="`+cause+`"`)
		}
	})
	s.run("a_JSON_body", func(s *suite) {
		a := s.jsonBody(`{"grant_type":"authorization_code","client_id":"cal-app","client_secret":"cal-app-secret","redirect_uri":"` + callback +
			`","resource":"` + mcp + `/","code":"` + s.code("cal-app", "resource", mcp) + `"}`)
		require.Equal(s.t, mcp, aud(s, tokensOf(s.t, a).Access))
	})
	s.run("JB13_a_token_for_one_is_refused_elsewhere", func(s *suite) {
		keys, err := verifier.StaticKeys([]byte(s.request(http.MethodGet, oauth.PathJWKS, "").Body))
		require.NoError(s.t, err)
		accepts := func(audience, token string) bool {
			v, err := verifier.New(verifier.Config{Issuer: s.Base, Audience: audience, Keys: keys})
			require.NoError(s.t, err)
			_, err = v.Verify(s.t.Context(), token)
			return err == nil
		}
		plain := s.tokens("cal-app")
		for _, row := range []struct {
			audience, token string
			want            bool
		}{
			{mcp, live.Access, true},
			{files, live.Access, false},
			{s.Base, live.Access, false},
			{mcp + "/", live.Access, false},
			{mcp, plain.Access, false},
			{files, plain.Access, false},
			{s.Base, plain.Access, true},
		} {
			require.Equal(s.t, row.want, accepts(row.audience, row.token), row.audience)
		}
		a := s.me(live.Access)
		require.Equal(s.t, 401, a.Status, "/v2/me accepts only the cluster's audience")
		require.Contains(s.t, a.Header.Get("WWW-Authenticate"), `error="invalid_token"`)
		require.Equal(s.t, 401, s.request(http.MethodPatch, oauth.PathMe, `{}`, "Authorization", "Bearer "+live.Access, "Content-Type", "application/json").Status)
	})
	s.run("an_introspection_tells_the_audience_about_its_tokens", func(s *suite) {
		m := s.introspect(live.Access, ofMCP...).JSON(s.t)
		require.Equal(s.t, true, m["active"])
		require.Equal(s.t, mcp, m["aud"])
		inactive(s.t, s.introspect(live.Access, ofFiles...))
		require.Equal(s.t, mcp, s.introspect(live.Access, credentials("cal-app")...).JSON(s.t)["aud"])
		inactive(s.t, s.introspect(live.Access, credentials("other-app")...))
		plain := s.tokens("cal-app")
		for _, reader := range [][]string{ofMCP, ofFiles} {
			require.Equal(s.t, s.Base, s.introspect(plain.Access, reader...).JSON(s.t)["aud"])
		}
	})
	s.run("an_access_token_of_any_audience_is_revoked", func(s *suite) {
		gone := redeem(s, mcp)
		a := s.request(http.MethodPost, oauth.PathRevoke, encode(append(credentials("cal-app"), "token", gone.Access)...), "Content-Type", "application/x-www-form-urlencoded")
		require.Equal(s.t, 200, a.Status, a.Body)
		inactive(s.t, s.introspect(gone.Access, ofMCP...))
		refused(s.t, s.refresh("cal-app", gone.Refresh), 400, oauth.InvalidGrant)
	})
	s.run("grants_and_events_name_it", func(s *suite) {
		require.Contains(s.t, s.cli().OK("", "grant", "list", "--client", "cal-app"), "for "+mcp)
		require.Contains(s.t, s.cli().OK("", "audit"), "PROFILE_READ BOOKING_READ for "+mcp)
		page := s.browserOf("alice").get("/connected-apps/cal-app").Body
		require.NotContains(s.t, page, "bookings-mcp", "it may also use the rest")
	})
	s.run("its_removal_ends_them", func(s *suite) {
		code := s.code("cal-app", "resource", mcp)
		r := s.cli().Run("", "resource-server", "remove", "bookings-mcp", "--yes")
		require.Zero(s.t, r.Code, r.Err)
		require.Regexp(s.t, `get no more tokens: \d+`, r.Err)
		refused(s.t, s.exchange("cal-app", code), 400, oauth.InvalidTarget)
		a := s.refresh("cal-app", live.Refresh)
		refused(s.t, a, 400, oauth.InvalidTarget)
		require.Contains(s.t, s.cli().OK("", "explain", a.JSON(s.t)["error_id"].(string)), "was removed")
		require.Equal(s.t, mcp, s.introspect(live.Access, credentials("cal-app")...).JSON(s.t)["aud"], "tokens end at expiry")
		register(mcp, "bookings-mcp")
		refused(s.t, s.refresh("cal-app", live.Refresh, "resource", mcp), 400, oauth.InvalidTarget)
		require.Equal(s.t, string(oauth.InvalidTarget), s.answered(good("cal-app", "resource", "https://other.example")).Get("error"))
		require.Equal(s.t, mcp, aud(s, redeem(s, mcp).Access))
	})
}
