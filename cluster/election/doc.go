// Package election is what a node knows of who leads.
//
// It holds the state only: elections that began, the leader that raft knows or
// that another node names, and the signals by which others wait for a change. It
// does not campaign or transfer leadership; package cluster does, and tells it.
package election
