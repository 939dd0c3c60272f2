// Package rekey changes keys that must change: the cluster key, under which everything
// is sealed, and a key of the keyring that leaked.
//
//	clusterkey.go  every node stores, acknowledges and adopts cluster keys, and fetches one that it missed
//	rewrap.go      one node changes the cluster key
//	replace.go     one node drops a leaked key at once
//
// The files of cluster keys are package keys', their way between nodes is package
// cluster's, and the rules are package ledger's: above all that the keyring is rewrapped
// only when every voter has stored the new key.
package rekey
