// Package credential holds the formats of everything the issuer hands out or
// is shown: authorization codes and refresh tokens, access tokens, client
// secrets, session ids, error ids and people's passwords. It
// mints, parses and checks them.
//
// It does not own the keys, which come in as small interfaces; nor whether a
// credential is still due, revoked or expired, which only the ledger can say: of that
// package it has the type that a credential names a grant by.
// What it answers depends on the bytes and the keys alone: no state, no clock.
package credential
