// Package cluster is a deterministic machine: commands go in as bytes, are
// decided and written on a go-memdb in the order of a replicated log, and come
// out as (outcome, index).
//
// It owns the log, its durability, snapshots, state time, leadership, the
// question "is this view fresh?", and the nodes: who is a member, how they reach
// and recognise each other, who leads, and what watches over all that. It does
// not know what a command means: kinds, rows and rules belong to the Machine it
// is given. It has no clock but Config.Now and Config.Elapsed and no randomness
// but Config.Rand, and none of them reaches a decision except through the log.
//
// # Parts
//
//	command    what is decided: kinds, commands, decisions, changes
//	durable    files that survive a loss of power
//
// # The walk of a command
//
//	propose.go     any node: attempt it, here or there, and again while its fate is unknown
//	forward.go     there: sent to the leader over peer.go, and served by it
//	core.go        the leader previews it: a refusal is answered, and logged nowhere
//	build.go       commands that wait together become one entry
//	watchdog.go       which is stamped, unless clock or disk are not to be trusted
//	halt.go        before the first entry after an outage the leader records how long nothing could be decided; live.go, how it knows
//	fsm.go         raft gives the entry to every node
//	core.go        decides again, writes, and moves the index that views wait for
//
// # The nodes
//
//	network.go     one port, told apart by ALPN: raft, calls among nodes, joining
//	certificate.go the authority and certificates, node_key.go a node's own key; peer_list.go, what a node knows of members without its log
//	member.go      the replicated rows; member_command.go, the rules; report.go, what a node says of itself
//	membership.go  the leader's duty: raft's configuration follows the members
//	removal.go     a member goes: raft's configuration first, its key second; quorum.go, when it may; membership_check.go and disconnect.go, how it learns; removed.go, what it does then
//	invite.go, join.go  a token makes a node a member; unauthenticated.go, what strangers may cost; refusals.go, what the log says of them
//	leader_loss.go      a leader that a majority misses is replaced; leader_conn.go, at once when its process is gone; vote_retry.go, votes get there
//	reachability.go       operators are told once who can't be reached
//	transfer.go    leadership is transferred; transfer_target.go, to whom; stepdown.go, before a node stops
//	clock.go       whose clock is believed: clock_peers.go, by the others'; clock_start.go, at a start; clock_state.go, when state time is ahead of all
//	overview.go    what operators see
//	committed_guard.go  a node gives up nothing that was committed
//	instance_id.go       a node whose log is lost must not go on without it
//	snapshot_install.go   a node killed while it installed a snapshot goes on from that
//	wal_open.go    a log whose list of files is gone or damaged is left alone
//	commit_marker.go, local_replay.go  a node shows what it had before it finds a leader; commit_marker_file.go, a log that was cut short is known by it
//	rollback_detector.go, log_handshake.go  a node whose folder was rolled back is found by what the others remember of it
//	backup.go, recover.go  out of a backup, or from one survivor
//
// The log is hashicorp/raft on raft-wal. What those libraries do not do for us
// is done by small wrappers, each in a file of its own with its reason: vote_store.go,
// transport.go, pipeline.go, future.go, logstore.go, leader.go, private.go,
// lock.go, disk.go, livelock.go.
package cluster
