package main

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// introspect posts a form to the introspection endpoint.
func (ts *testServer) introspect(token string, pairs ...string) answer {
	ts.t.Helper()
	return ts.request(http.MethodPost, oauth.PathIntrospect, encode(append([]string{"token", token}, pairs...)...),
		"Content-Type", "application/x-www-form-urlencoded")
}

// inactive requires a response that reveals only that the token is not active.
func inactive(t *testing.T, a answer) {
	t.Helper()
	require.Equal(t, 200, a.Status, a.Body)
	require.Equal(t, `{"active":false}`, a.Body)
	require.Equal(t, "no-store", a.Header.Get("Cache-Control"))
}

// conformIntrospection covers IN.
func conformIntrospection(t *testing.T) {
	s := newSuite(t)
	calendar := []string{"client_id", "https://calendar.example", "client_secret", s.registerCalendar()}
	s.run("IN01_live_tokens_of_the_caller", func(s *suite) {
		live := s.tokens("cal-app")
		claims := claimsOf(s.t, live.Access)
		m := s.introspect(live.Refresh, credentials("cal-app")...).JSON(s.t)
		require.Equal(s.t, true, m["active"])
		require.Equal(s.t, "cal-app", m["client_id"])
		require.Equal(s.t, live.Scope, m["scope"])
		require.Equal(s.t, claims["sub"], m["sub"])
		require.Equal(s.t, claims["grant_id"], m["grant_id"])
		require.InDelta(s.t, claims["iat"].(float64)+30*24*3600, m["exp"], 2)
		require.NotContains(s.t, m, "token_type")

		for name, who := range map[string][]string{"the client": credentials("cal-app"), "a resource server": calendar} {
			m = s.introspect(live.Access, append(who, "token_type_hint", "refresh_token")...).JSON(s.t)
			require.Equal(s.t, true, m["active"], name)
			require.Equal(s.t, "bearer", m["token_type"])
			for _, same := range []string{"iss", "sub", "aud", "exp", "iat", "jti", "client_id", "scope", "legacy", "grant_id"} {
				require.Equal(s.t, claims[same], m[same], same)
			}
		}
		s.refreshed("cal-app", live.Refresh)
	})
	s.run("IN01_inactive_tells_nothing_else", func(s *suite) {
		live := s.tokens("cal-app")
		for name, a := range map[string]answer{
			"garbage":                              s.introspect("garbage", credentials("cal-app")...),
			"a forged refresh token":               s.introspect(altered(live.Refresh), credentials("cal-app")...),
			"a code":                               s.introspect(s.code("cal-app"), credentials("cal-app")...),
			"an access token of another client":    s.introspect(live.Access, credentials("other-app")...),
			"a refresh token of another client":    s.introspect(live.Refresh, credentials("other-app")...),
			"a refresh token to a resource server": s.introspect(live.Refresh, calendar...),
		} {
			s.t.Log(name)
			inactive(s.t, a)
		}
		next := tokensOf(s.t, s.refresh("cal-app", live.Refresh))
		inactive(s.t, s.introspect(live.Refresh, credentials("cal-app")...))
		require.Equal(s.t, true, s.introspect(next.Refresh, credentials("cal-app")...).JSON(s.t)["active"], "an introspection does not spend a refresh token")
		s.cli().OK("", "client", "suspend", "cal-app")
		inactive(s.t, s.introspect(next.Access, calendar...))
		inactive(s.t, s.introspect(next.Refresh, credentials("cal-app")...))
		s.cli().OK("", "client", "resume", "cal-app")
		require.Equal(s.t, true, s.introspect(next.Access, calendar...).JSON(s.t)["active"])
		s.cli().OK("", "grant", "revoke", claimsOf(s.t, next.Access)["grant_id"].(string))
		inactive(s.t, s.introspect(next.Access, calendar...))
		inactive(s.t, s.introspect(next.Refresh, credentials("cal-app")...))
	})
	s.run("IN03_no_authentication", func(s *suite) {
		live := s.tokens("native-app")
		for name, pairs := range map[string][]string{
			"nobody":            nil,
			"an unknown client": {"client_id", "nobody", "client_secret", "x"},
			"a public client":   {"client_id", "native-app"},
			"no secret":         {"client_id", "cal-app"},
			"a wrong secret":    {"client_id", "cal-app", "client_secret", "wrong"},
			"a revoked secret":  {"client_id", "cal-app", "client_secret", "old-secret"},
			"a foreign secret":  {"client_id", "calendar", "client_secret", "cal-app-secret"},
		} {
			s.t.Log(name)
			refused(s.t, s.introspect(live.Access, pairs...), 401, oauth.InvalidClient)
		}
		a := s.request(http.MethodPost, oauth.PathIntrospect, "token=x", "Content-Type", "application/x-www-form-urlencoded", "Authorization", basicAuth("cal-app", "wrong"))
		refused(s.t, a, 401, oauth.InvalidClient)
		require.Contains(s.t, a.Header.Get("WWW-Authenticate"), "Basic")
	})
	s.run("IN05_token_missing", func(s *suite) {
		refused(s.t, s.introspect("", credentials("cal-app")...), 400, oauth.InvalidRequest)
		refused(s.t, s.introspect("", calendar...), 400, oauth.InvalidRequest)
	})
	s.run("IN06_GET", func(s *suite) {
		a := s.request(http.MethodGet, oauth.PathIntrospect+"?token=x&client_id=cal-app&client_secret=cal-app-secret", "")
		require.Equal(s.t, 405, a.Status)
		require.Equal(s.t, "POST", a.Header.Get("Allow"))
	})
	s.run("a_resource_server_sees_its_scopes", func(s *suite) {
		s.cli().OK("", "resource-server", "set", "calendar", "--scope", "BOOKING_READ")
		live := s.tokens("cal-app")
		require.Equal(s.t, "BOOKING_READ", s.introspect(live.Access, calendar...).JSON(s.t)["scope"])
		require.Equal(s.t, live.Scope, s.introspect(live.Access, credentials("cal-app")...).JSON(s.t)["scope"])
	})
	s.run("the_metadata_announces_it", func(s *suite) {
		m := s.request(http.MethodGet, oauth.PathMetadata, "").JSON(s.t)
		require.Equal(s.t, s.Base+"/v2/auth/oauth2/introspect", m["introspection_endpoint"])
		require.Equal(s.t, []any{"client_secret_basic", "client_secret_post"}, m["introspection_endpoint_auth_methods_supported"])
	})
}

// TestRevokedResourceSecretOfThreeNodes: once one node has answered that a resource
// server's secret is revoked, no node accepts it.
func TestRevokedResourceSecretOfThreeNodes(t *testing.T) {
	h := newFeedCluster3(t)
	status := func(node int, secret string) (introspection, feed int) {
		ts := h.at(t, node)
		return ts.introspect("x", "client_id", "calendar", "client_secret", secret).Status,
			ts.request(http.MethodGet, oauth.PathRevocations, "", "Authorization", basicAuth("calendar", secret)).Status
	}
	for round := range 3 {
		operator := operatorOf(t, h.nodes[round].Dir)
		var added struct{ ID, Secret string }
		require.NoError(t, json.Unmarshal([]byte(operator.Must("", "resource-server", "secret", "add", "calendar", "-o", "json")), &added))
		for node := range h.nodes {
			introspection, feed := status(node, added.Secret)
			require.Equal(t, []int{200, 200}, []int{introspection, feed}, "at node %d", node)
		}
		operator.Must("", "resource-server", "secret", "revoke", "calendar", added.ID)
		for node := range h.nodes {
			introspection, feed := status(node, added.Secret)
			require.Equal(t, []int{401, 401}, []int{introspection, feed}, "at node %d", node)
		}
	}
}
