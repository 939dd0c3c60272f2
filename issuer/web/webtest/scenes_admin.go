package webtest

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// client returns the address of a page of administrators about an application.
func clientPage(name, below string) string { return "/admin/clients/" + sceneClient(name) + below }

func userPage(name, below string) string { return "/admin/users/" + sceneUser(name) + below }

// brandDraft keeps a draft of another brand.
func brandDraft(s *Stage) {
	s.Must(&ledger.SetBrand{Actor: Operator, Step: ledger.BrandDraft, ExpectedLast: s.View().Settings().Last, Brand: ledger.Brand{
		Name: "Acme Calendar", Accent: "#4338ca", PrivacyURL: "https://acme.example/privacy", TermsURL: "https://acme.example/terms",
		Forgot: "Ask the help desk for a new password.", ForgotURL: "https://acme.example/password",
	}})
}

func scenesAdmin() []Scene {
	const (
		server    = "/admin/resource-servers/bookings"
		publisher = "/admin/publishers/" + agentHost
	)
	bad := http.StatusUnprocessableEntity
	person := url.Values{"username": {"grace"}, "name": {"Grace Example"}, "email": {"grace@example.com"}}
	return []Scene{
		{Name: "queue", Who: rita, Address: "/admin"},
		{Name: "queue-publishers", Who: rita, Address: "/admin?show=publishers"},
		{Name: "queue-none-found", Who: rita, Address: "/admin?q=nothing"},
		{Name: "queue-empty", Who: rita, Address: "/admin", Before: func(s *Stage) {
			for {
				list, _ := s.View().ReviewQueue(ledger.QueueQuery{Limit: 25})
				for _, c := range list {
					s.Must(&ledger.ReviewClient{Actor: s.actor(rita), ID: c.ID, Verdict: ledger.Approve, Revision: c.Revision})
				}
				if len(list) == 0 {
					break
				}
			}
		}},
		{Name: "review", Who: rita, Address: clientPage("acme-0", "")},
		{Name: "review-powerful", Who: rita, Address: clientPage("cobalt-2", "")},
		{Name: "review-change", Who: rita, Address: clientPage("zeta", "")},
		{Name: "review-name-taken", Who: rita, Address: clientPage("acme-0", ""), Before: func(s *Stage) {
			s.edit("acme-0", func(c *ledger.EditClient) { c.Profile.Name = "Zeta PIanner" })
		}},
		{Name: "review-wrong", Who: rita, From: clientPage("acme-0", ""), Address: clientPage("acme-0", "/review"), Form: url.Values{"verdict": {"reject"}}, Status: bad},
		{Name: "review-approved", Who: rita, From: clientPage("acme-0", ""), Address: clientPage("acme-0", "/review"), Form: url.Values{"verdict": {"approve"}}},
		{Name: "review-next", Who: rita, From: clientPage("acme-0", ""), Address: clientPage("acme-0", "/review"), Form: url.Values{"verdict": {"approve-next"}}},
		{Name: "review-rejected", Who: rita, From: clientPage("acme-0", ""), Address: clientPage("acme-0", "/review"), Form: url.Values{"verdict": {"reject"}, "reason": {"The website doesn’t answer."}}},

		{Name: "clients", Who: rita, Address: "/admin/clients"},
		{Name: "clients-found", Who: rita, Address: "/admin/clients?q=zeta"},
		{Name: "clients-none-found", Who: rita, Address: "/admin/clients?q=nothing"},
		{Name: "client", Who: rita, Address: clientPage("northwind", "")},
		{Name: "client-legacy", Who: rita, Address: clientPage("classic", "")},
		{Name: "client-suspended", Who: rita, Address: clientPage("lunch", "")},
		{Name: "client-rejected", Who: rita, Address: clientPage("rooms", "")},
		{Name: "client-owner-gone", Who: rita, Address: clientPage("northwind", ""), Before: func(s *Stage) {
			s.Must(&ledger.SetUserState{Actor: s.actor(sam), User: sceneUser(bob), State: ledger.Disable})
		}},
		{Name: "suspend", Who: rita, Address: clientPage("northwind", "/suspend")},
		{Name: "suspend-wrong", Who: rita, From: clientPage("northwind", "/suspend"), Address: clientPage("northwind", "/suspend"), Form: url.Values{"reason": {strings.Repeat("x", 501)}}, Status: bad},
		{Name: "suspended", Who: rita, From: clientPage("northwind", "/suspend"), Address: clientPage("northwind", "/suspend"), Form: url.Values{"reason": {"It books rooms that nobody uses."}}},
		{Name: "client-transfer", Who: rita, Address: clientPage("northwind", "/transfer")},

		{Name: "people", Who: rita, Address: "/admin/users"},
		{Name: "people-found", Who: rita, Address: "/admin/users?q=ada"},
		{Name: "people-none-found", Who: rita, Address: "/admin/users?q=nothing"},
		{Name: "people-administrators", Who: rita, Address: "/admin/users?only=administrators"},
		{Name: "person", Who: rita, Address: userPage(alice, "")},
		{Name: "person-self", Who: rita, Address: userPage(rita, "")},
		{Name: "person-disabled", Who: rita, Address: userPage("dana.keller", "")},
		{Name: "person-disabled-now", Who: rita, From: userPage(alice, ""), Address: userPage(alice, "/state"), Form: url.Values{"state": {"disable"}}},
		{Name: "person-edit", Who: rita, Address: userPage(alice, "/edit")},
		{Name: "person-edit-wrong", Who: rita, From: userPage(alice, "/edit"), Address: userPage(alice, "/edit"), Form: url.Values{"username": {alice}, "email": {"alice at example"}, "time_zone": {"London"}, "avatar_url": {"javascript:alert(1)"}}, Status: bad},
		{Name: "person-password", Who: rita, Address: userPage(alice, "/password")},
		{Name: "person-password-given", Who: rita, From: userPage(alice, "/password"), Address: userPage(alice, "/password"), Form: url.Values{"password": {Another}}},
		{Name: "person-new", Who: rita, Address: "/admin/new-user"},
		{Name: "person-new-wrong", Who: rita, From: "/admin/new-user", Address: "/admin/new-user", Form: url.Values{"username": {alice}, "email": {"x"}, "password": {"short"}}, Status: bad},
		{Name: "person-added", Who: rita, From: "/admin/new-user", Address: "/admin/new-user", Form: With(person, "password", Another)},

		{Name: "servers", Who: rita, Address: "/admin/resource-servers"},
		{Name: "server", Who: rita, Address: server},
		{Name: "server-without-secret", Who: rita, Address: "/admin/resource-servers/calendar"},
		{Name: "server-new", Who: rita, Address: "/admin/new-resource-server"},
		{Name: "server-new-wrong", Who: rita, From: "/admin/new-resource-server", Address: "/admin/new-resource-server", Form: url.Values{"id": {"files.example/v1?x=1"}, "only": {"yes"}}, Status: bad},
		{Name: "server-edit", Who: rita, Address: server + "/edit"},
		{Name: "server-secret", Who: rita, From: server, Address: server + "/secrets/add"},
		{Name: "server-remove", Who: rita, Address: server + "/remove"},

		{Name: "publishers", Who: rita, Address: "/admin/publishers"},
		{Name: "publisher", Who: rita, Address: publisher},
		{Name: "publisher-pending", Who: rita, Address: "/admin/publishers/" + pilotHost},
		{Name: "publisher-new", Who: rita, Address: "/admin/new-publisher"},
		{Name: "publisher-edit", Who: rita, Address: publisher + "/edit"},
		{Name: "publisher-revoke", Who: rita, Address: publisher + "/revoke"},
		{Name: "publisher-reject", Who: rita, Address: publisher + "/reject"},
		{Name: "publisher-remove", Who: rita, Address: publisher + "/remove"},
		{Name: "client-agent", Who: rita, Address: "/admin/clients/" + ledger.ClientKey(agentID)},

		{Name: "branding", Who: rita, Address: "/admin/branding"},
		{Name: "branding-draft", Who: rita, Address: "/admin/branding", Before: brandDraft},
		{Name: "branding-wrong", Who: rita, From: "/admin/branding", Address: "/admin/branding", Form: url.Values{"accent": {"#ffcc00"}}, Status: bad},
		{Name: "audit", Who: rita, Address: "/admin/audit"},
		{Name: "audit-filtered", Who: rita, Address: "/admin/audit?client=" + sceneClient("zeta") + "&kind=secret"},
		{Name: "audit-reviewed", Who: rita, Address: "/admin/audit?kind=client.reviewed:approve,reject"},
		{Name: "audit-none-found", Who: rita, Address: "/admin/audit?user=nobody"},
		{Name: "audit-wrong", Who: rita, Address: "/admin/audit?from=yesterday", Status: bad},
	}
}
