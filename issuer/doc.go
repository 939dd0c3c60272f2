// Package issuer is the authorization server. It has two parts.
//
// Requests: the token endpoint parses a request, this package proposes the command that
// package ledger decides, and mints what the outcome names (token.go).
//
// Duties (duties.go): every node follows the keys of its state, and offers to make the
// scheduled backups; the leader takes each key through its steps, removes rows that have
// no effect any more, and logs the audit trail.
//
// It is composed of packages that do not know it:
//
//	issuer/replica  the ledger on one node: views and proposals
//	issuer/keyring  the keys that tokens, codes and secrets are made with
//	issuer/schedule scheduled backups
//	issuer/rekey    changing the cluster key, and replacing a leaked key
//	issuer/restore  a cluster from a backup and journals; used by cmd/mintmark only
//
//	issuer/ledger      every rule and every table
//	issuer/credential  formats of codes, tokens and secrets
//	issuer/oauth       the words of the protocol
//	issuer/endpoint    the endpoints for programs
//	issuer/web         the pages
//	issuer/admin       the operators' interface
//	issuer/feed        the feed of revocations
//	issuer/journal, issuer/backup  files that survive the cluster
//	issuer/limit, issuer/security  limits on failures, and the log of them
//	issuer/upstream    sign-in with an OpenID Connect provider
//
// It decides nothing itself.
//
// # The walk of a refresh
//
//  1. oauth/token.go parses the request: a form or JSON, client authentication.
//  2. endpoint/token.go limits guesses, and passes the request on.
//  3. token.go here verifies the MAC of the token (credential/chain.go) and digests the
//     secret. What is not genuine is decided on this node.
//  4. replica/ledger.go proposes the command; cluster/propose.go takes it to the leader.
//  5. ledger/refresh.go decides on the leader's state. A refusal goes back from here.
//  6. cluster/build.go puts accepted commands into one entry, raft on the disks of a
//     majority.
//  7. cluster/machine/state.go applies the entry on every node: it decides again, in the
//     order of the log, and writes.
//  8. token.go mints the tokens that the outcome names, with the keys that it names, and
//     endpoint/write.go writes the response.
package issuer
