// Package store keeps raft's log, votes and snapshots in the folder of a node.
//
// It consists of hashicorp/raft-wal, raft's snapshot files, and a wrapper for each
// guarantee that they lack, in a file of its own with its reason. It verifies that what
// is read is what was written. Package integrity verifies that the folder is complete.
//
//	store.go             the layers of the log, opened together
//	failstop_store.go    ends the process when the log can't be written
//	checksum_store.go    a checksum for every entry
//	committed_guard.go   never drops a committed entry
//	verifying_store.go   compares the log with those of other nodes
//	wal_open.go          refuses a log whose list of files is lost or damaged
//	wal_meta_store.go    completes an interrupted rotation; stable_sums.go, checksums of values
//	vote_store.go        writes a vote as one record
//	snapshots.go         files for their owner only; snapshot_meta.go, a checksum of the metadata
//	private_file.go      reads a file with a secret
//	lock_unix.go         one process uses a folder
//	logger.go            raft's log lines, as slog records
package store
