// Package restore creates a cluster from a backup, and completes it from the journals of
// its nodes.
//
//	observer.go   writes what commands revoke to the journal
//	journal.go    the journal beside a node's data, and the label that names its cluster and node
//	export.go     the files that operators keep: backup and journal
//	folder.go     the journal of a stopped node, completed from its log
//	plan.go       what a restore would do, before anything is written
//	merge.go      merges several journals into one history, and reports gaps
//	apply.go      the restored cluster begins a timeline, replays the journals and rewraps its keys
//	recovered.go  the same for the only remaining node
//	mark.go       the file that prevents an interrupted restore from serving
//
// Package backup owns the format of a file, package journal the folder of a journal, and
// package ledger the meaning of a record. The caller provides the cluster keys, and asks
// the operator whether to accept a gap.
package restore
