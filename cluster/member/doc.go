// Package member is who belongs to a cluster: the replicated rows of members,
// invites and authorities, the commands that change them, and what a node keeps
// of them in its folder.
//
// It owns the rules (who may join, which authority signs), certificates and keys,
// join tokens, and the peer list by which a node recognizes others before it has
// a state. It does not connect to anybody, and takes no part in raft: when raft's
// configuration follows the members is decided by package cluster.
//
//	extend.go            the tables and commands that a machine is extended with
//	member.go            the rows
//	command.go           the rules; authority.go, those of a change of the authority
//	certificate.go       the authority and certificates; node_key.go, a node's own key
//	peer_list.go         what a node knows of members without its log
//	token.go             join tokens
//	name.go, node_id.go  names and ids of nodes
//	static_bootstrap.go  the folders of nodes that start a cluster together
//	forget.go            a state without its members, for a restore
package member
