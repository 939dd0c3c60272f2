// Package machine is a deterministic state machine: commands enter as bytes, are decided
// and written in a go-memdb in the order of a log, and result in outcomes.
//
// It owns the state and the one way to change it (State), the encoding of commands, rows
// and log entries, state time and the sum of halts, snapshots, and the views and signals
// for readers. It does not know the meaning of a command: kinds, tables and rules belong
// to the Machine that it is given. It has no clock, no randomness, no network, and no
// log: package cluster orders the entries and makes them durable.
//
//	state.go      decide, write, publish
//	batch.go      a log entry; cbor_head.go, its bytes
//	codec.go      the one encoding of commands, rows and messages
//	schema.go     a validated Machine; change.go, what a decision may write
//	single_rows.go  the state that a command is decided on within a transaction
//	status.go     the package's own row: time, position, feature level, halts
//	derived.go    one value made of rows, kept beside them
//	halt.go       the command that records a halt
//	snapshot.go   the format; _write, _read, _insert
//	progress.go   the index for which views wait; watch.go, tables that changed
//	observer.go   the interface for what a node keeps beside the state
//	backup.go     the state at one moment
//	memory.go     the machine without a log, for tests of its rules
package machine
