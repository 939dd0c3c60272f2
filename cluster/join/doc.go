// Package join is the protocol by which a node becomes a member, and its side that
// has no cluster yet.
//
// One request and one answer, one CBOR item each, go over TLS with the protocol
// transport.ProtocolJoin. The node that joins pins the authority that its token
// names. Members use the same protocol to ask whether a key is still a member's,
// because it needs no certificate of the cluster.
//
// The join token is checked by the member that answers: cluster/join_token_check.go answers
// requests, and cluster/member/join_token_check.go decides in the log which key a token
// makes a member.
//
//	join.go       the data folder of a new node becomes that of a member
//	protocol.go   request and answer
package join
