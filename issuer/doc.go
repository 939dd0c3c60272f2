// Package issuer is the authorization server, in two short stories.
//
// A request: the token endpoint parses it, this package proposes the command
// that package ledger decides, and mints what the outcome names (token.go).
//
// The leader's duties: make the first keys, take each key through its life as
// the ledger's rules allow, and sweep what has no effect any more (duties.go).
//
// A change of the cluster key has a file for whoever makes it (rewrap.go) and
// one for every node that follows (clusterkey.go).
//
// It joins ledger, credential, keys and cluster, which do not know each
// other, and decides nothing itself.
package issuer
