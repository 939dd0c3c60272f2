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
//	after           the version that revoked begins behind, which may be older than
//	                the one that was asked for; "" for all that is kept
//	complete_since  earlier revocations may be missing; 0 for none
//	window          for how many seconds a revocation is kept
//	revoked         a list, oldest first
//
// Each revocation in the list has a time, at, and some of grant_id, sub and client_id.
// It revokes the tokens that have these claims and an iat not later than at. Times are
// whole seconds, and a token of the same second is revoked too: a token that is issued
// to a user after a cut of the user's grants, in the same second, has the next second as
// its iat. So iat and at may be two seconds ahead of the clock, and the list is in the
// order of the events, which may differ from that of at. A revocation with
// "lifted": true cancels the earlier ones of its client_id, whatever its at: of the
// revocations of a client, the last one in the list counts.
//
// Another document for the same is the IETF's Token Status List
// (draft-ietf-oauth-status-list). It is not offered, because it does not fit the
// same data. It numbers tokens in a claim of each, status.status_list, and
// publishes a bit for each number. Ours would all grow by that claim for the sake
// of the few that are revoked; the log would have to give out a number for each
// token, where now it keeps nothing of one; and one revocation of a user or of a
// client would have to find the numbers of all tokens that are out, where here it
// is one entry. A verifier in another language reads the document above with any
// JOSE library.
package feed
