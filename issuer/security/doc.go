// Package security records failures to authenticate: as lines of a node's
// security log, as counts for metrics, and as counts by account for the hourly
// event of the audit trail. It owns how many lines one source can cause and what
// may be in them; it does not own who authenticates, nor how.
package security
