// Package issuer is the authorization server: it answers token requests, and does the
// duties that keep a cluster going.
//
// # The walk of a refresh
//
// A refresh token becomes two new tokens in eight stations:
//
//  1. issuer/endpoint (token.go) reads and parses the request, and limits guesses.
//  2. This package (token.go) makes the command. The MAC of the refresh token names its
//     grant and generation, and the client secret becomes a digest under each credential
//     key. A token without a valid MAC is refused here, without the log.
//  3. issuer/replica and package cluster (propose.go, forward.go) give the command an id
//     and bring it to the leader.
//  4. The leader decides it on its own state as a preview: issuer/ledger (refresh.go). A
//     refusal is answered now, and not logged.
//  5. Package cluster makes one log entry of the commands that wait, stamps it with the
//     state time, and has raft store it on a majority of the nodes.
//  6. Every node decides the command again by the same rules, and writes the rows that
//     change. issuer/restore (observer.go) records what it revokes.
//  7. The outcome goes back to the node that has the request. It names the grant, the
//     generation and the keys, and no secret.
//  8. This package mints the tokens with the keys that the outcome names (token.go, and
//     issuer/keyring), and issuer/endpoint writes the response.
//
// # The duties
//
// Every node follows the keys of its state. The leader takes each key through its life,
// sweeps what has no effect any more, and logs the audit trail (duties.go).
//
// # Parts
//
//	issuer/replica  the ledger on one node: views, and the proposal of commands
//	issuer/keyring  the keys that tokens, codes and secrets are made with
//	issuer/rekey    a change of the cluster key, and the replacement of a leaked key
//	issuer/restore  a cluster out of a backup and journals; used by cmd/mintmark only
//
// The parts do not know package issuer, which joins them and decides nothing itself.
package issuer
