// Package oauth owns the messages of the protocol: the parameters of token and
// authorization requests, the error codes, the syntax and comparison of redirection URIs,
// and the token response.
//
// It parses each request once into a typed value and refuses one that is malformed,
// ambiguous, or has repeated parameters. It knows no client, user or grant, reads no clock
// and opens no connection: package ledger decides, packages endpoint and web respond.
package oauth
