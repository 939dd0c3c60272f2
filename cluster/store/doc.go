// Package store keeps raft's log, votes and snapshots in the folder of a node.
//
// It is hashicorp/raft-wal and raft's snapshot files, with what those do not do:
// a wrapper each, in a file of its own with its reason. It decides whether what is
// read is what was written. Whether it is all that the node once had is decided
// above.
//
//	store.go             the layers of the log, opened together
//	failstop_store.go    ends the process when the log can't be written
//	checksum_store.go    a checksum with every entry
//	committed_guard.go   never drops an entry that was committed
//	verifying_store.go   compares the log with those of other nodes
//	wal_open.go          a log whose list of files is lost or damaged is left alone
//	wal_meta_store.go    completes a rotation that was interrupted; stable_sums.go, a checksum with every value
//	vote_store.go        a vote is one record
//	snapshots.go         files for their owner only; snapshot_meta.go, a checksum of the metadata
//	private_file.go      a file that holds a secret
//	lock_unix.go         one process uses a folder
//	logger.go            raft's log lines, as slog records
package store
