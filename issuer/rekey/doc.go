// Package rekey replaces keys in use: the cluster key, under which everything is sealed,
// and a key of the keyring that leaked.
//
//	clusterkey.go  every node stores, acknowledges and adopts cluster keys, and fetches one that it missed
//	rewrap.go      one node changes the cluster key
//	replace.go     one node drops a leaked key at once
//
// Package keys owns the files of cluster keys, package cluster their distribution, and
// package ledger the rules: above all that the keyring is rewrapped only when every voter
// has stored the new key.
package rekey
