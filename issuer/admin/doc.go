// Package admin is the operators' way in: typed requests over a unix socket
// in the data directory, which only the account that runs the server can
// open. It owns the operations, their wire forms, the socket and the client
// that the command line uses.
//
// It decides nothing: each change is a command of package ledger, sent as an
// operator, and what the ledger refuses comes back as a Problem. Who may open
// the socket is the file system's to say.
package admin
