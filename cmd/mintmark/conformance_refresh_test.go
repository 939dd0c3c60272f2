package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// conformRefresh covers RF with the default retry window.
func conformRefresh(t *testing.T) {
	s := newSuite(t)
	s.run("RF01_RF02_good_refresh", func(s *suite) {
		for _, client := range []string{"cal-app", "legacy-app"} {
			first := s.tokens(client)
			a := s.refresh(client, first.Refresh)
			success(s.t, a)
			second := tokensOf(s.t, a)
			require.NotEqual(s.t, first.Access, second.Access)
			require.NotEqual(s.t, first.Refresh, second.Refresh)
			require.Equal(s.t, first.Scope, second.Scope)
			s.refreshed(client, second.Refresh)
		}
	})
	s.run("RF04_wider_scope", func(s *suite) {
		live := s.tokens("cal-app")
		for _, wider := range []string{
			"PROFILE_READ BOOKING_READ BOOKING_WRITE", // enabled on the client, but not granted
			"SCHEDULE_READ", "BOOKING_READ unknown", "openid", `"`,
		} {
			refused(s.t, s.refresh("cal-app", live.Refresh, "scope", wider), 400, oauth.InvalidScope)
		}
		s.refreshed("cal-app", live.Refresh)
	})
	s.run("RF04_narrower_scope_leaves_the_grant_as_it_is", func(s *suite) {
		live := s.tokens("cal-app")
		narrow := tokensOf(s.t, s.refresh("cal-app", live.Refresh, "scope", "BOOKING_READ"))
		require.Equal(s.t, "BOOKING_READ", narrow.Scope)
		require.Equal(s.t, "BOOKING_READ", claimsOf(s.t, narrow.Access)["scope"])
		require.Equal(s.t, 403, s.me(narrow.Access).Status)
		require.Equal(s.t, live.Scope, s.refreshed("cal-app", narrow.Refresh).Scope)
	})
	s.run("RF08_no_secret", func(s *suite) {
		live := s.tokens("cal-app")
		pairs := []string{"grant_type", "refresh_token", "refresh_token", live.Refresh, "client_id", "cal-app"}
		refused(s.t, s.form(pairs...), 401, oauth.InvalidClient)
		for _, secret := range []string{"wrong", "other-app-secret", "old-secret"} {
			refused(s.t, s.form(append(pairs, "client_secret", secret)...), 401, oauth.InvalidClient)
		}
		refused(s.t, s.form(append(replaced(pairs, "client_id", "nobody"), "client_secret", "cal-app-secret")...), 401, oauth.InvalidClient)
		s.refreshed("cal-app", live.Refresh)
	})
	s.run("RF09_credentials_of_another_client", func(s *suite) {
		live := s.tokens("cal-app")
		for _, other := range []string{"other-app", "native-app"} {
			refused(s.t, s.refresh(other, live.Refresh), 400, oauth.InvalidGrant)
		}
		next := s.refreshed("cal-app", live.Refresh)
		refused(s.t, s.refresh("other-app", live.Refresh), 400, oauth.InvalidGrant) // a spent token ends nothing either
		s.refreshed("cal-app", next.Refresh)
	})
	s.run("RF11_public_client", func(s *suite) {
		live := s.tokens("native-app")
		next := s.refreshed("native-app", live.Refresh)
		require.NotEqual(s.t, live.Refresh, next.Refresh)
		s.refreshed("native-app", next.Refresh)
	})
	s.run("RF14_garbage", func(s *suite) {
		live := s.tokens("cal-app")
		for i := range live.Refresh {
			b := []byte(live.Refresh)
			b[i] ^= 1
			refused(s.t, s.refresh("cal-app", string(b)), 400, oauth.InvalidGrant)
		}
		for _, other := range []string{"x", "\x00", live.Refresh + "A", live.Refresh[1:], strings.ToUpper(live.Refresh), strings.Repeat("a", 50_000)} {
			refused(s.t, s.refresh("cal-app", other), 400, oauth.InvalidGrant)
		}
		refused(s.t, s.refresh("cal-app", ""), 400, oauth.InvalidRequest)
		s.refreshed("cal-app", live.Refresh)
	})
	s.run("RF15_20_at_once_inside_the_window", func(s *suite) {
		live := s.tokens("cal-app")
		next := map[string]bool{}
		for _, a := range atOnce(20, func() answer { return s.refresh("cal-app", live.Refresh) }) {
			next[tokensOf(s.t, a).Refresh] = true
		}
		require.Len(s.t, next, 1, "at most one successor is valid")
	})
	s.run("RF17_RF_issued_under_the_old_secret", func(s *suite) {
		code, live := s.code("other-app"), s.tokens("other-app")
		made := operated(s, admin.AddSecret, admin.NewSecret{Client: "other-app"})
		old := operated(s, admin.ShowClient, admin.ClientRef{ID: "other-app"}).Secrets[0]
		operated(s, admin.RevokeSecret, admin.SecretRef{Client: "other-app", ID: old.ID})
		refused(s.t, s.refresh("other-app", live.Refresh), 401, oauth.InvalidClient)
		next := tokensOf(s.t, s.basicForm("other-app", made.Secret.Reveal(), "grant_type", "refresh_token", "refresh_token", live.Refresh))
		require.Equal(s.t, 200, s.me(next.Access).Status)
		require.Equal(s.t, 200, s.me(live.Access).Status, "an access token issued before the rotation stays valid")
		success(s.t, s.basicForm("other-app", made.Secret.Reveal(), "grant_type", "authorization_code", "code", code, "redirect_uri", callback))
	})
	s.run("RF22_the_user_withdraws_the_grant", func(s *suite) {
		b := s.browser()
		path := good("cal-app")
		code := b.allow("bob", path).Query().Get("code")
		live := tokensOf(s.t, s.redeem("cal-app", b.allow("bob", path).Query().Get("code")))
		require.Equal(s.t, 303, b.submit(b.get("/connected-apps"), "client").Status)
		refused(s.t, s.refresh("cal-app", live.Refresh), 400, oauth.InvalidGrant)
		refused(s.t, s.redeem("cal-app", code), 400, oauth.InvalidGrant)
		require.Equal(s.t, 401, s.me(live.Access).Status)
	})
	s.run("RF24_access_token_as_refresh_token", func(s *suite) {
		live := s.tokens("cal-app")
		refused(s.t, s.refresh("cal-app", live.Access), 400, oauth.InvalidGrant)
		s.refreshed("cal-app", live.Refresh)
	})
	t.Run("RF19_restart_between_two_refreshes", func(t *testing.T) {
		s := newSuite(t)
		live := s.tokens("cal-app")
		next := s.refreshed("cal-app", live.Refresh)
		s = s.restarted()
		again := s.refreshed("cal-app", live.Refresh)
		require.Equal(t, next.Refresh, again.Refresh, "the response may have been lost when the server stopped")
		require.Equal(t, 200, s.me(next.Access).Status)
		s.refreshed("cal-app", next.Refresh)
	})
}

// conformRefreshWithoutWindow covers reuse without a retry window.
func conformRefreshWithoutWindow(t *testing.T) {
	s := newSuite(t, "settings: {retry_window: 0s}")
	for _, client := range []string{"cal-app", "native-app"} {
		s.run("RF05_RF06_old_token_again_of_"+client, func(s *suite) {
			first := s.tokens(client)
			second := s.refreshed(client, first.Refresh)
			refused(s.t, s.refresh(client, first.Refresh), 400, oauth.InvalidGrant)
			refused(s.t, s.refresh(client, second.Refresh), 400, oauth.InvalidGrant)
			require.Equal(s.t, 401, s.me(second.Access).Status)
		})
		s.run("RF15_20_at_once_of_"+client, func(s *suite) {
			live := s.tokens(client)
			good := 0
			for _, a := range atOnce(20, func() answer { return s.refresh(client, live.Refresh) }) {
				if a.Status == 200 {
					good++
					continue
				}
				refused(s.t, a, 400, oauth.InvalidGrant)
			}
			require.Equal(s.t, 1, good)
		})
	}
	s.run("RF05_any_earlier_token", func(s *suite) {
		first := s.tokens("cal-app")
		last := first
		for range 5 {
			last = s.refreshed("cal-app", last.Refresh)
		}
		refused(s.t, s.refresh("cal-app", first.Refresh), 400, oauth.InvalidGrant)
		refused(s.t, s.refresh("cal-app", last.Refresh), 400, oauth.InvalidGrant)
	})
}

// conformRefreshOverTime covers lifetimes, with an adjustable clock.
func conformRefreshOverTime(t *testing.T) {
	const day = 24 * time.Hour
	t.Run("RF05_RF06_outside_the_window", func(t *testing.T) {
		s, clock := newClocked(t)
		for client, window := range map[string]time.Duration{"cal-app": time.Minute, "native-app": 30 * time.Second} {
			first := s.tokens(client)
			second := s.refreshed(client, first.Refresh)
			clock.forward(window - 10*time.Second)
			require.Equal(t, second.Refresh, s.refreshed(client, first.Refresh).Refresh)
			clock.forward(10*time.Second + time.Millisecond) // a retry does not extend the window
			refused(t, s.refresh(client, first.Refresh), 400, oauth.InvalidGrant)
			refused(t, s.refresh(client, second.Refresh), 400, oauth.InvalidGrant)
		}
	})
	t.Run("RF05_successor_was_used", func(t *testing.T) {
		s := newSuite(t)
		first := s.tokens("cal-app")
		second := s.refreshed("cal-app", first.Refresh)
		third := s.refreshed("cal-app", second.Refresh)
		refused(t, s.refresh("cal-app", first.Refresh), 400, oauth.InvalidGrant)
		refused(t, s.refresh("cal-app", third.Refresh), 400, oauth.InvalidGrant)
	})
	t.Run("RF13_idle", func(t *testing.T) {
		s, clock := newClocked(t)
		live := s.tokens("cal-app")
		for range 3 { // each refresh extends the lifetime
			clock.forward(30*day - time.Minute)
			live = s.refreshed("cal-app", live.Refresh)
		}
		clock.forward(30 * day)
		refused(t, s.refresh("cal-app", live.Refresh), 400, oauth.InvalidGrant)
	})
	t.Run("RF13_absolute", func(t *testing.T) {
		s, clock := newClocked(t)
		live := s.tokens("cal-app")
		for range 14 {
			clock.forward(26 * day) // 364 days in all
			live = s.refreshed("cal-app", live.Refresh)
		}
		clock.forward(day)
		refused(t, s.refresh("cal-app", live.Refresh), 400, oauth.InvalidGrant)
	})
	t.Run("RF13_code", func(t *testing.T) {
		s, clock := newClocked(t)
		early, late := s.code("cal-app"), s.code("cal-app")
		clock.forward(5*time.Minute - 10*time.Second)
		success(t, s.redeem("cal-app", early))
		clock.forward(10 * time.Second)
		refused(t, s.redeem("cal-app", late), 400, oauth.InvalidGrant)
	})
	t.Run("RF20_claims_over_refreshes", func(t *testing.T) {
		s, clock := newClocked(t)
		for _, client := range []string{"cal-app", "native-app", "legacy-app"} {
			live := s.tokens(client)
			for range 3 {
				before := claimsOf(t, live.Access)
				clock.forward(2 * time.Second)
				live = s.refreshed(client, live.Refresh)
				after := claimsOf(t, live.Access)
				for _, same := range []string{"iss", "sub", "aud", "client_id", "scope", "legacy", "grant_id"} {
					require.Equal(t, before[same], after[same], same)
				}
				require.NotEqual(t, before["jti"], after["jti"])
				require.Greater(t, after["iat"], before["iat"])
				require.Greater(t, after["exp"], before["exp"])
			}
		}
	})
}
