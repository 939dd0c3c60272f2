package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// problem requires that an operation was refused for that cause.
func problem(t testing.TB, err error, cause ledger.Cause) *admin.Problem {
	t.Helper()
	var p *admin.Problem
	require.True(t, errors.As(err, &p), "%v", err)
	require.Equal(t, cause, p.Cause, "%v", p)
	return p
}

func newClient(id string, change func(*admin.NewClient)) admin.NewClient {
	c := admin.NewClient{
		ID: id, Name: "New " + id, Owner: "alice", Type: "confidential",
		RedirectURIs: []string{callback}, Scopes: []string{"PROFILE_READ", "BOOKING_READ"}, Secret: admin.Plain(id + "-secret"),
	}
	change(&c)
	return c
}

// conformClients covers CM except secrets.
func conformClients(t *testing.T) {
	s := newSuite(t)
	uris := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf("https://new.example/callback/%d", i))
		}
		return list
	}
	s.run("CM01_redirect_URIs", func(s *suite) {
		_, err := operate(s, admin.AddClient, newClient("eleven", func(c *admin.NewClient) { c.RedirectURIs = uris(11) }))
		problem(s.t, err, ledger.TooManyURIs)
		_, err = operate(s, admin.AddClient, newClient("none", func(c *admin.NewClient) { c.RedirectURIs = nil }))
		require.Equal(s.t, "redirect_uris", problem(s.t, err, ledger.BadField).Field)
		operated(s, admin.AddClient, newClient("ten", func(c *admin.NewClient) { c.RedirectURIs = uris(10) }))
		require.Len(s.t, operated(s, admin.ShowClient, admin.ClientRef{ID: "ten"}).RedirectURIs, 10)
		_, err = operate(s, admin.SetClient, admin.ClientEdit{ID: "ten", RedirectURIs: new(uris(11))})
		problem(s.t, err, ledger.TooManyURIs)
	})
	s.run("CM02_no_scope", func(s *suite) {
		_, err := operate(s, admin.AddClient, newClient("scopeless", func(c *admin.NewClient) { c.Scopes = nil }))
		require.Equal(s.t, "scopes", problem(s.t, err, ledger.BadField).Field)
		_, err = operate(s, admin.SetClient, admin.ClientEdit{ID: "other-app", Scopes: new([]string{})})
		require.Equal(s.t, "scopes", problem(s.t, err, ledger.BadField).Field)
	})
	s.run("CM03_new_client_is_pending", func(s *suite) {
		made := operated(s, admin.AddClient, newClient("fresh-app", func(*admin.NewClient) {}))
		require.Equal(s.t, "pending", made.State)
		unusable := func() {
			require.Equal(s.t, 403, s.browserOf("alice").get(good("fresh-app")).Status)
			refused(s.t, s.refresh("fresh-app", "x"), 400, oauth.UnauthorizedClient)
			refused(s.t, s.exchange("fresh-app", s.code("cal-app")), 400, oauth.UnauthorizedClient)
		}
		unusable()
		operated(s, admin.ReviewClient, admin.Review{ID: "fresh-app", Verdict: "reject", Reason: "Say what it is for."})
		unusable()
		refused(s.t, s.form("grant_type", "refresh_token", "refresh_token", "x", "client_id", "fresh-app", "client_secret", "wrong"), 401, oauth.InvalidClient)
		operated(s, admin.AddClient, newClient("later-app", func(*admin.NewClient) {}))
		operated(s, admin.ReviewClient, admin.Review{ID: "later-app", Verdict: "approve"})
		s.tokens("later-app")
	})
	for i, uri := range []string{
		"https://new.example/callback#f", "https://new.example/callback#", "/callback", "new.example/callback", "//new.example/callback",
		"javascript:alert(1)", "data:text/html,x", "https://*.new.example/callback", "http://new.example/callback",
		"http://127.0.0.1.evil.example/callback", "http://localhost.evil.example/", "https://user@new.example/callback",
		"https://new.example\\@evil.example/", "https:///callback", "https:callback", "file:///etc/passwd", "vbscript:x", "about:blank",
		"com.new.example:/callback", "https://new.example/\ncallback", " https://new.example/callback", "https://new.example:0/callback",
		"https://new.example/" + strings.Repeat("x", 1024), "",
	} {
		s.run(fmt.Sprintf("CM08_redirect_URI_%d", i), func(s *suite) {
			for _, list := range [][]string{{uri}, {callback, uri}} {
				_, err := operate(s, admin.AddClient, newClient("bad-uri", func(c *admin.NewClient) { c.RedirectURIs = list }))
				require.Contains(s.t, problem(s.t, err, ledger.BadField).Field, "redirect_uris", uri)
			}
			_, err := operate(s, admin.SetClient, admin.ClientEdit{ID: "other-app", RedirectURIs: &[]string{uri}})
			require.Contains(s.t, problem(s.t, err, ledger.BadField).Field, "redirect_uris", uri)
		})
	}
	s.run("CM08_the_same_twice", func(s *suite) {
		_, err := operate(s, admin.AddClient, newClient("bad-uri", func(c *admin.NewClient) { c.RedirectURIs = []string{callback, callback} }))
		problem(s.t, err, ledger.BadField)
	})
	s.run("CM10_suspended_and_resumed", func(s *suite) {
		code, live := s.code("other-app"), s.tokens("other-app")
		operated(s, admin.ReviewClient, admin.Review{ID: "other-app", Verdict: "suspend", Reason: "Asks too often."})
		refused(s.t, s.refresh("other-app", live.Refresh), 400, oauth.UnauthorizedClient)
		refused(s.t, s.redeem("other-app", code), 400, oauth.UnauthorizedClient)
		require.Equal(s.t, 403, s.browserOf("alice").get(good("other-app")).Status)
		operated(s, admin.ReviewClient, admin.Review{ID: "other-app", Verdict: "resume"})
		s.refreshed("other-app", live.Refresh)
		success(s.t, s.redeem("other-app", code))
	})
	s.run("CM10_deleted", func(s *suite) {
		code, live := s.code("native-app"), s.tokens("native-app")
		operated(s, admin.DeleteClient, admin.ClientRef{ID: "native-app"})
		refused(s.t, s.refresh("native-app", live.Refresh), 401, oauth.InvalidClient)
		refused(s.t, s.redeem("native-app", code), 401, oauth.InvalidClient)
		require.Equal(s.t, 400, s.browserOf("alice").get(good("native-app")).Status)
		challenged(s.t, s.me(live.Access), 401, "invalid_token")
		_, err := operate(s, admin.AddClient, newClient("native-app", func(*admin.NewClient) {}))
		problem(s.t, err, ledger.AlreadyExists)
	})
	s.run("CM12_tokens_from_before_the_migration", conformMigration)
}

// conformMigration follows section 9 of the service document.
func conformMigration(s *suite) {
	before := s.tokens("legacy-app")
	unrestricted := func(token string) {
		require.Equal(s.t, true, claimsOf(s.t, token)["legacy"])
		require.Equal(s.t, 200, s.me(token).Status)
	}
	unrestricted(before.Access)

	// 1. The authorization URL carries scope first. New grants are limited to it; older
	// grants of other users stay valid.
	b := s.browser()
	scoped := tokensOf(s.t, s.redeem("legacy-app", b.allow("bob", with("legacy-app", "scope", "PROFILE_READ")).Query().Get("code")))
	require.Equal(s.t, "PROFILE_READ", scoped.Scope)
	require.Equal(s.t, false, claimsOf(s.t, scoped.Access)["legacy"])

	// 2. The scopes are selected.
	edit := admin.ClientEdit{ID: "legacy-app", Scopes: &[]string{"PROFILE_READ", "BOOKING_READ"}}
	_, err := operate(s, admin.SetClient, edit)
	problem(s.t, err, ledger.ConfirmMigration)
	edit.Confirm = true
	require.True(s.t, operated(s, admin.SetClient, edit).Migrated)
	got := sentTo(s.t, s.browserOf("alice").get(good("legacy-app")), callback)
	require.Equal(s.t, "invalid_scope", got.Get("error"), "the scope is now enforced")

	unrestricted(before.Access)
	after := s.refreshed("legacy-app", before.Refresh)
	unrestricted(after.Access)

	// 3. The old grant stays valid until the user authorizes again and the code is
	// redeemed.
	code := s.browserOf("alice").allow("alice", with("legacy-app", "scope", "PROFILE_READ BOOKING_READ")).Query().Get("code")
	after = s.refreshed("legacy-app", after.Refresh)
	unrestricted(after.Access)
	again := tokensOf(s.t, s.redeem("legacy-app", code))
	require.Equal(s.t, "PROFILE_READ BOOKING_READ", again.Scope)
	refused(s.t, s.refresh("legacy-app", after.Refresh), 400, oauth.InvalidGrant)
	require.Equal(s.t, 401, s.me(after.Access).Status)
	require.Equal(s.t, 200, s.me(again.Access).Status)
	s.refreshed("legacy-app", scoped.Refresh) // bob's new grant has scopes already
}

// conformSecrets: CM04 and CM06.
func conformSecrets(t *testing.T) {
	s := newSuite(t)
	s.run("CM04_a_third_active_secret", func(s *suite) {
		secrets := func() (active []admin.Secret) {
			for _, secret := range operated(s, admin.ShowClient, admin.ClientRef{ID: "cal-app"}).Secrets {
				if secret.State == "active" {
					active = append(active, secret)
				}
			}
			return active
		}
		require.Len(s.t, secrets(), 2)
		_, err := operate(s, admin.AddSecret, admin.NewSecret{Client: "cal-app"})
		problem(s.t, err, ledger.TooManySecrets)
		second := secrets()[1]
		operated(s, admin.RevokeSecret, admin.SecretRef{Client: "cal-app", ID: second.ID})
		made := operated(s, admin.AddSecret, admin.NewSecret{Client: "cal-app"})
		require.Len(s.t, secrets(), 2)
		operated(s, admin.RevokeSecret, admin.SecretRef{Client: "cal-app", ID: made.ID})
		_, err = operate(s, admin.RevokeSecret, admin.SecretRef{Client: "cal-app", ID: secrets()[0].ID})
		problem(s.t, err, ledger.LastSecret)
		_, err = operate(s, admin.AddSecret, admin.NewSecret{Client: "native-app"})
		problem(s.t, err, ledger.PublicClientNoSecret)
	})
	s.run("CM06_tokens_after_rotation", func(s *suite) {
		live := s.tokens("other-app")
		old := operated(s, admin.ShowClient, admin.ClientRef{ID: "other-app"}).Secrets[0]
		made := operated(s, admin.AddSecret, admin.NewSecret{Client: "other-app"})
		require.Equal(s.t, 200, s.me(live.Access).Status)
		live = s.refreshed("other-app", live.Refresh) // both secrets work
		operated(s, admin.RevokeSecret, admin.SecretRef{Client: "other-app", ID: old.ID})
		require.Equal(s.t, 200, s.me(live.Access).Status)
		next := tokensOf(s.t, s.basicForm("other-app", made.Secret.Reveal(), "grant_type", "refresh_token", "refresh_token", live.Refresh))
		require.Equal(s.t, 200, s.me(next.Access).Status)
	})
}
