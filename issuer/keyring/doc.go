// Package keyring owns the opened keys that tokens, codes and client secrets are made
// with: a Ring has all keys of one state of the ledger, and the Keyring of a node follows
// the state.
//
//	ring.go     the keys of one state, and the key set that verifiers fetch
//	keyring.go  the ring of this node: reopen it, look a key up, wait for a newer one
//	fresh.go    a node that starts asks the leader for newer keys before it promises anything
//	first.go    the first keys of a new cluster
//	add.go      generating, sealing and announcing a key
//	rotate.go   the leader takes each key through its steps
//	seal.go     the keys in the state, sealed under the cluster key
//
// Package ledger decides when a key is published, used and dropped. Package rekey changes
// the cluster key and replaces leaked keys; Keyring never changes the cluster key.
package keyring
