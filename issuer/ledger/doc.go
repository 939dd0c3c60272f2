// Package ledger owns every rule and every table of the authorization
// server: clients and their secrets, users, sessions, grants, keys, nodes,
// settings, logos, the audit trail, and the last restore from a backup. It also
// decides what a journal records of a command, and how that is replayed; the files
// are packages journal's and restore's.
//
// Everything that may be allowed or refused is a command of package cluster/command.
// Its Decide reads a View and returns a Decision, whose Outcome is of this package: what
// the caller is answered, and which rows change. Nothing else in the system writes a
// row, and no decision is made anywhere else. A refusal is a value, which changes
// nothing unless a rule says so. A command that is proposed again because its fate was
// unknown (command.Meta.Again) must never revoke.
//
// The package is pure. It has no clock, no randomness, no network and no
// goroutine: time, identifiers and random bytes come in with the command, so
// that every node that applies the same log reaches the same state. It holds
// no secret in clear and does no cryptography beyond comparing digests.
package ledger
