// Package keys is a box of cryptography without a schedule: it generates,
// seals, opens, signs and MACs, and names and publishes public keys.
//
// It owns the formats of the cluster key file and of what is sealed under it,
// the derivation of every subkey, the JWS signature bytes, and the JWK Set
// document. It does not own when a key is made, published, used or dropped:
// those rules are the ledger's, and the issuer's leader duties drive them. It
// keeps no state but a node's cluster keys and their files, reads no clock and
// knows nothing of OAuth.
//
// What is secret here has a type of its own that can neither be printed nor
// compared with ==, and whose zero value is refused.
package keys
