// Package security records failed authentications: as lines of a node's security log, as
// counts for metrics, and as counts by account for the hourly event of the audit trail. It
// decides how many lines one source can cause and what they contain. It does no
// authentication itself.
package security
