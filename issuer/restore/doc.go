// Package restore makes a cluster out of a backup, and completes it from the
// journals of its nodes.
//
//	observer.go   what commands revoke goes to the journal
//	journal.go    the journal beside a node's data, and the label that names its cluster and node
//	export.go     the files that operators keep: backup and journal
//	folder.go     the journal of a node that does not run, completed from its log
//	plan.go       what a restore would do, before anything is written
//	merge.go      several journals become one history; what it leaves out is reported
//	apply.go      the restored cluster begins a timeline, replays the journals and rewraps its keys
//	recovered.go  the same for the only survivor of a lost majority
//	mark.go       the file that keeps an interrupted restore from serving
//
// The frame of a file belongs to package backup, the folder of a journal to
// package journal, and what a record means to package ledger. Where cluster keys
// come from, and whether an operator accepts a gap, is the caller's matter.
package restore
