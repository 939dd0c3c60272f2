// Package replica is the ledger as a cluster replicates it: the Machine that every
// node runs, and a Ledger, through which one node reads its copy of the state and has
// commands decided.
//
// It is the only package that knows both cluster and ledger and nothing of keys, so
// that the packages that do the issuer's duties need not know the Issuer. It decides
// nothing. Errors of the cluster become those of package oauth here.
package replica
