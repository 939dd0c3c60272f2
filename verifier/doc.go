// Package verifier checks access tokens offline: the RFC 9068 profile of JWT,
// against the issuer's published key set, without a call to the issuer for each
// token. It is strict from the start: one spelling of a token is accepted, and
// every rule of RFC 8725 that applies is not an option.
//
// It owns the token format as a reader, the keys over their whole life, the
// memory of tokens that were verified, and the reasons for which a token is
// refused. It does not own HTTP requests and answers (package middleware does) nor
// the meaning of scopes (package scope does), and it can't sign.
//
// A token says what an application may do for its user. That the user owns the
// resource that a request names, or is a member of the team or organization in
// its path, is the resource server's to check.
//
// The package imports the standard library only, and so links nothing else into
// the services that use it.
//
// # Keys
//
// A [JWKS] keeps the issuer's keys in memory and refreshes them in the background.
// No request waits for the issuer once there are keys, whether it is slow, hangs
// or is gone; only a kid that nobody has seen waits, for a second at most. What
// each situation comes to is in its comment, and each is a test:
// situations_test.go.
//
// # Tokens that come again
//
// A token that was accepted is remembered, up to [DefaultCacheSize] of them, and
// costs no signature check when it comes again. What may have changed is asked
// again each time: exp and nbf, whether its key is still in the set, whether the
// set is too old, and Config.Revoked. Refusals are not remembered. [Claims] can't
// be changed, since requests share them.
//
// # Speed and strictness
//
// One ES256 token of 30 minutes and two scopes, on one of two cores of an AMD EPYC
// server with Go 1.26; the bare signature check takes 88 µs there. The right column
// is how many tokens of verifiertest.Corpus are accepted that no verifier of
// RFC 9068 access tokens should accept, with every check set that the library has.
//
//	                                time  allocations       bytes    odd tokens
//	this package                 89.7 µs           15       2,064      0 of 202
//	this package, seen before    0.11 µs            0           0      0 of 202
//	golang-jwt 5.3.1 + keyfunc   97.8 µs          103       5,264     62 of 202
//	go-oidc 3.21.0              103.5 µs          130       9,901     67 of 202
//	jwx 2.1.7                   116.3 µs          331      20,825     79 of 202
//
// Measured by these commands, as best-ns/op; the other verifiers are in a module of
// their own, so that who imports this package doesn't see them:
//
//	cd verifier/bench
//	go test -run '^$' -bench . -benchmem -count 6
//	go test -run Corpus -v
//
// The whole check is 1.02 times the bare signature check, and two cores make 1.9
// times the hits of one. At the root of the repository, these measure both, and the
// bare check by itself:
//
//	go test -run '^$' -bench 'Raw|CacheScaling' -count 6 ./verifier
package verifier
