package web_test

import (
	"net/url"

	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

var weighingsAccount = []weighing{
	{route: "GET /"},
	{route: "GET /account"},
	{route: "GET /account/password"},
	{
		route: "POST /account/password", status: 422,
		form: sends("password", "", url.Values{"current": {"wrong"}, "new": {"short"}, "again": {"other"}}),
	},
	{
		route: "POST /account/feed",
		form: func(f *Full) *Sent {
			form := f.Owner.FeedForm()
			return &Sent{Purpose: "feed", About: form.Get("secret") + "\x00" + form.Get("sealed") + "\x00" + form.Get("after"), Fields: form}
		},
	},
	{route: "POST /account/feed", status: 409, form: sends("feed", "\x00\x00", url.Values{"secret": {""}, "sealed": {""}, "after": {""}})},
	{route: "GET /connected-apps"},
	{route: "GET /connected-apps", address: query("/connected-apps", "q", odd)},
	{route: "GET /connected-apps/:id", address: of("/connected-apps/", "old", "")},
}
