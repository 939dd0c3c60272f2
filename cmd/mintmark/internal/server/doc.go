// Package server runs one node: it opens the data, waits for a cluster and its settings,
// and connects the issuer, the pages, the endpoints and the operators' socket with the
// node's listeners, until it closes them all in order.
//
// The way of a start is Start, openNode, configure, then handler; each step can wait, and
// waiting.go answers whoever asks meanwhile. Run is Start for "mintmark serve": settings
// (FromOptions), the reload at SIGHUP, and the line of JSON that programs wait for.
//
//	server.go    Config, Server, Start, Close: the listeners and the order of both ways
//	node.go      the node of the cluster: open, join (join.go), make a cluster or restore
//	             one (setup.go, restore.go), keep "mintmark dev" apart (dev_mark.go)
//	settings.go  the replicated settings that a node starts with
//	waiting.go   answers of a node that does not serve yet; health.go: /livez and /readyz
//	handler.go   endpoints and pages behind one handler
//	listener.go  bounds on connections; listener_source.go shares them between sources
//	ops.go       the cluster as operators' commands see it; change.go: keys and authority
//	reload.go    settings that change while the node runs; readers.go: readers of the feed
//
// Rules of OAuth are in issuer, those of consensus and membership in cluster, those of a
// restore in issuer/restore. This package decides none of them.
package server
