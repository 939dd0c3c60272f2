// Package web serves the pages for users: sign-in, the authorization step with its consent page,
// the account pages, the developer settings, the administration, and all error pages.
//
// This package only puts them together. Arrows lead down, and no area knows another:
//
//	signin, account, developer, admin   the areas: handlers, templates and tests
//	authn                               proving who somebody is
//	parts                               what several areas show
//	site                                one request of a browser
//	ui                                  how pages look
//
// A page consists of an entry in the routes of its area, a handler, and a file in the area's
// templates/. A form is declared as a site.FormKind. The tests here have a matrix of who may
// request what, in which every route needs a row; package webtest is their kit.
//
// The pages parse requests, show the state of the ledger and propose commands. Their decisions
// are preliminary: every command repeats the checks of its page. They know neither the endpoints
// for programs, nor the cluster, nor any key.
//
// Pages are rendered on the server, have no inline script and no inline style, and work without
// script and under a Content-Security-Policy that forbids both.
package web
