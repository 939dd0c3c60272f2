package web_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/web"
)

// A weighing is a page with the maximum of content. Every route has at least one, or is
// in weightless.
type weighing struct {
	route   string             // method and pattern
	address func(*full) string // nil means the pattern
	form    func(*full) *sent  // for a POST, with every possible problem; its token is made for the owner
	nobody  bool               // without a session; otherwise it is the owner's, who is an administrator
	status  int                // 0 means 200
	whole   bool               // it shows long texts completely
}

// of returns an address with a maximum-length identifier and a query.
func of(before, id, after string) func(*full) string {
	return func(*full) string { return before + long(id) + after }
}

// saying returns the address of a page with a notice.
func saying(word string, address func(*full) string) func(*full) string {
	return func(f *full) string { return f.owner.noticed(address(f), word) }
}

func query(path string, pairs ...string) func(*full) string {
	return func(*full) string { return path + "?" + with(url.Values{}, pairs...).Encode() }
}

// odd is the longest search, of the characters that take the most bytes.
var odd = strings.Repeat(`"`, 200)

var weighings = []weighing{
	{route: "GET /"},
	{route: "GET /account"},
	{route: "GET /account/password"},
	{
		route: "POST /account/password", status: 422,
		form: sends("password", "", url.Values{"current": {"wrong"}, "new": {"short"}, "again": {"other"}}),
	},
	{route: "GET /connected-apps"},
	{route: "GET /connected-apps", address: query("/connected-apps", "q", odd)},
	{route: "GET /connected-apps/:id", address: of("/connected-apps/", "old", "")},

	{route: "GET /developer"},
	{route: "GET /developer", address: query("/developer", "q", odd)},
	{route: "GET /developer", address: query("/developer", "after", long("c_03"))},
	{route: "GET /developer/new"},
	{
		route: "POST /developer/new", status: 422, whole: true,
		form: func(f *full) *sent { return &sent{"new client", "c_new", with(f.allWrong(), "client", "c_new")} },
	},
	{route: "GET /developer/clients/:id", address: of("/developer/clients/", "mine", ""), whole: true},
	{route: "GET /developer/clients/:id", address: saying("accepted", of("/developer/clients/", "public", "")), whole: true},
	{route: "GET /developer/clients/:id/edit", address: of("/developer/clients/", "mine", "/edit"), whole: true},
	{
		route: "POST /developer/clients/:id/edit", address: of("/developer/clients/", "mine", "/edit"), status: 422, whole: true,
		form: edits("edit client", "mine", func(f *full) url.Values { return f.allWrong() }, ""),
	},
	{route: "GET /developer/clients/:id", address: of("/developer/clients/", "turned-down", ""), whole: true},
	{route: "GET /developer/clients/:id/edit", address: of("/developer/clients/", "turned-down", "/edit?from=refused"), whole: true},
	{
		route: "POST /developer/clients/:id/discard-refused", address: of("/developer/clients/", "turned-down", "/discard-refused"), status: 409, whole: true,
		form: sends("discard refused changes", long("turned-down")+"\x001", url.Values{"revision": {"1"}}),
	},
	{route: "GET /developer/clients/:id/secrets", address: saying("secret-known", of("/developer/clients/", "mine", "/secrets"))},
	{
		route: "POST /developer/clients/:id/secrets/revoke", address: of("/developer/clients/", "single", "/secrets/revoke"), status: 422,
		form: sends("revoke secret", long("single")+"\x00s_only", url.Values{"secret": {"s_only"}}),
	},
	{
		route: "POST /developer/clients/:id/secrets/add", address: of("/developer/clients/", "single", "/secrets/add"),
		form: func(f *full) *sent {
			path := "/developer/clients/" + long("single") + "/secrets"
			form := f.owner.get(path).form(f.t, path+"/add")
			return &sent{"add secret", strings.Join([]string{long("single"), form.Get("secret"), form.Get("sealed"), form.Get("after")}, "\x00"), form}
		},
	},
	{
		route: "POST /developer/clients/:id/secrets/add", address: of("/developer/clients/", "mine", "/secrets/add"), status: 409,
		form: sends("add secret", long("mine")+"\x00s_new\x00\x00", url.Values{"secret": {"s_new"}}),
	},
	{route: "GET /developer/clients/:id/connect", address: of("/developer/clients/", "single", "/connect"), whole: true},
	{route: "GET /developer/clients/:id/connect", address: of("/developer/clients/", "public", "/connect"), whole: true},
	{route: "GET /developer/clients/:id/errors", address: of("/developer/clients/", "mine", "/errors?error_id=mme_1")},
	{route: "GET /developer/clients/:id/errors", address: of("/developer/clients/", "mine", "/errors?error_id="+strings.Repeat("%22", 300))},
	{route: "GET /developer/clients/:id/users", address: of("/developer/clients/", "mine", "/users")},
	{route: "GET /developer/clients/:id/migration", address: of("/developer/clients/", "old", "/migration")},
	{
		route: "GET /developer/clients/:id/migration", whole: true,
		address: of("/developer/clients/", "old", "/migration?"+url.Values{"scopes": scopeNames()[1:]}.Encode()),
	},
	{
		route: "POST /developer/clients/:id/migration", address: of("/developer/clients/", "old", "/migration"), status: 422, whole: true,
		form: sends("migrate client", long("old")+"\x001\x00"+strings.Join(scopeNames()[1:], " "), url.Values{"revision": {"1"}, "selected": {strings.Join(scopeNames()[1:], " ")}}),
	},
	{route: "GET /developer/clients/:id/transfer", address: of("/developer/clients/", "mine", "/transfer")},
	{
		route: "POST /developer/clients/:id/transfer", address: of("/developer/clients/", "mine", "/transfer"), status: 422,
		form: sends("offer client", long("mine"), url.Values{"username": {odd}}),
	},
	{route: "GET /developer/clients/:id/delete", address: of("/developer/clients/", "mine", "/delete")},
	{
		route: "POST /developer/clients/:id/delete", address: of("/developer/clients/", "mine", "/delete"), status: 422,
		form: edits("delete client", "mine", func(*full) url.Values { return url.Values{"name": {odd}} }),
	},
	{route: "GET /developer/offers"},
	{route: "GET /developer/offers", address: query("/developer/offers", "after", long("offered_02"))},
	{route: "GET /developer/offers/:id", address: of("/developer/offers/", "offered_00", ""), whole: true},

	{route: "GET /admin"},
	{route: "GET /admin/clients"},
	{route: "GET /admin/clients", address: query("/admin/clients", "q", odd, "owner", ownerID, "state", "pending")},
	{route: "GET /admin/clients", address: query("/admin/clients", "q", "長", "owner", ownerID, "state", "approved", "after", long("c_02"))},
	{route: "GET /admin/clients/:id", address: of("/admin/clients/", "mine", ""), whole: true},
	{route: "GET /admin/clients/:id", address: saying("suspend", of("/admin/clients/", "stopped", "")), whole: true},
	{
		route: "POST /admin/clients/:id/review", address: of("/admin/clients/", "mine", "/review"), status: 422, whole: true,
		form: edits("review", "mine", func(f *full) url.Values { return url.Values{"verdict": {"reject"}, "reason": {f.wide(600)}} }),
	},
	{route: "GET /admin/clients/:id/suspend", address: of("/admin/clients/", "mine", "/suspend")},
	{
		route: "POST /admin/clients/:id/suspend", address: of("/admin/clients/", "mine", "/suspend"), status: 422,
		form: edits("suspend", "mine", func(f *full) url.Values { return url.Values{"reason": {f.wide(600)}} }),
	},
	{
		route: "POST /admin/clients/:id/resume", address: of("/admin/clients/", "stopped", "/resume"), status: 409, whole: true,
		form: sends("resume", long("stopped")+"\x001", url.Values{"revision": {"1"}}),
	},
	{route: "GET /admin/clients/:id", address: saying("transfer", of("/admin/clients/", "orphan", "")), whole: true},
	{route: "GET /admin/clients/:id/transfer", address: of("/admin/clients/", "orphan", "/transfer")},
	{
		route: "POST /admin/clients/:id/transfer", address: of("/admin/clients/", "orphan", "/transfer"), status: 422,
		form: edits("transfer client", "orphan", func(*full) url.Values { return url.Values{"username": {odd}} }),
	},
	{route: "GET /admin/users"},
	{route: "GET /admin/users", address: query("/admin/users", "q", "長", "only", "administrators")},
	{route: "GET /admin/users", address: query("/admin/users", "q", odd, "only", "disabled")},
	{route: "GET /admin/new-user"},
	{
		route: "POST /admin/new-user", status: 422,
		form: func(f *full) *sent {
			return &sent{"new user", "u_new", url.Values{"id": {"u_new"}, "username": {f.wide(65)}, "name": {f.wide(101)}, "email": {f.wide(255)}, "password": {"short"}}}
		},
	},
	{route: "GET /admin/users/:id", address: func(*full) string { return "/admin/users/" + ownerID }},
	{route: "GET /admin/users/:id", address: func(*full) string { return "/admin/users/" + otherID }},
	{
		route: "POST /admin/users/:id/state", address: func(*full) string { return "/admin/users/" + ownerID + "/state" }, status: 422,
		form: sends("user state", ownerID+"\x00disable", url.Values{"state": {"disable"}, "sure": {"yes"}}),
	},
	{
		route: "POST /admin/users/:id/state", address: func(*full) string { return "/admin/users/" + otherID + "/state" }, status: 422,
		form: sends("user state", otherID+"\x00disable", url.Values{"state": {"disable"}}),
	},
	{route: "GET /admin/users/:id/edit", whole: true, address: func(*full) string { return "/admin/users/" + otherID + "/edit" }},
	{
		route: "POST /admin/users/:id/edit", whole: true, address: func(*full) string { return "/admin/users/" + otherID + "/edit" }, status: 422,
		form: func(f *full) *sent {
			fields := url.Values{"expected_last": {anySeen}, "username": {f.wide(65)}, "bio": {f.wide(2 * f.note)}, "avatar_url": {f.website("app")}}
			for _, name := range []string{"name", "email", "time_zone", "locale", "default_schedule_id", "organization_id"} {
				fields.Set(name, f.wide(f.name))
			}
			return &sent{"edit user", otherID + "\x00" + anySeen, fields}
		},
	},
	{route: "GET /admin/users/:id/password", address: func(*full) string { return "/admin/users/" + otherID + "/password" }},
	{
		route: "POST /admin/users/:id/password", address: func(*full) string { return "/admin/users/" + otherID + "/password" }, status: 422,
		form: sends("user password", otherID, url.Values{"password": {"short"}}),
	},
	{route: "GET /admin/resource-servers"},
	{route: "GET /admin/resource-servers", address: query("/admin/resource-servers", "q", odd)},
	{route: "GET /admin/resource-servers", address: query("/admin/resource-servers", "after", apiName("api02"))},
	{route: "GET /admin/new-resource-server"},
	{
		route: "POST /admin/new-resource-server", status: 422, whole: true,
		form: func(f *full) *sent {
			return &sent{"new resource server", "", url.Values{"id": {"x" + f.resourceURI("api00")}, "name": {odd}, "scopes": scopeNames()}}
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
		route: "POST /admin/resource-servers/:server/secrets/add", address: func(*full) string { return "/admin/resource-servers/" + apiName("api01") + "/secrets/add" },
		form: func(f *full) *sent {
			path := "/admin/resource-servers/" + apiName("api01")
			form := f.owner.get(path).form(f.t, path+"/secrets/add")
			return &sent{"add secret of resource server", strings.Join([]string{apiName("api01"), form.Get("resource"), form.Get("secret"), form.Get("sealed"), form.Get("after")}, "\x00"), form}
		},
	},
	{route: "GET /admin/resource-servers/:server/edit", address: api("/edit")},
	{
		route: "POST /admin/resource-servers/:server/edit", address: api("/edit"), status: 422,
		form: aboutAPI00("edit resource server", "expected_last", anySeen, "name", odd),
	},
	{route: "GET /admin/resource-servers/:server/remove", address: api("/remove")},
	{
		route: "POST /admin/resource-servers/:server/remove", address: api("/remove"), status: 422,
		form: aboutAPI00("remove resource server", "expected_last", anySeen, "name", odd),
	},
	{route: "GET /admin/publishers"},
	{route: "GET /admin/publishers", address: query("/admin/publishers", "q", odd, "state", "pending")},
	{route: "GET /admin/publishers", address: func(f *full) string { return query("/admin/publishers", "after", f.host("h02"))(f) }},
	{route: "GET /admin/new-publisher", address: query("/admin/new-publisher", "host", odd+odd)},
	{
		route: "POST /admin/new-publisher", status: 422, whole: true,
		form: func(f *full) *sent { return &sent{"new publisher", "", with(f.wrongPublisher(), "host", odd)} },
	},
	{route: "GET /admin/publishers/:host", address: agentPage(""), whole: true},
	{route: "GET /admin/publishers/:host", address: func(f *full) string { return "/admin/publishers/" + f.host("waiting0") }, whole: true},
	{route: "GET /admin/publishers/:host", address: func(*full) string { return "/admin/publishers/local" }, whole: true},
	{route: "GET /admin/publishers/:host/edit", address: agentPage("/edit")},
	{route: "GET /admin/publishers/:host/edit", address: func(*full) string { return "/admin/publishers/local/edit" }, whole: true},
	{route: "POST /admin/publishers/:host/edit", address: agentPage("/edit"), status: 422, form: aboutAgent("edit publisher"), whole: true},
	{route: "GET /admin/publishers/:host/revoke", address: agentPage("/revoke")},
	{route: "POST /admin/publishers/:host/revoke", address: agentPage("/revoke"), status: 409, form: aboutAgent("revoke publisher")},
	{route: "GET /admin/publishers/:host/reject", address: agentPage("/reject")},
	{route: "POST /admin/publishers/:host/reject", address: agentPage("/reject"), status: 409, form: aboutAgent("reject publisher")},
	{route: "GET /admin/publishers/:host/remove", address: agentPage("/remove")},
	{route: "POST /admin/publishers/:host/remove", address: agentPage("/remove"), status: 409, form: aboutAgent("remove publisher")},
	{route: "GET /admin/audit"},
	{route: "GET /admin/audit", address: query("/admin/audit", "client", long("mine"), "user", ownerID, "kind", "client.reviewed", "from", "2026-01-01", "to", "2026-12-31")},
	{route: "GET /admin/audit", status: 422, address: query("/admin/audit", "client", odd, "user", odd, "kind", odd, "from", odd, "to", odd)},

	{route: "GET /auth/oauth2/authorize", address: func(f *full) string { return at(f.asks("c_00")) }},
	{route: "GET /auth/oauth2/authorize", address: func(f *full) string { return at(f.asks("old", "scope", "")) }},
	{route: "GET /auth/oauth2/authorize", nobody: true, address: func(f *full) string { return at(f.asks("c_00")) }},
	{route: "GET /auth/oauth2/authorize", status: 400, whole: true, address: func(f *full) string { return at(f.asks("c_00", "redirect_uri", f.uris("other")[0])) }},
	{route: "POST /auth/oauth2/authorize", status: 400, form: sends("consent", "", url.Values{"next": {odd}})},
	{route: "GET /auth/oauth2/waiting", status: 410, address: func(*full) string { return "/auth/oauth2/waiting?request=x" }},
	{route: "GET /auth/sign-in", nobody: true},
	{route: "POST /auth/sign-in", nobody: true, status: 403, form: sends("sign-in", "", url.Values{"username": {odd}, "password": {odd}})},
	{route: "GET /auth/upstream/callback/begin", nobody: true, status: 403},
	{route: "GET /auth/upstream/callback/confirm", status: 403},
	{route: "GET /auth/upstream/callback", nobody: true, status: 400},
	{route: "POST /auth/sign-out", status: 403, form: sends("another", "", nil)},
}

// weightless are routes without a page of their own: they redirect, serve something else,
// or show the page of another route.
var weightless = []string{
	"POST /account/sign-out", "POST /account/sign-out-everywhere", "POST /connected-apps/disconnect", "POST /connected-apps/disconnect-all",
	"POST /developer/clients/:id/transfer/withdraw", "POST /developer/offers/:id/accept", "POST /developer/offers/:id/decline",
	"GET /admin/audit.jsonl", "GET /logos/:digest", "GET /assets/:name",
}

// api returns the address of a page about the resource server with the most content.
func api(below string) func(*full) string {
	return func(*full) string { return "/admin/resource-servers/" + apiName("api00") + below }
}

// aboutAPI00 returns a form about that resource server. Its token is bound to pairs, except
// what is typed.
func aboutAPI00(purpose web.Purpose, pairs ...string) func(*full) *sent {
	return func(f *full) *sent {
		bound := []string{apiName("api00"), f.resourceURI("api00")}
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] != "name" {
				bound = append(bound, pairs[i+1])
			}
		}
		return &sent{purpose, strings.Join(bound, "\x00"), with(url.Values{"resource": {f.resourceURI("api00")}}, pairs...)}
	}
}

// agentPage returns the address of a page about the publisher with the most content.
func agentPage(below string) func(*full) string {
	return func(f *full) string { return "/admin/publishers/" + f.host("agent") + below }
}

// aboutAgent returns a form about that publisher, of a page that is stale and with every problem.
func aboutAgent(purpose web.Purpose) func(*full) *sent {
	return func(f *full) *sent {
		stale := strings.Repeat("11", 16)
		return &sent{purpose, f.host("agent") + "\x00" + stale, with(f.wrongPublisher(), "expected_last", stale, "reason", f.wide(f.note))}
	}
}

func (f *full) wrongPublisher() url.Values {
	return url.Values{"name": {f.wide(81)}, "scopes": scopeNames(), "defaults": scopeNames(), "max_clients": {"x"}, "long_retry": {"yes"}}
}

// sends returns a form that is the same in every env.
func sends(purpose web.Purpose, about string, fields url.Values) func(*full) *sent {
	return func(*full) *sent { return &sent{purpose, about, fields} }
}

// edits returns a form about a client in its current state. Its token is bound to the
// revision and to bound.
func edits(purpose web.Purpose, id string, fields func(*full) url.Values, bound ...string) func(*full) *sent {
	return func(f *full) *sent {
		revision := fmt.Sprint(f.View().Client(long(id)).Revision)
		return &sent{purpose, strings.Join(append([]string{long(id), revision}, bound...), "\x00"), with(fields(f), "revision", revision)}
	}
}

// allWrong returns a profile with every problem that a browser permits.
func (f *full) allWrong() url.Values {
	v := url.Values{"name": {""}, "purpose": {f.wide(f.note)}, "website": {"x" + f.website("app")}, "privacy_url": {"x" + f.website("app")}, "terms_url": {"x" + f.website("app")}, "scopes": {"NONE"}}
	for _, uri := range f.uris("app") {
		v.Add("redirect_uris", "x"+uri[1:])
	}
	return v
}

// ask requests the page once.
func (one weighing) ask(f *full) *httptest.ResponseRecorder {
	b := f.owner
	if one.nobody {
		b = f.browser()
	}
	method, target, _ := strings.Cut(one.route, " ")
	if one.address != nil {
		target = one.address(f)
	}
	r := httptest.NewRequest(method, target, nil)
	if method == http.MethodPost {
		r = httptest.NewRequest(method, target, strings.NewReader(one.form(f).values(b).Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return b.serve(r)
}

// TestPagesAreLight verifies that every page has less than 20 KB, without stylesheet and
// pictures. Pages that show long texts completely, or show them again beside problems,
// only satisfy this for texts of usual length: ten addresses of 1,024 bytes alone are 10
// KB.
func TestPagesAreLight(t *testing.T) {
	t.Parallel()
	var weighed []string
	for _, e := range []extent{usual, long10, extreme} {
		f := newFull(t, e)
		for _, one := range weighings {
			weighed = append(weighed, one.route)
			page := one.ask(f)
			assert.Equal(t, max(one.status, http.StatusOK), page.Code, one.route)
			assert.Empty(t, faultsOf(page.Body.String()), one.route)
			t.Logf("%6d bytes, %2d URIs of %4d: %s", page.Body.Len(), e.many, e.uri, one.route)
			most := maxPage
			switch {
			case one.whole && e == long10:
				most = 24 << 10
			case one.whole && e == extreme:
				most = 52 << 10
			}
			assert.Less(t, page.Body.Len(), most, "%s with %d URIs of %d", one.route, e.many, e.uri)
		}
	}
	var routes registered
	newEnv(t, withProvider).web.Register(&routes)
	for _, route := range routes {
		if !strings.HasPrefix(route, "HEAD ") && !slices.Contains(weightless, route) {
			assert.Contains(t, weighed, route, "the route has no weighing")
		}
	}
	for _, route := range weightless {
		assert.Contains(t, routes, route)
		assert.NotContains(t, weighed, route)
	}
}

// TestErrorPagesAreLight covers pages without a route.
func TestErrorPagesAreLight(t *testing.T) {
	f := newFull(t, extreme)
	for _, page := range []answer{f.owner.get("/nothing/" + strings.Repeat("x", 8000)), f.owner.send(http.MethodPut, "/account", nil, nil)} {
		assert.Less(t, len(page.body), maxPage)
	}
}

// TestLightListsAreWhole verifies that a list whose pages have fewer rows than usual is
// still complete.
func TestLightListsAreWhole(t *testing.T) {
	f := newFull(t, extreme)
	next := regexp.MustCompile(`<a class="button small" href="([^"]*)" rel="next">`)
	rows := regexp.MustCompile(`<tr><th scope="row">.*`)
	for path, want := range map[string]int{"/admin/clients": 139, "/admin/resource-servers": 30, "/admin/publishers": 38, "/admin/users": 34, "/admin/audit?user=" + otherID: 36} {
		seen, pages := map[string]bool{}, 0
		for {
			page := f.owner.get(path)
			for _, row := range rows.FindAllString(page.body, -1) {
				seen[row] = true
			}
			pages++
			more := next.FindStringSubmatch(page.body)
			if more == nil {
				break
			}
			path = html.UnescapeString(more[1])
		}
		assert.Equal(t, want, len(seen), path) // without printing all rows
		assert.Greater(t, pages, want/25, path)
	}
}
