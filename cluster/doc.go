// Package cluster is a deterministic machine: commands go in as bytes, are
// decided and written on a go-memdb in the order of a replicated log, and come
// out as (outcome, index).
//
// It owns the log, its durability, snapshots, state time, leadership and the
// question "is this view fresh?". It does not know what a command means: kinds,
// rows and rules belong to the Machine it is given. It has no clock but
// Config.Now and no randomness but Config.Rand, and neither reaches a decision
// except through the log.
//
// The log is hashicorp/raft on raft-wal. What those libraries do not do for us
// is done by small wrappers, each in a file of its own with its reason: votes.go,
// transport.go, future.go, logstore.go, leader.go, private.go, lock.go.
package cluster
