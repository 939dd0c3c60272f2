// Package verifier verifies access tokens offline: JWTs of RFC 9068, with the issuer's
// published key set and without a call to the issuer for each token. It is strict by
// default: it accepts only one spelling of a token, and the rules of RFC 8725 that apply
// can't be switched off. ES256 itself has two signatures for each token: if (r, s) is
// valid, so is (r, n-s) (FIPS 186-5 §6.4). Anybody with a token can thus make a second
// one with the same claims. Distinguish tokens by [Claims.ID], never by their text.
//
// It owns the token format as a reader, the keys from fetch to removal, the cache of
// verified tokens, and the reasons for which a token is refused. It does not own HTTP
// requests and answers (package middleware does) nor the meaning of scopes (package
// scope does), and it can't sign.
//
// A token tells what an application may do for its user. Whether the user owns the
// resource that a request names, or is a member of the team or organization in its path,
// is for the resource server to check.
//
// The package imports the standard library only, and so links nothing else into the
// services that use it. Its module requires testify, for its tests, and nothing else.
//
// # Keys
//
// A [JWKS] keeps the issuer's keys in memory and refreshes them in the background.
// No request waits for the issuer once there are keys, whether the issuer is slow, hangs
// or is gone. Only an unknown kid waits, for a second at most. These situations are
// promised, and each is a test in situations_test.go:
//
//	 1  200 tokens of unknown kid, four at once: 2 fetches at most
//	 2  50 bad signatures under a known kid: no fetch
//	 3  the first token of a new key: accepted within a second
//	 4  the same just after another unknown kid: within 10 seconds
//	 5  a key is removed: refused after one interval of refreshes
//	 6  the issuer answers 500: known keys serve
//	 7  the issuer takes 6 seconds: no token of a known key waits
//	 8  start while the issuer is down: works within 2 seconds of its return
//	 9  an ML-DSA key in the set: the others serve
//	10  a key without alg: serves
//	11  the issuer stays away: keys serve up to a bound, then the answer is
//	    "unavailable" and not "bad token"
//
// [Verifier.Ready] waits for the first keys.
//
// # A public URL that changes
//
// When the authorization server's public URL changes, so does the iss of its tokens,
// and tokens with the former iss are valid until they expire. Config.MoreIssuers has a
// Verifier accept both:
//
//  1. Issuer: the former URL, MoreIssuers: the new one.
//  2. The authorization server changes its public URL.
//  3. Issuer: the new URL, MoreIssuers: the former one.
//  4. Once the last token with the former iss has expired, Issuer: the new URL.
//
// If Audience changes too, MoreAudiences goes through the same steps. Keys and
// revocations are read at Issuer alone. If the former URL stops to answer at step 2,
// known keys serve for JWKSConfig.Stale, but a service that starts before step 3 has no
// keys. To avoid that, set Config.Keys to a JWKS with both URLs (JWKSConfig.MoreURLs),
// and RevocationsConfig.MoreURLs. Either URL can then supply every key: drop the former
// one before its domain is given up.
//
// # Cached tokens
//
// An accepted token is cached by its exact text, and costs no signature check when it
// comes again. There is room for [DefaultCacheSize] tokens in use, or for
// Config.CacheSize: a server with more users in the same half hour wants more. What may
// have changed is checked again each time: exp and nbf, whether the key is still in the
// set, whether the set is too old, Config.Revoked, and the feed of revocations if it has
// news. Refusals are not cached. [Claims] can't be changed, since requests share them.
//
// # Speed
//
// One ES256 token of 30 minutes and two scopes, on one of two cores of an AMD EPYC
// server with Go 1.26; the bare signature check takes 88 µs there:
//
//	                    time  allocations  bytes
//	not cached       89.7 µs           15  2,064
//	cached           0.11 µs            0      0
//
// The whole check is 1.02 times the bare signature check, and two cores make 1.9 times
// the hits of one. At the root of the repository, this measures both and the bare check:
//
//	go test -run '^$' -bench 'Raw|CacheScaling' -count 6 ./verifier
package verifier
