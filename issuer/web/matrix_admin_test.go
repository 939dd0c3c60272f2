package web_test

import (
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// sharedMark identifies the password of each user in the matrix.
var sharedMark = authn.PasswordMark(&ledger.User{Password: PasswordHash()})

var matrixAdmin = []row{
	// The administration exists for administrators only.
	{route: "GET /admin", nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/clients", nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/clients/:id", address: "/admin/clients/calendar", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/clients/:id/review", address: "/admin/clients/waiting/review", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "review", About: "waiting\x001", Fields: url.Values{"revision": {"1"}, "verdict": {"approve"}}},
	},
	{route: "GET /admin/clients/:id/suspend", address: "/admin/clients/calendar/suspend", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/clients/:id/suspend", address: "/admin/clients/mine/suspend", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "suspend", About: "mine\x001", Fields: url.Values{"revision": {"1"}}},
	},
	{
		route: "POST /admin/clients/:id/resume", address: "/admin/clients/stopped/resume", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "resume", About: "stopped\x001", Fields: url.Values{"revision": {"1"}}},
	},
	{route: "GET /admin/clients/:id/transfer", address: "/admin/clients/calendar/transfer", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/clients/:id/transfer", address: "/admin/clients/mine/transfer", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "transfer client", About: "mine\x001", Fields: url.Values{"revision": {"1"}, "username": {"bob"}}},
	},
	{route: "GET /admin/users", nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/new-user", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/new-user", nobody: 303, user: 404, owner: 404, administrator: 200,
		form: &Sent{Purpose: "new user", About: "u_new", Fields: url.Values{"id": {"u_new"}, "username": {"eve"}, "password": {Another}}},
	},
	{route: "GET /admin/users/:id", address: "/admin/users/u-ada", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/users/:id/state", address: "/admin/users/u-bob/state", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "user state", About: "u-bob\x00disable", Fields: url.Values{"state": {"disable"}}},
	},
	{
		route: "POST /admin/users/:id/disconnect", address: "/admin/users/u-bob/disconnect", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "disconnect user", About: "u-bob\x00calendar", Fields: url.Values{"client": {"calendar"}}},
	},
	{route: "GET /admin/users/:id/edit", address: "/admin/users/u-ada/edit", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/users/:id/edit", address: "/admin/users/u-bob/edit", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "edit user", About: "u-bob\x00" + AnySeen, Fields: url.Values{"expected_last": {AnySeen}, "username": {"bob"}, "name": {"Bobby"}}},
	},
	{route: "GET /admin/users/:id/password", address: "/admin/users/u-ada/password", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/users/:id/password", address: "/admin/users/u-bob/password", nobody: 303, user: 404, owner: 404, administrator: 200,
		form: &Sent{Purpose: "user password", About: "u-bob\x00" + sharedMark, Fields: url.Values{"mark": {sharedMark}, "password": {Another}}},
	},
	{route: "GET /admin/resource-servers", nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/new-resource-server", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/new-resource-server", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "new resource server", About: "", Fields: url.Values{"id": {"https://new.example"}, "name": {"new"}, "only": {"no"}}},
	},
	{route: "GET /admin/resource-servers/:server", address: ApiPage, nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/resource-servers/:server/edit", address: ApiPage + "/edit", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/resource-servers/:server/edit", address: ApiPage + "/edit", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "edit resource server", About: AboutAPI + AnySeen, Fields: url.Values{"resource": {ApiURI}, "expected_last": {AnySeen}, "name": {"renamed"}, "only": {"no"}}},
	},
	{
		route: "POST /admin/resource-servers/:server/secrets/add", address: ApiPage + "/secrets/add", nobody: 303, user: 404, owner: 404, administrator: 409,
		form: &Sent{Purpose: "add secret of resource server", About: AboutAPI + "s_new\x00\x00", Fields: url.Values{"resource": {ApiURI}, "secret": {"s_new"}}},
	},
	{
		route: "POST /admin/resource-servers/:server/secrets/revoke", address: ApiPage + "/secrets/revoke", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "revoke secret of resource server", About: AboutAPI + "s_api", Fields: url.Values{"resource": {ApiURI}, "secret": {"s_api"}}},
	},
	{route: "GET /admin/resource-servers/:server/remove", address: ApiPage + "/remove", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/resource-servers/:server/remove", address: ApiPage + "/remove", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "remove resource server", About: AboutAPI + AnySeen, Fields: url.Values{"resource": {ApiURI}, "expected_last": {AnySeen}, "name": {"api"}}},
	},
	// These exist only while agents are accepted: see TestAgentsOff.
	{route: "GET /admin/publishers", nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/new-publisher", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/new-publisher", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "new publisher", About: "", Fields: url.Values{"host": {"new.example"}, "scopes": {"BOOKING_READ"}}},
	},
	{route: "GET /admin/publishers/:host", address: PublisherPage, nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/publishers/:host/edit", address: PublisherPage + "/edit", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/publishers/:host/edit", address: PublisherPage + "/edit", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "edit publisher", About: AboutPublisher, Fields: url.Values{"expected_last": {AnySeen}, "scopes": {"BOOKING_READ"}}},
	},
	{route: "GET /admin/publishers/:host/revoke", address: PublisherPage + "/revoke", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/publishers/:host/revoke", address: PublisherPage + "/revoke", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "revoke publisher", About: AboutPublisher, Fields: url.Values{"expected_last": {AnySeen}}},
	},
	{route: "GET /admin/publishers/:host/reject", address: PublisherPage + "/reject", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/publishers/:host/reject", address: PublisherPage + "/reject", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "reject publisher", About: AboutPublisher, Fields: url.Values{"expected_last": {AnySeen}, "reason": {"why"}}},
	},
	{route: "GET /admin/publishers/:host/remove", address: PublisherPage + "/remove", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/publishers/:host/remove", address: PublisherPage + "/remove", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "remove publisher", About: AboutPublisher, Fields: url.Values{"expected_last": {AnySeen}}},
	},
	{route: "GET /admin/branding", nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/branding/draft.css", nobody: 303, user: 404, owner: 404, administrator: 200},
	{
		route: "POST /admin/branding", nobody: 303, user: 404, owner: 404, administrator: 409,
		form: &Sent{Purpose: "branding", About: AnySeen, Fields: url.Values{"expected_last": {AnySeen}, "service_name": {"Zeta"}}},
	},
	{
		route: "POST /admin/branding/publish", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "publish branding", About: AnySeen, Fields: url.Values{"expected_last": {AnySeen}}},
	},
	{
		route: "POST /admin/branding/discard", nobody: 303, user: 404, owner: 404, administrator: 303,
		form: &Sent{Purpose: "discard branding", About: AnySeen, Fields: url.Values{"expected_last": {AnySeen}}},
	},
	{route: "GET /admin/audit", nobody: 303, user: 404, owner: 404, administrator: 200},
	{route: "GET /admin/audit.jsonl", nobody: 303, user: 404, owner: 404, administrator: 200},
}
