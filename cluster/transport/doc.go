// Package transport connects the nodes of a cluster.
//
// It owns the one port (TLS, with protocols distinguished by ALPN), the bounds of
// unauthenticated connections, the connections of raft, and the calls between nodes. It
// identifies members by the peer list and their keys. It does not know the meaning of a
// call: operations are bytes that a Handler answers.
//
//	network.go          the port, the verification of peers, isolation
//	unauthenticated.go  connections that are not verified yet; refusals.go, their log records
//	dial_error.go       why a node can't be reached, for operators
//	peers.go            calls over one connection for each pair of nodes
//	transport.go        raft's transport; pipeline.go and vote_retry.go, corrections to it
//	future.go           raft's futures, which may never be answered
//	timing.go           how long a leader may be silent
package transport
