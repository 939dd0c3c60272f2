// Package admin is the operators' interface: typed requests over a unix socket in the
// data directory, which only the account that runs the server can open, and over TLS for
// operators on other machines ([Remote]). It owns the operations, their encoding and
// description ([OpenAPI]), the socket, the client that the command line uses, and the
// rules for when a cluster is healthy.
//
// Programs make a [Caller] with [NewCaller] or [NewRemoteCaller], and call the operations,
// such as [ListClients]. A refusal is a [*Problem].
//
// The package makes no decisions: each change is a command of package ledger, sent as an
// operator, or a call of [Cluster]. Access to the socket is controlled by the file system.
// An operator on another machine needs a token, which the ledger verifies, or a certificate
// of the operators' authority, and the scope that the table of routes has for the operation.
// A node that belongs to no cluster yet serves a [Setup] there until it does.
package admin
