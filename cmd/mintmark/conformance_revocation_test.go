package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// revoke sends a revocation request of a client, with the client's secret if it has one.
func (ts *testServer) revoke(client, token string, more ...string) answer {
	ts.t.Helper()
	pairs := append([]string{"token", token}, credentials(client)...)
	return ts.revokeForm(append(pairs, more...)...)
}

func (ts *testServer) revokeForm(pairs ...string) answer {
	ts.t.Helper()
	return ts.request(http.MethodPost, oauth.PathRevoke, encode(pairs...), "Content-Type", "application/x-www-form-urlencoded")
}

// revoked requires the response for a token that was revoked or never existed.
func revoked(t testing.TB, a answer) {
	t.Helper()
	require.Equal(t, http.StatusOK, a.Status, a.Body)
	require.Empty(t, a.Body)
	require.Empty(t, a.Header.Get("Content-Type"))
	require.Equal(t, "no-store", a.Header.Get("Cache-Control"))
}

// conformRevocation covers RV.
func conformRevocation(t *testing.T) {
	s := newSuite(t)
	dead := func(s *suite, client string, live tokens) {
		s.t.Helper()
		a := s.refresh(client, live.Refresh)
		refused(s.t, a, 400, oauth.InvalidGrant)
		explained, err := s.s.Issuer.Explain(a.JSON(s.t)["error_id"].(string))
		require.NoError(s.t, err)
		require.Equal(s.t, ledger.GrantEndedByClient, explained.Cause)
		require.Equal(s.t, 401, s.me(live.Access).Status)
	}
	s.run("RV01_refresh_token", func(s *suite) {
		live, other := s.tokens("cal-app"), s.tokens("cal-app")
		revoked(s.t, s.revoke("cal-app", live.Refresh))
		dead(s, "cal-app", live)
		revoked(s.t, s.revoke("cal-app", live.Refresh))
		require.Equal(s.t, 200, s.me(other.Access).Status, "another grant of the same user and client stays valid")
		body, err := json.Marshal(map[string]string{"token": other.Refresh})
		require.NoError(s.t, err)
		revoked(s.t, s.request(http.MethodPost, oauth.PathRevoke, string(body), "Content-Type", "application/json", "Authorization", basicAuth("cal-app", "cal-app-secret")))
		dead(s, "cal-app", other)
	})
	s.run("RV01_earlier_refresh_token", func(s *suite) {
		first := s.tokens("cal-app")
		second := s.refreshed("cal-app", first.Refresh)
		third := s.refreshed("cal-app", second.Refresh)
		revoked(s.t, s.revoke("cal-app", first.Refresh))
		dead(s, "cal-app", third)
	})
	s.run("RV01_access_token_without_the_feed", func(s *suite) {
		live := s.tokens("cal-app")
		refused(s.t, s.revoke("cal-app", live.Access), 400, oauth.UnsupportedTokenType)
		refused(s.t, s.revoke("cal-app", live.Access, "client_secret", ""), 400, oauth.InvalidRequest)
		refused(s.t, s.revokeForm("client_id", "cal-app", "client_secret", "wrong", "token", live.Access), 401, oauth.InvalidClient)
		require.Equal(s.t, 200, s.me(live.Access).Status)
		s.refreshed("cal-app", live.Refresh)
	})
	t.Run("RV01_access_token", func(t *testing.T) {
		ts, secret := feedServer(t)
		s := suiteOf(t, ts)
		live := s.tokens("cal-app")
		revoked(t, s.revoke("cal-app", live.Access))
		dead(s, "cal-app", live)
		said, _ := s.revocations("calendar", secret, "")["revoked"].([]any)
		require.Len(t, said, 1)
		require.Equal(t, claimsOf(t, live.Access)["grant_id"], said[0].(map[string]any)["grant_id"])
		revoked(t, s.revoke("cal-app", live.Access))
		// A client can't revoke another client's access token, nor a token that was
		// altered.
		live = s.tokens("cal-app")
		revoked(t, s.revoke("other-app", live.Access))
		revoked(t, s.revoke("cal-app", altered(live.Access)))
		require.Equal(t, 200, s.me(live.Access).Status)
	})
	s.run("RV01_public_client", func(s *suite) {
		live := s.tokens("native-app")
		refused(s.t, s.revokeForm("client_id", "native-app", "client_secret", "x", "token", live.Refresh), 401, oauth.InvalidClient)
		revoked(s.t, s.revoke("native-app", live.Refresh))
		dead(s, "native-app", live)
	})
	s.run("RV02_unknown_token", func(s *suite) {
		live := s.tokens("cal-app")
		code := s.code("cal-app")
		for _, token := range []string{"x", "nonsense", "mmr_", "a.b.c", "mmr_" + strings.Repeat("A", 76), strings.ToUpper(live.Refresh), " " + live.Refresh, code, strings.Repeat("a", 50_000)} {
			revoked(s.t, s.revoke("cal-app", token))
			revoked(s.t, s.revoke("native-app", token))
			refused(s.t, s.revokeForm("client_id", "cal-app", "client_secret", "wrong", "token", token), 401, oauth.InvalidClient)
		}
		refused(s.t, s.revoke("cal-app", ""), 400, oauth.InvalidRequest)
		success(s.t, s.redeem("cal-app", code))
		s.refreshed("cal-app", live.Refresh)
	})
	s.run("RV02_dead_token", func(s *suite) {
		live := s.tokens("cal-app")
		id, ok := ledger.ParseGrantID(claimsOf(s.t, live.Access)["grant_id"].(string))
		require.True(s.t, ok)
		s.propose(&ledger.RevokeGrant{Actor: ledger.Actor{Operator: true}, Grant: id})
		events := s.eventsOf(ledger.EventGrantRevoked)
		revoked(s.t, s.revoke("cal-app", live.Refresh))
		require.Equal(s.t, events, s.eventsOf(ledger.EventGrantRevoked))
	})
	s.run("RV03_no_client_authentication", func(s *suite) {
		live := s.tokens("cal-app")
		for _, pairs := range [][]string{{}, {"client_id", "cal-app"}, {"client_id", "nobody"}, {"client_id", "cal-app", "client_secret", "wrong"}, {"client_secret", "cal-app-secret"}} {
			refused(s.t, s.revokeForm(append(pairs, "token", live.Refresh)...), 401, oauth.InvalidClient)
		}
		a := s.request(http.MethodPost, oauth.PathRevoke, encode("token", live.Refresh), "Content-Type", "application/x-www-form-urlencoded", "Authorization", basicAuth("cal-app", "wrong"))
		refused(s.t, a, 401, oauth.InvalidClient)
		require.Equal(s.t, `Basic realm="token", charset="UTF-8"`, a.Header.Get("WWW-Authenticate"))
		s.refreshed("cal-app", live.Refresh)
	})
	s.run("RV04_token_of_another_client", func(s *suite) {
		live := s.tokens("cal-app")
		revoked(s.t, s.revoke("other-app", live.Refresh))
		revoked(s.t, s.revoke("native-app", live.Refresh))
		s.refreshed("cal-app", live.Refresh)
	})
	s.run("RV06_hint_wrong_or_unknown", func(s *suite) {
		for _, hint := range []string{"access_token", "refresh_token", "pineapple", ""} {
			live := s.tokens("cal-app")
			revoked(s.t, s.revoke("cal-app", live.Refresh, "token_type_hint", hint))
			dead(s, "cal-app", live)
		}
	})
	s.run("RV08_GET", func(s *suite) {
		live := s.tokens("cal-app")
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete} {
			a := s.request(method, oauth.PathRevoke+"?"+encode(append(credentials("cal-app"), "token", live.Refresh)...), "")
			require.Equal(s.t, http.StatusMethodNotAllowed, a.Status)
			require.Equal(s.t, "OPTIONS, POST", a.Header.Get("Allow"))
		}
		s.refreshed("cal-app", live.Refresh)
	})
	t.Run("RV10_no_quorum", func(t *testing.T) {
		s := newSuite(t)
		live := s.tokens("cal-app")
		s.loseTheLeader()
		unavailable(t, s.revoke("cal-app", live.Refresh))
		unavailable(t, s.revoke("cal-app", "nonsense"))
		s = s.restarted()
		s.refreshed("cal-app", live.Refresh)
	})
}
