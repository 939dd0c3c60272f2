// Package schedule makes the scheduled backups of a cluster.
//
// It owns the task on one node: it offers to make them, makes one when it is due, verifies
// it, removes old ones, and records the result. Package ledger decides which node makes
// them and when one may begin; package backup owns the files, and package restore their
// content.
package schedule
