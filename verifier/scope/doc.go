// Package scope is the catalogue of scopes and the one rule between them: an
// ORG_ scope also grants the TEAM_ scope of the same name. The authorization
// server, the verifier and the middleware all take both from here.
//
// It owns names, their order, their texts and set arithmetic. It does not know
// clients, tokens or routes: which scope a route needs and which scopes a
// client may ask for are decided elsewhere.
//
// Programs spell a scope by its constant, as [BookingRead], so that a misspelled name
// does not compile.
//
// A [Set] holds known scopes only, so an unknown name in a token can never
// widen access. The catalogue is append-only: its names are in tokens, in stored
// grants and in other people's programs.
package scope
