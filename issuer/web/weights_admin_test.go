package web_test

import (
	"net/url"
	"strings"

	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

var weighingsAdmin = []weighing{
	{route: "GET /admin"},
	{route: "GET /admin/clients"},
	{route: "GET /admin/clients", address: query("/admin/clients", "q", odd, "owner", OwnerID, "state", "pending")},
	{route: "GET /admin/clients", address: query("/admin/clients", "q", "長", "owner", OwnerID, "state", "approved", "after", Long("c_02"))},
	{route: "GET /admin/clients/:id", address: of("/admin/clients/", "mine", ""), whole: true},
	{route: "GET /admin/clients/:id", address: saying("suspend", of("/admin/clients/", "stopped", "")), whole: true},
	{
		route: "POST /admin/clients/:id/review", address: of("/admin/clients/", "mine", "/review"), status: 422, whole: true,
		form: edits("review", "mine", func(f *Full) url.Values { return url.Values{"verdict": {"reject"}, "reason": {f.Wide(600)}} }),
	},
	{route: "GET /admin/clients/:id/suspend", address: of("/admin/clients/", "mine", "/suspend")},
	{
		route: "POST /admin/clients/:id/suspend", address: of("/admin/clients/", "mine", "/suspend"), status: 422,
		form: edits("suspend", "mine", func(f *Full) url.Values { return url.Values{"reason": {f.Wide(600)}} }),
	},
	{
		route: "POST /admin/clients/:id/resume", address: of("/admin/clients/", "stopped", "/resume"), status: 409, whole: true,
		form: sends("resume", Long("stopped")+"\x001", url.Values{"revision": {"1"}}),
	},
	{route: "GET /admin/clients/:id", address: saying("transfer", of("/admin/clients/", "orphan", "")), whole: true},
	{route: "GET /admin/clients/:id/transfer", address: of("/admin/clients/", "orphan", "/transfer")},
	{
		route: "POST /admin/clients/:id/transfer", address: of("/admin/clients/", "orphan", "/transfer"), status: 422,
		form: edits("transfer client", "orphan", func(*Full) url.Values { return url.Values{"username": {odd}} }),
	},
	{route: "GET /admin/branding"},
	{
		route: "POST /admin/branding", status: 422, whole: true,
		form: func(f *Full) *Sent {
			return &Sent{Purpose: "branding", About: AnySeen, Fields: url.Values{
				"expected_last": {AnySeen}, "service_name": {f.Wide(50)}, "accent": {odd}, "forgot_password": {f.Wide(400)}, "privacy_url": {f.Website("p")}, "terms_url": {f.Website("t")},
			}}
		},
	},
	{route: "GET /admin/users"},
	{route: "GET /admin/users", address: query("/admin/users", "q", "長", "only", "administrators")},
	{route: "GET /admin/users", address: query("/admin/users", "q", odd, "only", "disabled")},
	{route: "GET /admin/new-user"},
	{
		route: "POST /admin/new-user", status: 422,
		form: func(f *Full) *Sent {
			return &Sent{Purpose: "new user", About: "u_new", Fields: url.Values{"id": {"u_new"}, "username": {f.Wide(65)}, "name": {f.Wide(101)}, "email": {f.Wide(255)}, "password": {"short"}}}
		},
	},
	{route: "GET /admin/users/:id", address: func(*Full) string { return "/admin/users/" + OwnerID }},
	{route: "GET /admin/users/:id", address: func(*Full) string { return "/admin/users/" + OtherID }},
	{
		route: "POST /admin/users/:id/state", address: func(*Full) string { return "/admin/users/" + OwnerID + "/state" }, status: 422,
		form: sends("user state", OwnerID+"\x00disable", url.Values{"state": {"disable"}}),
	},
	{route: "GET /admin/users/:id/edit", whole: true, address: func(*Full) string { return "/admin/users/" + OtherID + "/edit" }},
	{
		route: "POST /admin/users/:id/edit", whole: true, address: func(*Full) string { return "/admin/users/" + OtherID + "/edit" }, status: 422,
		form: func(f *Full) *Sent {
			fields := url.Values{"expected_last": {AnySeen}, "username": {f.Wide(65)}, "bio": {f.Wide(2 * f.Note)}, "avatar_url": {f.Website("app")}}
			for _, name := range []string{"name", "email", "time_zone", "locale", "default_schedule_id", "organization_id"} {
				fields.Set(name, f.Wide(f.Name))
			}
			return &Sent{Purpose: "edit user", About: OtherID + "\x00" + AnySeen, Fields: fields}
		},
	},
	{route: "GET /admin/users/:id/password", address: func(*Full) string { return "/admin/users/" + OtherID + "/password" }},
	{
		route: "POST /admin/users/:id/password", address: func(*Full) string { return "/admin/users/" + OtherID + "/password" }, status: 422,
		form: sends("user password", OtherID+"\x00", url.Values{"password": {"short"}}),
	},
	{route: "GET /admin/resource-servers"},
	{route: "GET /admin/resource-servers", address: query("/admin/resource-servers", "q", odd)},
	{route: "GET /admin/resource-servers", address: query("/admin/resource-servers", "after", ApiName("api02"))},
	{route: "GET /admin/new-resource-server"},
	{
		route: "POST /admin/new-resource-server", status: 422, whole: true,
		form: func(f *Full) *Sent {
			return &Sent{Purpose: "new resource server", About: "", Fields: url.Values{"id": {"x" + f.ResourceURI("api00")}, "name": {odd}, "scopes": ScopeNames()}}
		},
	},
	{route: "GET /admin/resource-servers/:server", address: api(""), whole: true},
	{
		route: "POST /admin/resource-servers/:server/secrets/revoke", address: api("/secrets/revoke"), status: 404,
		form: aboutAPI00("revoke secret of resource server", "secret", "s_none"),
	},
	{
		route: "POST /admin/resource-servers/:server/secrets/add", address: api("/secrets/add"), status: 409, whole: true,
		form: aboutAPI00("add secret of resource server", "secret", "s_new", "sealed", "", "after", ""),
	},
	{
		route: "POST /admin/resource-servers/:server/secrets/add", address: func(*Full) string { return "/admin/resource-servers/" + ApiName("api01") + "/secrets/add" },
		form: func(f *Full) *Sent {
			path := "/admin/resource-servers/" + ApiName("api01")
			form := f.Owner.Get(path).Form(f.T, path+"/secrets/add")
			return &Sent{Purpose: "add secret of resource server", About: strings.Join([]string{ApiName("api01"), form.Get("resource"), form.Get("secret"), form.Get("sealed"), form.Get("after")}, "\x00"), Fields: form}
		},
	},
	{route: "GET /admin/resource-servers/:server/edit", address: api("/edit")},
	{
		route: "POST /admin/resource-servers/:server/edit", address: api("/edit"), status: 422,
		form: aboutAPI00("edit resource server", "expected_last", AnySeen, "name", odd),
	},
	{route: "GET /admin/resource-servers/:server/remove", address: api("/remove")},
	{
		route: "POST /admin/resource-servers/:server/remove", address: api("/remove"), status: 422,
		form: aboutAPI00("remove resource server", "expected_last", AnySeen, "name", odd),
	},
	{route: "GET /admin/publishers"},
	{route: "GET /admin/publishers", address: query("/admin/publishers", "q", odd, "state", "pending")},
	{route: "GET /admin/publishers", address: func(f *Full) string { return query("/admin/publishers", "after", f.Host("h02"))(f) }},
	{route: "GET /admin/new-publisher", address: query("/admin/new-publisher", "host", odd+odd)},
	{
		route: "POST /admin/new-publisher", status: 422, whole: true,
		form: func(f *Full) *Sent {
			return &Sent{Purpose: "new publisher", About: "", Fields: With(f.WrongPublisher(), "host", odd)}
		},
	},
	{route: "GET /admin/publishers/:host", address: agentPage(""), whole: true},
	{route: "GET /admin/publishers/:host", address: func(f *Full) string { return "/admin/publishers/" + f.Host("waiting0") }, whole: true},
	{route: "GET /admin/publishers/:host", address: func(*Full) string { return "/admin/publishers/local" }, whole: true},
	{route: "GET /admin/publishers/:host/edit", address: agentPage("/edit")},
	{route: "GET /admin/publishers/:host/edit", address: func(*Full) string { return "/admin/publishers/local/edit" }, whole: true},
	{route: "POST /admin/publishers/:host/edit", address: agentPage("/edit"), status: 422, form: aboutAgent("edit publisher"), whole: true},
	{route: "GET /admin/publishers/:host/revoke", address: agentPage("/revoke")},
	{route: "POST /admin/publishers/:host/revoke", address: agentPage("/revoke"), status: 409, form: aboutAgent("revoke publisher")},
	{route: "GET /admin/publishers/:host/reject", address: agentPage("/reject")},
	{route: "POST /admin/publishers/:host/reject", address: agentPage("/reject"), status: 409, form: aboutAgent("reject publisher")},
	{route: "GET /admin/publishers/:host/remove", address: agentPage("/remove")},
	{route: "POST /admin/publishers/:host/remove", address: agentPage("/remove"), status: 409, form: aboutAgent("remove publisher")},
	{route: "GET /admin/audit"},
	{route: "GET /admin/audit", address: query("/admin/audit", "client", Long("mine"), "user", OwnerID, "kind", "client.reviewed", "from", "2026-01-01", "to", "2026-12-31")},
	{route: "GET /admin/audit", status: 422, address: query("/admin/audit", "client", odd, "user", odd, "kind", odd, "from", odd, "to", odd)},
}
