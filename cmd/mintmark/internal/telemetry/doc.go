// Package telemetry exports a node's metrics at /metrics (Metrics), and sends traces to
// an OpenTelemetry collector (Tracing). Timed connects both, and the access log
// (AccessLog), with the requests.
//
// Each metric is defined in one place: those of requests, tokens and refusals in
// metrics.go, those of the node and its cluster in node.go, raft's own in raft.go.
// testdata/metrics.txt lists them all. No label or attribute names a client, a user or a
// credential.
package telemetry
