package webtest

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/upstream"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

// asks returns the address of an authorization request of an application of the scenes.
func asks(name string, scopes []string, pairs ...string) string {
	return At(With(Good(), append([]string{
		"client_id", sceneClient(name), "redirect_uri", clientURI(name), "scope", strings.Join(scopes, " "),
	}, pairs...)...))
}

// asksAgent returns the address of an authorization request of an agent.
func asksAgent(id string) string {
	return asks("", []string{"BOOKING_READ", "SCHEDULE_READ"}, "client_id", id, "redirect_uri", "http://127.0.0.1/callback")
}

// elsewhere lets users sign in at a provider, which doesn't answer.
func elsewhere(c *web.Config) {
	c.Upstream = upstream.New(upstream.Config{Issuer: "https://id.example.com", Name: "Example ID", Log: slog.New(slog.DiscardHandler)})
	c.Attempts = Sealer{}
}

// withErrorID shows the details for support.
func withErrorID(c *web.Config) {
	c.ErrorID = func(string, ledger.Refusal) string { return "mme_" + strings.Repeat("x", 144) }
}

func scenesSignin() []Scene {
	const in = "/auth/sign-in"
	guess := url.Values{"username": {alice}, "password": {"a guess"}}
	return []Scene{
		{Name: "sign-in", Address: in},
		{Name: "sign-in-for-app", Address: asks("zeta", few)},
		{Name: "sign-in-wrong", From: in, Address: in, Form: guess, Status: http.StatusUnprocessableEntity},
		{Name: "sign-in-empty", From: in, Address: in, Status: http.StatusUnprocessableEntity},
		{Name: "sign-in-too-many", From: in, Address: in, Form: guess, Status: http.StatusTooManyRequests, Before: func(s *Stage) {
			b := s.Browser()
			page := b.Get(in)
			for i := range 10 {
				b.SignIn(page, alice, fmt.Sprint("guess ", i))
			}
		}},
		{Name: "sign-in-provider", Address: in, Change: elsewhere},
		{Name: "sign-in-undone", Address: in + "?note=undone"},
		{Name: "sign-in-refused", From: asks("zeta", nil), Address: in, Form: url.Values{"username": {nora}, "password": {Password}}},
		{Name: "sign-in-everywhere", Who: alice, From: "/account", Address: "/account/sign-out-everywhere"},
		{Name: "provider-not-begun", Address: "/auth/upstream/callback?error=access_denied", Change: elsewhere, Status: http.StatusBadRequest},
		{Name: "provider-old-link", Address: "/auth/upstream/callback/begin", Change: elsewhere, Status: http.StatusForbidden},
		{Name: "provider-confirm-old-link", Who: rita, Address: "/auth/upstream/callback/confirm?to=/admin/users", Change: elsewhere, Status: http.StatusForbidden},

		{Name: "consent-few", Who: nora, Address: asks("zeta", few)},
		{Name: "consent-many", Who: nora, Address: asks("zeta", many)},
		{Name: "consent-controls", Who: nora, Address: asks("zeta", append([]string{"ORG_MEMBERSHIP_WRITE"}, few...))},
		{Name: "consent-plain", Who: nora, Address: asks("focus", few[:1])},
		{Name: "consent-again", Who: alice, Address: asks("zeta", few)},
		{Name: "consent-new", Who: alice, Address: asks("zeta", append([]string{"BOOKING_WRITE", "TEAM_MEMBERSHIP_READ"}, few...))},
		{Name: "consent-legacy", Who: nora, Address: asks("classic", nil)},
		{Name: "consent-native", Who: nora, Address: asks("pocket", few, "redirect_uri", "http://127.0.0.1:5000/callback")},
		{Name: "consent-agent", Who: nora, Address: asksAgent(agentID)},
		{Name: "consent-agent-again", Who: alice, Address: asksAgent(agentID)},
		{Name: "consent-resource", Who: nora, Address: asks("zeta", few[:1], "resource", "https://bookings.mintmark.example")},
		{Name: "consent-undecided", Who: nora, From: asks("zeta", few), Address: AuthorizePath, Status: http.StatusUnprocessableEntity},
		{Name: "consent-changed", Who: nora, From: asks("zeta", few), Address: AuthorizePath, Form: url.Values{"decision": {"allow"}}, Status: http.StatusConflict, Between: func(s *Stage) {
			s.edit("zeta", func(c *ledger.EditClient) { c.Profile.Scopes = many[:12] })
		}},
		{
			Name: "consent-changed-scopes", Who: nora, From: asksAgent(agentID), Address: AuthorizePath, Form: url.Values{"decision": {"allow"}}, Status: http.StatusConflict,
			Before:  func(s *Stage) { s.agentMayAsk("BOOKING_READ") },
			Between: func(s *Stage) { s.agentMayAsk("BOOKING_READ", "SCHEDULE_READ") },
		},
		{Name: "waiting", Who: nora, Address: asksAgent(pilotID)},
	}
}

func scenesErrors() []Scene {
	elsewhereURI := []string{"redirect_uri", "https://zeta.example.com/oauth/callbacks"}
	lasting := strings.Repeat("x", 16)
	return []Scene{
		{Name: "error-404", Address: "/nowhere", Status: http.StatusNotFound},
		{Name: "error-404-signed-in", Who: alice, Address: "/developer/clients/" + lasting, Status: http.StatusNotFound},
		{Name: "error-403", Who: alice, From: "/account/password", Address: "/account/password", Form: url.Values{"token": {lasting}}, Status: http.StatusForbidden},
		{Name: "error-429", Who: alice, From: "/developer/new", Address: "/developer/new", Before: func(s *Stage) { s.Web.SpendChanges(sceneUser(alice)) }, Status: http.StatusTooManyRequests},
		{Name: "error-503", Who: nora, From: asks("zeta", few), Address: AuthorizePath, Form: url.Values{"decision": {"allow"}}, Between: func(s *Stage) { s.NoLeader = true }, Status: http.StatusServiceUnavailable},
		{Name: "error-uri-owner", Who: alice, Address: asks("zeta", few, elsewhereURI...), Status: http.StatusBadRequest},
		{Name: "error-uri-waiting", Who: alice, Address: asks("zeta", few, "redirect_uri", "https://zeta.example.com/v2/callback"), Status: http.StatusBadRequest},
		{Name: "error-uri-user", Who: nora, Address: asks("zeta", few, elsewhereURI...), Status: http.StatusBadRequest, Change: withErrorID},
		{Name: "error-uri-nobody", Address: asks("zeta", few, elsewhereURI...), Status: http.StatusBadRequest, Change: withErrorID},
		{Name: "error-client-unknown", Who: nora, Address: asks("nothing", few), Status: http.StatusBadRequest, Change: withErrorID},
		{Name: "error-client-pending", Who: alice, Address: asks("digest", few), Status: http.StatusForbidden},
		{Name: "error-client-rejected", Who: alice, Address: asks("rooms", few), Status: http.StatusForbidden},
		{Name: "error-client-suspended", Who: alice, Address: asks("lunch", few), Status: http.StatusForbidden},
		{Name: "error-agent-unknown", Who: nora, Address: asksAgent("https://nowhere.example/client.json"), Status: http.StatusBadRequest, Change: withErrorID},
		{
			Name: "redisplay", Who: alice, From: "/developer/new", Address: "/developer/new", Status: http.StatusForbidden,
			Form: With(ProfileOf("Zeta Notes", "https://notes.zeta.example.com/callback", few...), "type", "confidential"),
			Between: func(s *Stage) {
				s.Must(&ledger.SetUserState{Actor: Operator, User: sceneUser(alice), State: ledger.Disable})
			},
		},
	}
}
