package web_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

var weighingsDeveloper = []weighing{
	{route: "GET /developer"},
	{route: "GET /developer", address: query("/developer", "q", odd)},
	{route: "GET /developer", address: query("/developer", "after", Long("c_03"))},
	{route: "GET /developer/new"},
	{
		route: "POST /developer/new", status: 422, whole: true,
		form: func(f *Full) *Sent {
			return &Sent{Purpose: "new client", About: "c_new", Fields: With(f.AllWrong(), "client", "c_new")}
		},
	},
	{route: "GET /developer/clients/:id", address: of("/developer/clients/", "mine", ""), whole: true},
	{route: "GET /developer/clients/:id", address: saying("accepted", of("/developer/clients/", "public", "")), whole: true},
	{route: "GET /developer/clients/:id/edit", address: of("/developer/clients/", "mine", "/edit"), whole: true},
	{
		route: "POST /developer/clients/:id/edit", address: of("/developer/clients/", "mine", "/edit"), status: 422, whole: true,
		form: edits("edit client", "mine", func(f *Full) url.Values { return f.AllWrong() }, ""),
	},
	{
		route: "POST /developer/clients/:id/edit", address: of("/developer/clients/", "mine", "/edit"), whole: true,
		form: edits("edit client", "mine", func(f *Full) url.Values {
			client := f.View().Client(Long("mine"))
			return ProfileOf(f.Wide(f.Name), client.RedirectURIs[0], client.Scopes[0])
		}, ""),
	},
	{route: "GET /developer/clients/:id", address: of("/developer/clients/", "turned-down", ""), whole: true},
	{route: "GET /developer/clients/:id/scopes", address: of("/developer/clients/", "mine", "/scopes"), whole: true},
	{route: "GET /developer/clients/:id/scopes", address: of("/developer/clients/", "turned-down", "/scopes"), whole: true},
	{route: "GET /developer/clients/:id/settings", address: of("/developer/clients/", "mine", "/settings")},
	{route: "GET /developer/clients/:id/history", address: of("/developer/clients/", "mine", "/history")},
	{route: "GET /developer/clients/:id/edit", address: of("/developer/clients/", "turned-down", "/edit?from=refused"), whole: true},
	{
		route: "POST /developer/clients/:id/discard", address: of("/developer/clients/", "turned-down", "/discard"), status: 409, whole: true,
		form: sends("discard changes", Long("turned-down")+"\x001", url.Values{"revision": {"1"}}),
	},
	{route: "GET /developer/clients/:id/secrets", address: saying("secret-known", of("/developer/clients/", "mine", "/secrets"))},
	{
		route: "POST /developer/clients/:id/secrets/set", address: of("/developer/clients/", "mine", "/secrets/set"), status: 422,
		form: func(f *Full) *Sent {
			return &Sent{Purpose: "set secret", About: Long("mine") + "\x00s_1", Fields: url.Values{"secret": {"s_1"}, "name": {f.Wide(41)}}}
		},
	},
	{
		route: "POST /developer/clients/:id/secrets/revoke", address: of("/developer/clients/", "single", "/secrets/revoke"), status: 422,
		form: sends("revoke secret", Long("single")+"\x00s_only", url.Values{"secret": {"s_only"}}),
	},
	{
		route: "POST /developer/clients/:id/secrets/add", address: of("/developer/clients/", "single", "/secrets/add"),
		form: func(f *Full) *Sent {
			path := "/developer/clients/" + Long("single") + "/secrets"
			form := f.Owner.Get(path).Form(f.T, path+"/add")
			return &Sent{Purpose: "add secret", About: strings.Join([]string{Long("single"), form.Get("secret"), form.Get("sealed"), form.Get("after")}, "\x00"), Fields: form}
		},
	},
	{
		route: "POST /developer/clients/:id/secrets/add", address: of("/developer/clients/", "mine", "/secrets/add"), status: 409,
		form: sends("add secret", Long("mine")+"\x00s_new\x00\x00", url.Values{"secret": {"s_new"}}),
	},
	{route: "GET /developer/clients/:id/connect", address: of("/developer/clients/", "single", "/connect"), whole: true},
	{route: "GET /developer/clients/:id/connect", address: of("/developer/clients/", "public", "/connect"), whole: true},
	{
		route: "POST /developer/clients/:id/decode", address: of("/developer/clients/", "mine", "/decode"),
		form: func(f *Full) *Sent {
			return &Sent{Purpose: "decode token", About: Long("mine"), Fields: url.Values{"jwt": {heavyToken()}}}
		},
	},
	{
		route: "POST /developer/clients/:id/decode", address: of("/developer/clients/", "mine", "/decode"), status: 422,
		form: sends("decode token", Long("mine"), url.Values{"jwt": {odd}}),
	},
	{route: "GET /developer/clients/:id/errors", address: of("/developer/clients/", "mine", "/errors?error_id=mme_1")},
	{route: "GET /developer/clients/:id/errors", address: of("/developer/clients/", "mine", "/errors?error_id="+strings.Repeat("%22", 300))},
	{route: "GET /developer/clients/:id/users", address: of("/developer/clients/", "mine", "/users")},
	{route: "GET /developer/clients/:id/migration", address: of("/developer/clients/", "old", "/migration"), whole: true},
	{
		route: "POST /developer/clients/:id/migration", address: of("/developer/clients/", "old", "/migration"), status: 422, whole: true,
		form: sends("migrate client", Long("old")+"\x001\x00"+strings.Join(ScopeNames()[1:], " "), url.Values{"revision": {"1"}, "selected": {strings.Join(ScopeNames()[1:], " ")}}),
	},
	{route: "GET /developer/clients/:id/transfer", address: of("/developer/clients/", "mine", "/transfer")},
	{
		route: "POST /developer/clients/:id/transfer", address: of("/developer/clients/", "mine", "/transfer"), status: 422,
		form: sends("offer client", Long("mine"), url.Values{"username": {odd}}),
	},
	{route: "GET /developer/clients/:id/delete", address: of("/developer/clients/", "mine", "/delete")},
	{
		route: "POST /developer/clients/:id/delete", address: of("/developer/clients/", "mine", "/delete"), status: 422,
		form: edits("delete client", "mine", func(*Full) url.Values { return url.Values{"name": {odd}} }),
	},
	{route: "GET /developer/offers"},
	{route: "GET /developer/offers", address: query("/developer/offers", "after", Long("offered_02"))},
	{route: "GET /developer/offers/:id", address: of("/developer/offers/", "offered_00", ""), whole: true},
}

// heavyToken returns the longest token of the characters that take the most bytes on a page.
func heavyToken() string {
	claims := map[string]any{"scope": strings.Join(ScopeNames(), " ")}
	for _, name := range []string{"iss", "sub", "aud", "client_id", "jti", "grant_id"} {
		claims[name] = odd
	}
	for n := range 60 {
		claims[strings.Repeat("'", n)] = "''"
	}
	payload, _ := json.Marshal(claims)
	return "e30." + base64.RawURLEncoding.EncodeToString(payload) + ".x"
}
