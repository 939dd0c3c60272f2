// Package replica connects ledger and cluster: the Machine that every node runs, and a
// Ledger, through which one node reads its state and proposes commands.
//
// It is the only package that knows both cluster and ledger and no keys, so that the
// packages that implement the issuer's duties need not know the Issuer. It decides
// nothing. It converts errors of the cluster to those of package oauth.
package replica
