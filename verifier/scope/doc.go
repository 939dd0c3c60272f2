// Package scope is the catalogue of scopes and the one rule between them: an ORG_ scope
// also grants the TEAM_ scope of the same name. The authorization server, the verifier
// and the middleware share it.
//
// It owns names, their order, their texts and set arithmetic. It does not know clients,
// tokens or routes: other packages decide which scope a route needs and which scopes a
// client may request.
//
// Programs refer to a scope by its constant, such as [BookingRead], so that a misspelled
// name does not compile.
//
// A [Set] has known scopes only, so an unknown name in a token can never widen access.
// The catalogue is append-only, since its names are in tokens, in stored grants and in
// clients' programs.
package scope
