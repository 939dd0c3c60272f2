// Package web serves the pages for users: sign-in, the authorization step with its consent page,
// the account pages, the developer settings, the administration, and all error pages.
//
// It parses requests, shows the state of the ledger and proposes commands. Its decisions are
// preliminary: every command repeats the checks of its page. It knows neither the endpoints for
// programs, nor the cluster, nor any key.
//
// A page consists of an entry in a table of routes, a handler, and a file in templates/ that
// uses the components of package ui. navigation.go has the entries of the navigation. A form
// is declared as a formKind.
// routes.go and guard.go decide who may open a page, and failure.go makes every error page.
// The tests have a matrix of who may request what, in which every route needs a row.
//
// Pages are rendered on the server, and work without the script of package ui. Those in
// templates/cards, such as the sign-in and the consent page, never have it.
package web
