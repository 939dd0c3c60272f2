package keys

import (
	"errors"
)

// An Algorithm is a JWS signature algorithm by its registered name (RFC 7518 §3.1, RFC
// 8037 §3.1).
type Algorithm string

// Supported algorithms. All are asymmetric: a resource server that can verify tokens must
// not be able to mint them.
const (
	ES256 Algorithm = "ES256" // ECDSA with P-256 and SHA-256, the default
	EdDSA Algorithm = "EdDSA" // Ed25519
	RS256 Algorithm = "RS256" // RSASSA-PKCS1-v1_5 with SHA-256, 3072 bits
)

// rsaBits is the size of RS256 keys: 128 bits of security, like the other algorithms.
const rsaBits = 3072

// ErrUnknownAlgorithm reports an algorithm that is not supported.
var ErrUnknownAlgorithm = errors.New("unknown signing algorithm (want ES256, EdDSA or RS256)")
