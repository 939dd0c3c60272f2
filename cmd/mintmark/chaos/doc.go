// Package chaos tests a cluster of built binaries under faults: processes are killed and
// paused, every direction of every link between two nodes can be cut, slowed or reset,
// disks hang, fill up and fail, and clocks step. Clients send requests all the time, and
// the history of all requests and answers is checked against models of the rules.
//
// It imports no package under test and drives the program only by HTTP, by the operators'
// commands and by signals. The guarantees of a single package are tested beside that
// package.
//
// "go test" injects the faults of the gate, in a fixed order. -rounds (or
// MINTMARK_CHAOS_ROUNDS) injects that many random faults, and prints which had an effect
// and the cost of each; -seed repeats a draw. -faults injects once the faults whose names
// match. The build tag long adds tests with a long run time, and the planted bugs that
// must be found.
package chaos
