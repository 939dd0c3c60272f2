// Package verifiertest is for the tests of resource servers: an issuer that mints tokens
// and fails on demand, a clock that is moved by hand, claims for the tests of handlers, and
// a corpus of odd tokens for any verifier.
//
// It owns no check of a token: package verifier verifies these tokens as any other. It is
// for tests only, since its issuer signs any text.
package verifiertest
