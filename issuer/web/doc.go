// Package web is the pages that people see: sign-in, the authorization step
// with its consent page, the account page with the connected applications, and
// every page that says that something went wrong.
//
// It reads requests, shows what the ledger says and proposes commands. It
// decides nothing that lasts: what a page checks is checked again by the
// command. It does not know the endpoints that programs call, the cluster or
// any key.
//
// Pages are made on the server, hold no script and no inline style, and work
// under a Content-Security-Policy that forbids both.
package web
