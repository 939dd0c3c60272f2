package web_test

import (
	"net/url"

	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

var matrixDeveloper = []row{
	{route: "GET /developer", nobody: 303, user: 200, owner: 200, administrator: 200},
	{route: "GET /developer/new", nobody: 303, user: 200, owner: 200, administrator: 200},
	{
		route: "POST /developer/new", nobody: 303, user: 303, owner: 303, administrator: 303, harmless: true,
		form: &Sent{Purpose: "new client", About: "c_new", Fields: With(ProfileOf("Mine", Callback, "BOOKING_READ"), "client", "c_new", "type", "public")},
	},
	{route: "GET /developer/clients/:id", address: "/developer/clients/mine", nobody: 303, user: 404, owner: 200, administrator: 404},
	{route: "GET /developer/clients/:id/scopes", address: "/developer/clients/mine/scopes", nobody: 303, user: 404, owner: 200, administrator: 404},
	{route: "GET /developer/clients/:id/settings", address: "/developer/clients/mine/settings", nobody: 303, user: 404, owner: 200, administrator: 404},
	{route: "GET /developer/clients/:id/history", address: "/developer/clients/mine/history", nobody: 303, user: 404, owner: 200, administrator: 404},
	{route: "GET /developer/clients/:id/edit", address: "/developer/clients/mine/edit", nobody: 303, user: 404, owner: 200, administrator: 404},
	{
		route: "POST /developer/clients/:id/edit", address: "/developer/clients/mine/edit", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &Sent{Purpose: "edit client", About: "mine\x001\x00", Fields: With(ProfileOf("Another name", Callback, "BOOKING_READ"), "revision", "1", "removed", "BOOKING_WRITE TEAM_BOOKING_READ ORG_PROFILE_READ")},
	},
	{
		route: "POST /developer/clients/:id/discard", address: "/developer/clients/mine/discard", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &Sent{Purpose: "discard changes", About: "mine\x001", Fields: url.Values{"revision": {"1"}}},
	},
	{route: "GET /developer/clients/:id/secrets", address: "/developer/clients/mine/secrets", nobody: 303, user: 404, owner: 200, administrator: 404},
	{
		route: "POST /developer/clients/:id/secrets/add", address: "/developer/clients/calendar/secrets/add", nobody: 303, user: 404, owner: 409, administrator: 404,
		form: &Sent{Purpose: "add secret", About: "calendar\x00s_new\x00\x00", Fields: url.Values{"secret": {"s_new"}}},
	},
	{
		route: "POST /developer/clients/:id/secrets/set", address: "/developer/clients/mine/secrets/set", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &Sent{Purpose: "set secret", About: "mine\x00s_1", Fields: url.Values{"secret": {"s_1"}, "name": {"production"}}},
	},
	{
		route: "POST /developer/clients/:id/secrets/revoke", address: "/developer/clients/mine/secrets/revoke", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &Sent{Purpose: "revoke secret", About: "mine\x00s_1", Fields: url.Values{"secret": {"s_1"}}},
	},
	{route: "GET /developer/clients/:id/connect", address: "/developer/clients/mine/connect", nobody: 303, user: 404, owner: 200, administrator: 404},
	{
		route: "POST /developer/clients/:id/decode", address: "/developer/clients/mine/decode", nobody: 303, user: 404, owner: 200, administrator: 404, harmless: true,
		form: &Sent{Purpose: "decode token", About: "mine", Fields: url.Values{"jwt": {"e30.e30.x"}}},
	},
	{route: "GET /developer/clients/:id/errors", address: "/developer/clients/mine/errors", nobody: 303, user: 404, owner: 200, administrator: 200},
	{route: "GET /developer/clients/:id/users", address: "/developer/clients/mine/users", nobody: 303, user: 404, owner: 200, administrator: 200},
	{route: "GET /developer/clients/:id/migration", address: "/developer/clients/old/migration", nobody: 303, user: 404, owner: 200, administrator: 404},
	{
		route: "POST /developer/clients/:id/migration/draft", address: "/developer/clients/old/migration/draft", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &Sent{Purpose: "keep draft", About: "old", Fields: url.Values{"scopes": {"BOOKING_READ"}}},
	},
	{
		route: "POST /developer/clients/:id/migration", address: "/developer/clients/old/migration", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &Sent{Purpose: "migrate client", About: "old\x001\x00BOOKING_READ", Fields: url.Values{"revision": {"1"}, "selected": {"BOOKING_READ"}}},
	},
	{route: "GET /developer/clients/:id/transfer", address: "/developer/clients/mine/transfer", nobody: 303, user: 404, owner: 200, administrator: 404},
	{
		route: "POST /developer/clients/:id/transfer", address: "/developer/clients/mine/transfer", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &Sent{Purpose: "offer client", About: "mine", Fields: url.Values{"username": {"root"}}},
	},
	{
		route: "POST /developer/clients/:id/transfer/withdraw", address: "/developer/clients/offered/transfer/withdraw", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &Sent{Purpose: "withdraw offer", About: "offered\x000", Fields: url.Values{"offer": {"0"}}},
	},
	{route: "GET /developer/clients/:id/delete", address: "/developer/clients/mine/delete", nobody: 303, user: 404, owner: 200, administrator: 404},
	{
		route: "POST /developer/clients/:id/delete", address: "/developer/clients/mine/delete", nobody: 303, user: 404, owner: 303, administrator: 404,
		form: &Sent{Purpose: "delete client", About: "mine\x001", Fields: url.Values{"revision": {"1"}, "name": {"The mine app"}}},
	},
	// The offer is made to bob.
	{route: "GET /developer/offers", nobody: 303, user: 200, owner: 200, administrator: 200},
	{route: "GET /developer/offers/:id", address: "/developer/offers/offered", nobody: 303, user: 200, owner: 404, administrator: 404},
	{
		route: "POST /developer/offers/:id/accept", address: "/developer/offers/offered/accept", nobody: 303, user: 303, owner: 303, administrator: 404, harmless: true,
		form: &Sent{Purpose: "accept client", About: "offered\x001", Fields: url.Values{"revision": {"1"}}},
	},
	{
		route: "POST /developer/offers/:id/decline", address: "/developer/offers/offered/decline", nobody: 303, user: 303, owner: 303, administrator: 303, harmless: true,
		form: &Sent{Purpose: "decline client", About: "offered\x000", Fields: url.Values{"offer": {"0"}}},
	},
	{route: "GET /logos/:digest", address: LogoAddress, nobody: 200, user: 200, owner: 200, administrator: 200},
}
