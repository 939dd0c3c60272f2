// Package fsm gives the entries of raft's log to the state machine.
//
// It implements raft.FSM over a machine.State: batches of committed entries,
// snapshots, and the local replay, by which a node shows at a start what it had,
// before it hears from a leader. It is a package of its own, and not part of
// integrity, because package recovery runs the same state machine without a node.
//
//	fsm.go            entries and snapshots
//	local_replay.go   the log up to the commit marker, applied before raft applies anything
//	install_watch.go  a follower that is sent one snapshot after the other is detected
package fsm
