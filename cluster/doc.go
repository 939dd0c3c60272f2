// Package cluster is a node of a replicated state machine: commands go in at any
// node, are decided in the order of raft's log, and come out as (outcome, index).
//
// It owns what the parts below do together: proposals, barriers and views,
// leadership, the membership of raft, joining, removal, backup and recovery, and
// the health that operators see. It does not know what a command means: kinds,
// rows and rules belong to the Machine that it is given. It has no clock but
// Config.Now and Config.Elapsed and no randomness but Config.Rand, and none of them
// reaches a decision except through the log.
//
// # Parts
//
//	command     what is decided: kinds, commands, decisions, changes
//	machine     the state, and how commands change it
//	fsm         raft's log is applied to the state
//	store       raft's log, votes and snapshots on disk
//	member      members, their rules, keys and certificates, the peer list
//	status      what a node reports of itself
//	watchdog    whether clock and disk can be trusted
//	transport   connections and calls between nodes
//	election    who leads, when a leader is lost, and to whom leadership goes
//	integrity   whether a data folder is whole, and the only one
//	join        a new node becomes a member
//	recovery    a folder without a node: out of a backup, or from one survivor
//	errcode     errors that keep their identity between processes
//	durable     files that survive a loss of power
//
// # The walk of a command
//
//	propose.go     any node: attempt it, on this node or on the leader, and again while its fate is unknown
//	forward.go     calls from and to the leader
//	request.go     a command on its way into the log
//	build.go       commands that wait together become one entry
//	watchdog.go    which is stamped, unless clock or disk are not to be trusted
//	halt.go        before the first entry after an outage the leader records how long nothing could be decided; live.go, how it knows
//	fsm            raft gives the entry to every node, whose machine decides and writes
//	barrier.go     views that hold everything that was acknowledged
//
// # The node
//
// A Node consists of owners of a part of its state, each with a mutex of its own. An
// owner gets what it needs when open.go assembles the node, and does not know the Node.
//
//	open.go, close.go    start and stop; folder.go, static_bootstrap.go, what a start does
//	membership.go        the leader's duty: raft's configuration follows the members; level.go, the feature level
//	authority.go         the change of the authority; distribute.go, secrets among members
//	invite.go, join_token_check.go  a token makes a node a member
//	removal.go           a member goes; quorum.go, when it may
//	membership_check.go  how a node learns of its removal
//	transfer.go          who leads, and operators transfer leadership
//	watchdog.go          a node acts on its clock and disk; clock_start.go, on its clock at a start
//	peer_status.go       statuses are exchanged among members
//	health.go, overview.go, report.go, events.go  what operators see
//	backup.go            the state of a running cluster
package cluster
