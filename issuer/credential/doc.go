// Package credential owns the formats of everything that the issuer hands out or receives:
// authorization codes and refresh tokens, access tokens, client secrets, session ids, error
// ids and users' passwords. It mints, parses and verifies them.
//
// Keys are passed in as small interfaces. Whether a credential is due, revoked or expired is
// decided by package ledger, of which this package only uses the type of a reference to a
// credential. Results depend on the bytes and the keys alone: there is no state and no clock.
package credential
