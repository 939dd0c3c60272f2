package web_test

import (
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

var matrixSignin = []row{
	{route: "GET /auth/oauth2/waiting", nobody: 303, user: 410, owner: 410, administrator: 410},
	// The authorization step and what leads to it are open to anybody. Their forms are
	// bound to more than a session, and have their own tests.
	{route: "GET /auth/oauth2/authorize", address: At(Good()), nobody: 200, user: 200, owner: 200, administrator: 200},
	{route: "POST /auth/oauth2/authorize", address: At(Good()), nobody: 405, user: 405, owner: 405, administrator: 405},
	{route: "GET /auth/sign-in", nobody: 200, user: 303, owner: 303, administrator: 303},
	{route: "POST /auth/sign-in", nobody: 403, user: 403, owner: 403, administrator: 403},
	{route: "GET /auth/upstream/callback/begin", nobody: 403, user: 303, owner: 303, administrator: 303},
	{route: "GET /auth/upstream/callback/confirm", nobody: 303, user: 404, owner: 404, administrator: 403},
	{route: "GET /auth/upstream/callback", nobody: 400, user: 303, owner: 303, administrator: 303},
	{route: "POST /auth/sign-out", nobody: 403, user: 403, owner: 403, administrator: 403},
	{route: "GET /assets/:name", address: "/assets/style-0123456789abcdef.css", nobody: 200, user: 200, owner: 200, administrator: 200},
}
