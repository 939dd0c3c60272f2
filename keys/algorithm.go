package keys

import (
	"errors"
)

// Algorithm is a JWS signature algorithm by its registered name (RFC 7518 §3.1,
// RFC 8037 §3.1).
type Algorithm string

// The algorithms offered. All are asymmetric: a resource server that can verify
// must not be able to mint.
const (
	ES256 Algorithm = "ES256" // ECDSA with P-256 and SHA-256, the default
	EdDSA Algorithm = "EdDSA" // Ed25519
	RS256 Algorithm = "RS256" // RSASSA-PKCS1-v1_5 with SHA-256, 3072 bits
)

// rsaBits is the size of RS256 keys: 128 bits of strength, as the others have.
const rsaBits = 3072

// ErrUnknownAlgorithm says that a name is not one of the algorithms offered.
var ErrUnknownAlgorithm = errors.New("unknown signing algorithm (want ES256, EdDSA or RS256)")
