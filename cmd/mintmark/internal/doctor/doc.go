// Package doctor checks a machine and, if a node runs there, its cluster.
//
//	gather.go  measures the facts of a machine; changes nothing
//	unit.go    reads the systemd unit
//	check.go   judges facts, without looking at anything else
//	settings.go, certificates.go, node.go  the checks
//
// It owns limits and advice. It does not repair anything, and does not print.
package doctor
