// Package feed tells resource servers which access tokens were taken back before
// they expire, so that they learn of it within a second and still ask nobody about
// a request.
//
// It follows the audit trail on one node's own copy of the state, keeps what was
// revoked as long as a token from before it can live, and signs it: whole, or what
// is new since a version, at once or when there is something. It owns the document
// of the feed and the secrets of its readers. It does not own what an event takes
// back (package ledger does), HTTP (package endpoint) nor keys.
//
// The document is a JWS in compact serialization, typ "mintmark-revocations+jwt",
// signed by a key of the key set. Its claims:
//
//	iss             the issuer of the tokens
//	iat             when the node knew that it had everything: how fresh this is
//	version         of this document: "EPOCH-NUMBER"
//	after           the version that revoked begins behind; "" for all that is kept
//	complete_since  earlier revocations may be missing; 0 for none
//	window          for how many seconds a revocation is kept
//	revoked         a list, oldest first
//
// Each of the list has at, a time, and some of grant_id, sub and client_id: it
// means the tokens that have these claims and an iat of at or before. Times are
// whole seconds, and a token of the same second counts as before; its client
// refreshes it. One with "lifted": true takes back what was said of its client_id
// before.
//
// Another document for the same is the Token Status List of the IETF, which numbers
// tokens in a claim of each and publishes a bit for each number. It is not offered:
// our tokens have no number, and one would serve only the few that are revoked.
package feed
