// Package verifiertest helps the tests of resource servers: an issuer that mints
// tokens and misbehaves on demand, a clock that is moved by hand, claims for the
// tests of handlers, and a corpus of odd tokens for anybody's verifier.
//
// It owns nothing that decides about a token: what it mints is checked by
// package verifier as any other token is. It is for tests only, since its issuer
// signs whatever it is asked to.
package verifiertest
