// Package transport connects the nodes of a cluster.
//
// It owns the one port (TLS, protocols told apart by ALPN), what unauthenticated
// connections may cost, the connections that raft uses, and the calls between
// nodes. It knows members by the peer list and their keys. It does not know what a
// call means: operations are bytes that a Handler answers.
//
//	network.go          one port; who is let in; isolation
//	unauthenticated.go  connections that are not known to be a member's; refusals.go, what the log says of them
//	dial_error.go       why a node can't be reached, for operators
//	peers.go            calls over one connection for each pair of nodes
//	transport.go        raft's transport; pipeline.go and vote_retry.go, what it lacks
//	future.go           raft's futures, which may never be answered
//	timing.go           how long a leader may be silent
package transport
