// Package feed publishes to resource servers which access tokens were revoked before they
// expire, so that they learn of it within a second without a call for each request.
//
// It follows the audit trail on one node's own state, keeps revocations for as long as an
// affected token can live, and signs them: all of them, or those that are new since a
// version, at once or as soon as there are some. It owns the document of the feed and its
// versions. What an event revokes is decided by package ledger; package endpoint owns HTTP
// and the secrets of readers.
//
// The document is a JWS in compact serialization, typ "mintmark-revocations+jwt",
// signed by a key of the key set. Its claims:
//
//	iss             the issuer of the tokens
//	iat             the time up to which the node had everything: how fresh this is
//	version         of this document: "EPOCH-NUMBER"
//	after           the version after which revoked begins, which may be older than
//	                the requested one; "" if revoked has everything that is kept
//	complete_since  revocations before this time may be missing; 0 if none is
//	window          for how many seconds a revocation is kept
//	revoked         a list, oldest first
//
// Each revocation in the list has a time, at, and some of grant_id, sub and client_id. It
// revokes the tokens that have these claims and an iat not later than at. Times are whole
// seconds, and a token of the same second is revoked too: a token that is issued after the
// user's grants were revoked, in the same second, has the next second as its iat. So iat
// and at may be two seconds ahead of the clock, and the list is in the order of the
// events, which may differ from that of at. A revocation with "lifted": true cancels the
// earlier ones of its client_id, whatever its at: of the revocations of a client, the last
// one in the list counts.
//
// The IETF's Token Status List (draft-ietf-oauth-status-list) serves a similar purpose,
// but does not fit. It numbers tokens in a claim, status.status_list, and publishes a bit
// for each number. All tokens would grow by that claim for the sake of the few that are
// revoked; the log would have to allocate a number for each token, of which it stores
// nothing now; and one revocation of a user or a client would have to find the numbers of
// all its issued tokens, where here it is one entry. A verifier in another language reads
// the document above with any JOSE library.
package feed
