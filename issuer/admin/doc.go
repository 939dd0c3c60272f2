// Package admin is the operators' way in: typed requests over a unix socket
// in the data directory, which only the account that runs the server can
// open. It owns the operations, their wire forms, the socket and the client
// that the command line uses, and the opinion on when a cluster is healthy.
//
// It decides nothing: each change is a command of package ledger, sent as an
// operator, or a call of [Cluster], and what is refused there comes back as a
// Problem. Who may open the socket is the file system's to say. A node that
// belongs to no cluster yet answers with a [Setup] there, until it does.
package admin
