// Package command is the vocabulary of everything that is decided by a
// replicated log: a Command, what the log says about it (Meta), and its
// Decision with the Changes that it makes.
//
// The package has types only. Rules implement Command and need to know nothing
// else of the cluster; package cluster/machine decides and applies commands.
package command
