package webtest

import (
	"net/http"
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func scenesAccount() []Scene {
	return []Scene{
		{Name: "home", Who: alice, Address: "/"},
		{Name: "home-empty", Who: nora, Address: "/"},
		{Name: "home-administrator", Who: rita, Address: "/"},

		{Name: "apps", Who: alice, Address: "/connected-apps"},
		{Name: "apps-empty", Who: nora, Address: "/connected-apps"},
		{Name: "apps-disconnected", Who: alice, From: "/connected-apps", Address: "/connected-apps/disconnect"},
		{Name: "app", Who: alice, Address: "/connected-apps/" + sceneClient("zeta")},
		{Name: "app-legacy", Who: alice, Address: "/connected-apps/" + sceneClient("classic")},
		{Name: "app-not-connected", Who: alice, Address: "/connected-apps/" + sceneClient("zeta"), Status: http.StatusNotFound, Before: func(s *Stage) {
			s.Must(&ledger.Disconnect{Actor: Operator, User: sceneUser(alice), Client: sceneClient("zeta")})
		}},
		{Name: "app-suspended", Who: alice, Address: "/connected-apps/" + sceneClient("standup")},

		{Name: "account", Who: alice, Address: "/account"},
		{Name: "account-new", Who: nora, Address: "/account"},
		{Name: "account-signed-out", Who: alice, From: "/account", Address: "/account/sign-out"},
		{Name: "account-feed", Who: alice, Address: "/account", Before: func(s *Stage) { s.as(alice).HasFeed(StageFeed) }},
		{Name: "feed", Who: alice, From: "/account", Address: FeedPath},
		{Name: "feed-removed", Who: alice, From: "/account", Address: FeedPath + "/remove", Before: func(s *Stage) { s.as(alice).HasFeed(StageFeed) }},
		{Name: "password", Who: alice, Address: PasswordPath},
		{Name: "password-wrong", Who: alice, From: PasswordPath, Address: PasswordPath, Form: url.Values{"current": {"a guess"}, "new": {"short"}, "again": {"shorter"}}, Status: http.StatusUnprocessableEntity},
		{Name: "password-changed", Who: alice, From: PasswordPath, Address: PasswordPath, Form: url.Values{"current": {Password}, "new": {Another}, "again": {Another}}},
	}
}
