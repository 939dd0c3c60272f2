package webtest

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// mine returns the address of a page of an application of the scenes.
func mine(name, below string) string { return "/developer/clients/" + sceneClient(name) + below }

func scenesDeveloper() []Scene {
	wrong := url.Values{
		"type": {"confidential"}, "name": {""}, "website": {"javascript:alert(1)"}, "redirect_uris": {"http://app.example.com/callback", "https://app.example.com/#x"},
	}
	another := With(ProfileOf("Zeta Notes", "https://notes.zeta.example.com/callback", few...), "type", "confidential", "purpose", "Writes down what was decided.")
	bad := http.StatusUnprocessableEntity
	return []Scene{
		{Name: "applications", Who: alice, Address: "/developer"},
		{Name: "applications-empty", Who: nora, Address: "/developer"},
		{Name: "applications-many", Who: nora, Address: "/developer", Before: func(s *Stage) {
			for n := range 207 {
				first, last := firstNames[n%len(firstNames)], lastNames[(n/len(firstNames)+3*n)%len(lastNames)]
				s.register(nora, fmt.Sprintf("many-%d", n), last+" "+[]string{"Planner", "Digest", "Rooms"}[n%3]+" for "+first, nil)
				if n%9 > 0 {
					s.judge(rita, fmt.Sprintf("many-%d", n), ledger.Approve, "")
				}
			}
		}},
		{Name: "applications-none-found", Who: alice, Address: "/developer?q=nothing"},
		{Name: "register", Who: alice, Address: NewPath},
		{Name: "register-wrong", Who: alice, From: NewPath, Address: NewPath, Form: wrong, Status: bad},
		{Name: "register-preview", Who: alice, From: NewPath, Address: NewPath, Form: With(ProfileOf("Zeta Notes", "https://notes.zeta.example.com/callback", "BOOKING_READ", "BOOKING_WRITE", "PROFILE_READ", "TEAM_MEMBERSHIP_WRITE"), "type", "confidential", "purpose", "Writes down what was decided.", "website", "https://notes.zeta.example.com/", "preview", "Preview")},
		{Name: "registered", Who: nora, From: NewPath, Address: NewPath, Form: another},

		{Name: "application", Who: alice, Address: mine("zeta", "")},
		{Name: "application-pending", Who: alice, Address: mine("digest", "")},
		{Name: "application-rejected", Who: alice, Address: mine("rooms", "")},
		{Name: "application-suspended", Who: alice, Address: mine("lunch", ""), Before: func(s *Stage) {
			settings := *s.View().Settings()
			settings.Brand.HelpURL = "https://help.example.com"
			s.Must(&ledger.Configure{Settings: settings})
		}},
		{Name: "application-legacy", Who: alice, Address: mine("classic", "")},
		{Name: "application-public", Who: alice, Address: mine("pocket", "")},
		{Name: "application-refused", Who: alice, Address: mine("shifts", "")},
		{Name: "scopes", Who: alice, Address: mine("zeta", "/scopes")},
		{Name: "scopes-legacy", Who: alice, Address: mine("classic", "/scopes")},
		{Name: "scopes-refused", Who: alice, Address: mine("shifts", "/scopes")},
		{Name: "settings", Who: alice, Address: mine("zeta", "/settings")},
		{Name: "settings-legacy", Who: alice, Address: mine("classic", "/settings")},
		{Name: "history", Who: alice, Address: mine("zeta", "/history")},
		{Name: "edit", Who: alice, Address: mine("zeta", "/edit")},
		{Name: "edit-rejected", Who: alice, Address: mine("rooms", "/edit")},
		{Name: "edit-refused", Who: alice, Address: mine("shifts", "/edit?from=refused")},
		{Name: "edit-wrong", Who: alice, From: mine("zeta", "/edit"), Address: mine("zeta", "/edit"), Form: wrong, Status: bad},
		{Name: "edit-removal", Who: alice, From: mine("zeta", "/edit"), Address: mine("zeta", "/edit"), Form: With(ProfileOf("Zeta Planner Pro", clientURI("zeta"), many[1:]...), "purpose", "Finds a free slot.")},
		{Name: "edited", Who: alice, From: mine("pocket", "/edit"), Address: mine("pocket", "/edit"), Form: With(ProfileOf("Pocket Planner 2", "http://127.0.0.1/callback", few...), "removed", "com.example.pocket:/callback")},

		{Name: "secrets", Who: alice, Address: mine("zeta", "/secrets")},
		{Name: "secrets-ending", Who: alice, Address: mine("zeta", "/secrets"), Before: func(s *Stage) {
			end := 6*day + time.Hour
			client := s.View().Client(sceneClient("zeta"))
			s.Must(&ledger.SetSecret{Actor: s.actor(alice), Client: client.ID, Secret: client.Secrets[0].ID, EndsIn: &end})
		}},
		{Name: "secrets-one", Who: alice, Address: mine("digest", "/secrets")},
		{Name: "secrets-none", Who: alice, Address: mine("shifts", "/secrets")},
		{Name: "secrets-public", Who: alice, Address: mine("pocket", "/secrets")},
		{Name: "secret-first", Who: alice, From: mine("shifts", "/secrets"), Address: mine("shifts", "/secrets/add")},
		{Name: "secret-second", Who: alice, From: mine("digest", "/secrets"), Address: mine("digest", "/secrets/add")},
		{Name: "secret-renamed", Who: alice, From: mine("zeta", "/secrets"), Address: mine("zeta", "/secrets/set"), Form: url.Values{"name": {"production"}}},
		{Name: "secret-revoked", Who: alice, From: mine("zeta", "/secrets"), Address: mine("zeta", "/secrets/revoke")},

		{Name: "connect", Who: alice, Address: mine("zeta", "/connect")},
		{Name: "connect-pending", Who: alice, Address: mine("digest", "/connect")},
		{Name: "connect-public", Who: alice, Address: mine("pocket", "/connect")},
		{Name: "connect-legacy", Who: alice, Address: mine("classic", "/connect")},
		{Name: "decoded", Who: alice, From: mine("zeta", "/connect"), Address: mine("zeta", "/decode"), Change: VerifyTokens, Form: url.Values{"jwt": {Tokens().Token(
			verifiertest.ClientID(sceneClient("zeta")), verifiertest.Scope("BOOKING_READ", "BOOKING_WRITE", "PROFILE_READ"), verifiertest.Claim("jti", "token-1"),
		)}}},
		{Name: "decode-refresh-token", Who: alice, From: mine("zeta", "/connect"), Address: mine("zeta", "/decode"), Form: url.Values{"jwt": {"mmr_AQAAAAHerb7v"}}},
		{Name: "decode-wrong", Who: alice, From: mine("zeta", "/connect"), Address: mine("zeta", "/decode"), Form: url.Values{"jwt": {"abc"}}, Status: bad},

		{Name: "errors", Who: alice, Address: mine("zeta", "/errors")},
		{Name: "errors-none", Who: alice, Address: mine("digest", "/errors")},
		{Name: "errors-explained", Who: alice, Address: mine("zeta", "/errors?error_id=mme_reused")},
		{Name: "errors-not-one", Who: alice, Address: mine("zeta", "/errors?error_id=mme_other")},

		{Name: "users", Who: alice, Address: mine("zeta", "/users")},
		{Name: "users-none", Who: alice, Address: mine("digest", "/users")},
		{Name: "users-none-found", Who: alice, Address: mine("zeta", "/users?q=nothing")},

		{Name: "migration", Who: alice, Address: mine("classic", "/migration")},
		{Name: "migration-chosen", Who: alice, Address: mine("classic", "/migration"), Before: func(s *Stage) {
			s.Must(&ledger.KeepDraft{Actor: s.actor(alice), Client: sceneClient("classic"), Scopes: []string{"BOOKING_READ", "SCHEDULE_READ"}})
		}},

		{Name: "transfer", Who: alice, Address: mine("zeta", "/transfer")},
		{Name: "transfer-wrong", Who: alice, From: mine("zeta", "/transfer"), Address: mine("zeta", "/transfer"), Form: url.Values{"username": {"somebody"}}, Status: bad},
		{Name: "transfer-offered", Who: alice, Address: mine("zeta", "/transfer"), Before: func(s *Stage) {
			s.Must(&ledger.OfferClient{Actor: s.actor(alice), ID: sceneClient("zeta"), Username: bob})
		}},
		{Name: "delete", Who: alice, Address: mine("zeta", "/delete")},
		{Name: "delete-wrong", Who: alice, From: mine("zeta", "/delete"), Address: mine("zeta", "/delete"), Form: url.Values{"name": {"Zeta"}}, Status: bad},
		{Name: "deleted", Who: alice, From: mine("zeta", "/delete"), Address: mine("zeta", "/delete"), Form: url.Values{"name": {"Zeta Planner"}}},

		{Name: "offers", Who: alice, Address: "/developer/offers"},
		{Name: "offers-none", Who: nora, Address: "/developer/offers"},
		{Name: "offer", Who: alice, Address: "/developer/offers/" + sceneClient("studio")},
		{Name: "offer-accepted", Who: alice, From: "/developer/offers/" + sceneClient("studio"), Address: "/developer/offers/" + sceneClient("studio") + "/accept"},
	}
}
