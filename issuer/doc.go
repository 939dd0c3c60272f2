// Package issuer is the authorization server, in two short stories.
//
// A request: the token endpoint parses it, this package proposes the command that
// package ledger decides, and mints what the outcome names (token.go).
//
// The duties (duties.go): every node follows the keys of its state, and the leader takes
// each key through its life, sweeps what has no effect any more, and logs the audit
// trail.
//
// It is made of packages that do not know it:
//
//	issuer/replica  the ledger on one node: views, and the proposal of commands
//	issuer/keyring  the keys that tokens, codes and secrets are made with
//	issuer/rekey    a change of the cluster key, and the replacement of a leaked key
//	issuer/restore  a cluster out of a backup and journals; used by cmd/mintmark only
//
// It decides nothing itself.
package issuer
