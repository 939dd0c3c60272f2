// Package web is the pages that people see: sign-in, the authorization step
// with its consent page, the pages of a person's own account, the developer
// settings, and every page that says that something went wrong.
//
// It reads requests, shows what the ledger says and proposes commands. It
// decides nothing that lasts: what a page checks is checked again by the
// command. It does not know the endpoints that programs call, the cluster or
// any key.
//
// A page is a line in a table of routes, a handler, and a file in templates/;
// testdata/specimen.html has the parts that pages are made of. A form is
// declared as a formKind. The tests keep a matrix of who may ask for what, in
// which a new route needs a row.
//
// Pages are made on the server, hold no script and no inline style, and work
// under a Content-Security-Policy that forbids both.
package web
