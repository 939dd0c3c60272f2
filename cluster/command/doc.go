// Package command has the types for decisions made by a replicated log: a Command, the
// log's data about it (Meta), and its Decision with the Changes that it makes.
//
// The package has types only. Rules implement Command and need no other package of the
// cluster; package cluster/machine decides and applies commands.
package command
