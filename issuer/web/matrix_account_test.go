package web_test

import (
	"net/url"

	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

var matrixAccount = []row{
	{route: "GET /", nobody: 303, user: 200, owner: 200, administrator: 200},
	{route: "GET /account", nobody: 303, user: 200, owner: 200, administrator: 200},
	{route: "GET /account/password", nobody: 303, user: 200, owner: 200, administrator: 200},
	{
		route: "POST /account/password", nobody: 303, user: 303, owner: 303, administrator: 303, harmless: true,
		form: &Sent{Purpose: "password", About: "", Fields: url.Values{"current": {Password}, "new": {Another}, "again": {Another}}},
	},
	{
		route: "POST /account/sign-out", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &Sent{Purpose: "end session", About: AdaElsewhere, Fields: url.Values{"session": {AdaElsewhere}}},
	},
	{
		route: "POST /account/sign-out-everywhere", nobody: 303, user: 303, owner: 303, administrator: 303, harmless: true,
		form: &Sent{Purpose: "sign out everywhere", About: "", Fields: nil},
	},
	{
		route: "POST /account/feed", nobody: 303, user: 409, owner: 409, administrator: 409, harmless: true,
		form: &Sent{Purpose: "feed", About: "\x00\x00", Fields: url.Values{"secret": {""}, "sealed": {""}, "after": {""}}},
	},
	{
		route: "POST /account/feed/remove", nobody: 303, user: 303, owner: 303, administrator: 303, harmless: true,
		form: &Sent{Purpose: "remove feed", About: "", Fields: nil},
	},
	{route: "GET /feed/:address", address: "/feed/" + StageFeed, nobody: 200, user: 200, owner: 200, administrator: 200},
	{route: "GET /connected-apps", nobody: 303, user: 200, owner: 200, administrator: 200},
	{route: "GET /connected-apps/:id", address: "/connected-apps/calendar", nobody: 303, user: 404, owner: 200, administrator: 404},
	{
		route: "POST /connected-apps/disconnect", nobody: 303, user: 303, owner: 303, administrator: 303, harmless: true,
		form: &Sent{Purpose: "disconnect", About: "calendar", Fields: url.Values{"client": {"calendar"}}},
	},
	{
		route: "POST /connected-apps/disconnect-all", nobody: 303, user: 303, owner: 303, administrator: 303, harmless: true,
		form: &Sent{Purpose: "disconnect all", About: "", Fields: nil},
	},
}
