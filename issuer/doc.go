// Package issuer is the authorization server. It has two parts.
//
// Requests: the token endpoint parses a request, this package proposes the command that
// package ledger decides, and mints what the outcome names (token.go).
//
// Duties (duties.go): every node follows the keys of its state, serves the feed of
// revocations, reports the usage of clients and secrets and the failures of requests, and
// offers to make the scheduled backups; the leader takes each key through its steps, removes
// rows that have no effect any more, and logs the audit trail.
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
// This package decides nothing itself.
//
// # The walk of a refresh
//
//  1. endpoint/token.go handles the request. oauth/token.go parses it (parameters.go: a form
//     or JSON; client_credentials.go), and guess_limit.go limits guesses at secrets.
//  2. token.go here makes the command. credential/chain.go verifies the MAC of the token with
//     the keys of keyring/ring.go, which also makes the digests of the secret
//     (hashed_secret.go replaces the hash that another system made of it, at its first use).
//     What is not genuine is decided on this node, without the log.
//  3. replica/ledger.go proposes the command. cluster/propose.go decides it on a view of the
//     leader first; cluster/forward.go takes it there from another node.
//  4. ledger/refresh.go decides: client_auth.go authenticates the client, redeem.go has the
//     rules that codes have too (reuse, and spend, which every accepted credential passes),
//     audience.go those of the parameter resource, grant.go the lifetimes, and fast_forward.go
//     accepts what was issued before a restore. A refusal goes back from here.
//  5. cluster/request.go queues an accepted command, and cluster/build.go puts those that wait
//     into one entry (machine/batch.go). raft stores it on the disks of a majority.
//  6. cluster/fsm/fsm.go gives the entry to cluster/machine/state.go on every node, which
//     decides again, in the order of the log, and writes.
//  7. token.go mints the tokens that the outcome names (credential/access.go, chain.go), with
//     the keys that it names (keyring/keyring.go).
//  8. endpoint/write.go writes the response; refusal.go here makes that of a refusal, with its
//     cause sealed.
package issuer
