// Package admin is the operators' interface: typed requests over a unix socket in the
// data directory, which only the account that runs the server can open. It owns the
// operations, their encoding, the socket, the client that the command line uses, and the
// rules for when a cluster is healthy.
//
// It makes no decisions: each change is a command of package ledger, sent as an operator,
// or a call of [Cluster], and a refusal is returned as a Problem. Access to the socket is
// controlled by the file system. A node that belongs to no cluster yet serves a [Setup]
// there until it does.
package admin
