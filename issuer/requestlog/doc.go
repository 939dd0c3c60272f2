// Package requestlog has the record of one HTTP request: its id, and what the handlers
// add to its line in the access log. The record travels in the request's context. Handler
// gives its ids to every log line of the request.
//
// Which id a request has, and whether and how its line is written, is decided elsewhere:
// see proxy and telemetry in cmd/mintmark/internal.
package requestlog
