// Package telemetry is what a node reports about itself to monitoring: the metrics at
// /metrics (Metrics) and the traces sent to an OpenTelemetry collector (Tracing).
//
// A metric is named in one place: those of requests, tokens and refusals in metrics.go
// and http.go, those of the node and its cluster in node.go, the causes in causes.go,
// raft's own in raft.go. testdata/metrics.txt lists them all. The package decides
// nothing, and no label or attribute names a client, a user or a credential.
package telemetry
