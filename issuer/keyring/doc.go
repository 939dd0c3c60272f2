// Package keyring is the keys that tokens, codes and client secrets are made with: a
// Ring has all keys of one state of the ledger, opened, and the Keyring of a node
// follows the state with them.
//
//	ring.go     the keys of one state, and the key set that verifiers fetch
//	keyring.go  the ring of this node: open it anew, look a key up, wait for a newer one
//	fresh.go    a node that starts asks the leader for newer keys before it promises anything
//	first.go    the first keys of a new cluster
//	add.go      a key is made, sealed and announced
//	rotate.go   the leader takes each key through its life
//	seal.go     the keys as they lie in the state, sealed under the cluster key
//
// When a key is published, used and dropped is decided by package ledger. The cluster
// key, and the loss of a key, are package rekey's; Keyring never changes the former.
package keyring
