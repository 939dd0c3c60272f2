// Package keys provides the cryptography: it generates keys, seals, opens, signs and computes
// MACs, and names and publishes public keys.
//
// It owns the formats of the cluster key file and of everything sealed under the cluster key,
// the derivation of every subkey, the JWS signature bytes, and the JWK Set document. It does
// not own when a key is made, published, used or dropped: package ledger has these rules, and
// the issuer's duties apply them. Its only state is a node's cluster keys and their files. It
// reads no clock and knows nothing of OAuth.
//
// Secrets have their own types, which can't be printed or compared with ==, and whose zero
// value is refused.
package keys
