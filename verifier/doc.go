// Package verifier checks access tokens offline: the RFC 9068 profile of JWT,
// against the issuer's published key set, without a call to the issuer for each
// token. It is strict from the start: one spelling of a token is accepted, and
// every rule of RFC 8725 that applies is not an option.
//
// It owns the token format as a reader, the key set cache and the reasons for
// which a token is refused. It does not own HTTP requests and answers (package
// middleware does) nor the meaning of scopes (package scope does), and it can't
// sign.
//
// A token says what an application may do for its user. That the user owns the
// resource that a request names, or is a member of the team or organization in
// its path, is the resource server's to check.
//
// The package imports the standard library only, and so links nothing else into
// the services that use it.
package verifier
