// Package dev is Mintmark for people who try it or test software against it: the node of
// "mintmark dev" with users, clients and settings from a file (fixtures), and the
// resource server of "mintmark demo api".
//
// Fixtures are read, checked as a whole, and applied as commands of the ledger: the
// checks are the ledger's own, run on a scratch state, so a file with a mistake changes
// nothing. Errors name file, line, entry and field, and never a value, since values are
// passwords and secrets.
package dev
