// Package cli is the command line: its commands, what they print, and their exit codes
// (exit.go). Root makes the program, Execute runs it.
//
// Most commands ask the node on this machine, over the socket in its data folder (node.go
// and one file a command: client.go, user.go, keys.go, cluster_status.go …). Some read
// files and need no node: cluster_recover.go, cluster_generate.go, cluster_files.go,
// policy.go, config.go. bench.go loads a server and measures it (package bench).
// serve.go starts a node (package server), which is all that it does.
//
// Errors of other packages are facts; hints.go adds what an operator can do about them.
// Nothing is decided here: a command asks, and prints the answer as text (printer.go) or
// as JSON.
package cli
