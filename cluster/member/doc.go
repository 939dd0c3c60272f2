// Package member has the members of a cluster: the replicated rows of members, invites
// and authorities, the commands that change them, and the copies in a node's folder.
//
// It owns the rules (which node may join, which authority signs), certificates and keys,
// join tokens, and the peer list by which a node recognizes others before it has a state.
// It makes no connections and does not use raft: package cluster decides when raft's
// configuration follows the members.
//
//	extend.go            the tables and commands that are added to a machine
//	member.go            the rows
//	command.go           the rules; authority.go, those for a change of the authority
//	certificate.go       the authority and certificates; node_key.go, a node's own key
//	peer_list.go         the members as a node knows them without its log
//	join_token.go        join tokens; join_token_check.go, which node one makes a member
//	name.go, node_id.go  names and ids of nodes
//	static_bootstrap.go  the folders of nodes that start a cluster together
//	forget.go            removes members from a state, for a restore
package member
