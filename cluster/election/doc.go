// Package election is the part of a node in elections: who leads, whether the leader
// is lost, and to whom leadership goes.
//
// It decides when this node campaigns, transfers leadership or withdraws. It does not
// decide whether a node is fit to lead: package cluster compares clocks and reports
// that by Config.Ready, and describes the other voters by Config.Candidates.
//
//	leadership.go       what a node knows of who leads, and the signals of a change
//	elector.go          raft's elections; a leader that is ready leads
//	leader_loss.go      a majority that hears from no leader has one of its nodes campaign
//	leader_conn.go      a leader whose process died is replaced earlier
//	transfer.go         leadership is transferred; transfer_target.go, to whom
//	stepdown.go         before a stop
package election
