// Package recovery reads and changes the data folder of a node that does not run.
//
// It makes a cluster of one out of a backup (Restore) or of the only node that is
// left (Recover), reports what a recovery would give up (Plan), and reads a folder
// that no node may start with (Salvage). It opens an integrity.Folder and a state in
// memory, and starts neither raft nor a node.
//
//	folder.go    the folder and the state in memory; its log is replayed
//	restore.go   out of a backup
//	recover.go   from one survivor
//	plan.go      what a recovery would give up, and whether those nodes run
//	pending.go   a recovery that the issuer has not handled yet
package recovery
