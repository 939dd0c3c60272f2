// Package parts is what the pages of several areas show: clients, their scopes, secrets and
// logos, the differences between two profiles, and people, in words and pictures; and the
// templates and the paths that areas share.
//
// Its functions turn rows of the ledger into values for templates. They propose nothing, and
// answer no request.
package parts
