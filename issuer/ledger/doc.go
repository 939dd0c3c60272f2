// Package ledger owns every rule and every table of the authorization
// server: clients and their secrets, users, sessions, grants, keys, nodes,
// settings, logos, the audit trail, and the last restore from a backup. It says what
// a journal must have of a command and how that is replayed; files are not its.
//
// Everything that may be allowed or refused is a Command. Its Decide reads a
// View and returns a Decision: what the caller is told, and which rows
// change. Nothing else in the system writes a row, and no decision is made
// anywhere else.
//
// The package is pure. It has no clock, no randomness, no network and no
// goroutine: time, identifiers and random bytes come in with the command, so
// that every node that applies the same log reaches the same state. It holds
// no secret in clear and does no cryptography beyond comparing digests.
package ledger
