package web_test

import (
	"net/url"
)

var weighingsAccount = []weighing{
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
}
