// Package server runs one node: it opens the data, waits for a cluster and its settings,
// and connects the issuer, the pages, the endpoints and the operators' socket with the
// node's listeners, until it closes them all in order.
//
// A start is Start, openNode, configure, then handler. Each step can wait; waiting.go
// answers requests meanwhile. Run is Start for "mintmark serve": settings (FromOptions),
// the reload at SIGHUP, and the line of JSON for programs.
//
//	server.go    Config, Server, Start, Close: the listeners, the order of start and stop
//	node.go      the node of the cluster: open, join (join.go), create a cluster or restore
//	             one (setup.go, restore.go), mark data of "mintmark dev" (dev_mark.go)
//	settings.go  the replicated settings that a node starts with
//	waiting.go   answers of a node that does not serve yet; health.go: /livez and /readyz
//	debug.go     profiles and the level of the log, for operators who ask for them
//	handler.go   endpoints and pages behind one handler
//	listener.go  bounds on connections; listener_source.go: fair shares for sources
//	certificate.go  certificates of the listeners; listener_plain.go: plain requests to TLS
//	ops.go       the cluster for operators' commands; change.go: keys and authority
//	notify.go    what the service manager is told
//	reload.go    settings that change while the node runs
//
// The rules of OAuth are in issuer, those of consensus and membership in cluster, those
// of a restore in issuer/restore. This package has none of them.
package server
