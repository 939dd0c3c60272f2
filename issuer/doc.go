// Package issuer is the authorization server. It has two parts.
//
// Requests: a handler of package endpoint parses a request. This package proposes a command,
// package ledger decides it, and this package mints the tokens that the outcome names
// (token.go). introspect.go, revoke.go, registration.go and profile.go serve the other
// endpoints in the same way.
//
// Duties (duties.go): every node loads the keys of its state, serves the feed of
// revocations, reports the usage of clients and secrets and the failed authentications, and
// offers to make the scheduled backups. The leader takes each key through its steps, ends
// secrets that are due, completes a change of the cluster key, removes rows that have no
// effect any more, and logs the audit trail.
//
// Package issuer decides nothing itself. None of the packages below imports it:
//
//	issuer/ledger      every rule and every table
//	issuer/replica     the ledger on one node: views and proposals
//	issuer/credential  formats of codes, tokens and secrets
//	issuer/oauth       the words of the protocol
//	issuer/clientdoc   metadata documents of clients
//	issuer/keyring     the keys that tokens, codes and secrets are made with
//	issuer/rekey       changing the cluster key, and replacing a leaked key
//	issuer/schedule    scheduled backups
//	issuer/feed        the feed of revocations
//
//	issuer/endpoint    the endpoints for programs
//	issuer/web         the pages
//	issuer/admin       the operators' interface
//	issuer/upstream    sign-in with an OpenID Connect provider
//	issuer/requestlog  the record of a request for the access log
//	issuer/limit, issuer/security  limits on failures, and the log of them
//	issuer/journal, issuer/backup  files that survive the cluster
//	issuer/restore     restores a cluster from a backup and journals; used by cmd/mintmark only
//
// # The walk of a refresh
//
// Each station names its files. Paths begin at the root of the repository.
//
//  1. Parse. issuer/endpoint/token.go handles the request, and issuer/endpoint/guess_limit.go
//     limits guesses at secrets. issuer/oauth/token.go reads the parameters: parameters.go decodes a
//     form or JSON, client_credentials.go the credentials of the client.
//  2. Make the command. issuer/token.go verifies the MAC of the token (issuer/credential/chain.go)
//     with the keys of issuer/keyring/ring.go, which also make the digests of the secret. This node
//     refuses a token with a wrong MAC by itself, without the log. A secret that was imported as
//     the hash of another system is replaced at its first use: issuer/hashed_secret.go.
//  3. Propose. issuer/replica/ledger.go proposes the command. cluster/forward.go takes it to the
//     leader, where cluster/propose.go decides it on a view first. If the refusal may be due to
//     a stale view, it decides once more after a barrier.
//  4. Decide. issuer/ledger/refresh.go has the order of the checks:
//     client_auth.go authenticates the client;
//     redeem.go has what codes and refresh tokens share: spend, which makes the next generation
//     of a grant due, and reuse, which ends the grant;
//     client_document.go and audience.go limit what a client may ask for;
//     grant.go has the lifetimes;
//     fast_forward.go accepts, once, a token that was issued between a backup and its restore.
//     A refusal goes back from here, unless it changes something: reuse ends a grant, so it goes
//     on like an accepted command.
//  5. Replicate. cluster/request.go queues the command, and cluster/build.go puts those that wait
//     into one entry (cluster/machine/batch.go). raft stores it on the disks of a majority.
//  6. Apply. cluster/fsm/fsm.go gives the entry to cluster/machine/state.go on every node, which
//     decides again, in the order of the log, and writes.
//  7. Mint. issuer/token.go makes the tokens that the outcome names (issuer/credential/access.go
//     and chain.go), with the keys that it names (issuer/keyring/keyring.go).
//  8. Respond. issuer/endpoint/write.go writes the response. For a refusal, issuer/refusal.go
//     makes the error, with its cause sealed in error_id.
package issuer
