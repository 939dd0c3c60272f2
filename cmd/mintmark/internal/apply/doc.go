// Package apply brings a cluster to what files declare (package declare), and makes such a
// file of a cluster.
//
// It reads the part of the state that matters (state.go), compares it with the files
// (plan.go, client.go, user.go, resource_server.go), which is pure, carries a plan out step by step (do.go),
// and exports (export.go). It speaks to a node by the operations of package admin only.
//
// It decides nothing: each step carries what its plan saw, and the ledger refuses it if
// that has changed since. So a plan never overwrites what it did not see, and one that was
// interrupted is finished by another.
package apply
