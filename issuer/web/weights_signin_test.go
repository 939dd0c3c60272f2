package web_test

import (
	"net/url"

	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

var weighingsSignin = []weighing{
	{route: "GET /auth/oauth2/authorize", address: func(f *Full) string { return At(f.Asks("c_00")) }},
	{route: "GET /auth/oauth2/authorize", address: func(f *Full) string { return At(f.Asks("old", "scope", "")) }},
	{route: "GET /auth/oauth2/authorize", nobody: true, address: func(f *Full) string { return At(f.Asks("c_00")) }},
	{route: "GET /auth/oauth2/authorize", status: 400, whole: true, address: func(f *Full) string { return At(f.Asks("c_00", "redirect_uri", f.Uris("other")[0])) }},
	{route: "POST /auth/oauth2/authorize", status: 400, form: sends("consent", "", url.Values{"next": {odd}})},
	{route: "GET /auth/oauth2/waiting", status: 410, address: func(*Full) string { return "/auth/oauth2/waiting?request=x" }},
	{route: "GET /auth/sign-in", nobody: true},
	{route: "POST /auth/sign-in", nobody: true, status: 403, form: sends("sign-in", "", url.Values{"username": {odd}, "password": {odd}})},
	{route: "GET /auth/upstream/callback/begin", nobody: true, status: 403},
	{route: "GET /auth/upstream/callback/confirm", status: 403},
	{route: "GET /auth/upstream/callback", nobody: true, status: 400},
	{route: "POST /auth/sign-out", status: 403, form: sends("another", "", nil)},
}
