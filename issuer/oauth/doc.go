// Package oauth owns the words of the protocol: what a token request and an
// authorization request say, which error codes exist, how a redirection URI
// is written and compared, and what a token response looks like.
//
// It parses each request once into a typed value and refuses what is
// repeated, unreadable or ambiguous on the way. It does not know any client,
// user or grant, reads no clock and opens no connection: package ledger
// decides, packages endpoint and web answer.
package oauth
