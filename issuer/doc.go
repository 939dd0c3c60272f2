// Package issuer is the authorization server. It has two parts.
//
// Requests: the token endpoint parses a request, this package proposes the command that
// package ledger decides, and mints what the outcome names (token.go).
//
// Duties (duties.go): every node follows the keys of its state, and the leader takes each
// key through its steps, removes rows that have no effect any more, and logs the audit
// trail.
//
// It is composed of packages that do not know it:
//
//	issuer/replica  the ledger on one node: views and proposals
//	issuer/keyring  the keys that tokens, codes and secrets are made with
//	issuer/rekey    changing the cluster key, and replacing a leaked key
//	issuer/restore  a cluster from a backup and journals; used by cmd/mintmark only
//
// It decides nothing itself.
package issuer
