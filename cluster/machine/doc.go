// Package machine is a deterministic machine: commands go in as bytes, are decided
// and written on a go-memdb in the order of a log, and come out as outcomes.
//
// It owns the state and the one way to change it (State), the encoding of
// commands, rows and log entries, state time and the sum of halts, snapshots,
// and the views and signals by which readers follow. It does not know what a
// command means: kinds, tables and rules belong to the Machine that it is given.
// It has no clock, no randomness, no network, and no log: who puts entries in
// order, and makes them durable, is package cluster.
//
//	state.go      decide, write, publish
//	batch.go      a log entry; cbor_head.go, its bytes
//	codec.go      the one encoding of commands, rows and messages
//	schema.go     a Machine that was checked; change.go, what a decision may write
//	status.go     the one row of the machine's own: time, position, feature level, halts
//	halt.go       the command that records a halt
//	snapshot.go   the format; _write, _read, _insert
//	progress.go   the index that views wait for; watch.go, tables that changed
//	observer.go   what a node keeps beside the state
//	backup.go     the state at one moment
//	memory.go     the machine without a log, for tests of its rules
package machine
