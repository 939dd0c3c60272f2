// Package verifiertest helps to test resource servers: an issuer that mints tokens and
// fails on demand, a clock that the test moves, claims for the tests of handlers, and a
// corpus of invalid tokens for any verifier.
//
// Its tokens are verified by package verifier as any others. Use it in tests only: its
// issuer signs any text.
package verifiertest
