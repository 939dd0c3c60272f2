// Package ledger owns every rule and every table of the authorization server: clients and
// their secrets, users, sessions, grants, keys, nodes, settings, logos, the audit trail,
// the schedule of backups, and the last restore from a backup. It also decides what the journal records of a
// command and how records are replayed; packages journal and restore own the files.
//
// Everything that may be allowed or refused is a command of package cluster/command. Its
// Decide reads a View and returns a Decision: the rows to change, and an Outcome of this
// package for the caller. Nothing else writes a row or makes a decision. A refusal is a
// value; it changes no row unless a rule requires it. A command that is proposed again
// because its fate was unknown (command.Meta.Again) must never conclude that a credential
// was reused.
//
// The package is pure. It uses no clock, randomness, network or goroutine: time,
// identifiers and random bytes are part of the command, so that every node that applies
// the same log reaches the same state. It sees no secret in clear and does no cryptography
// beyond comparing digests.
package ledger
