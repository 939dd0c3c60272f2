package keys

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
)

// A Signer is a private signing key with its id and public key. It is safe for concurrent
// use. The zero value is not usable.
type Signer struct {
	redacted
	key    *crypto.Signer // *ecdsa.PrivateKey, ed25519.PrivateKey or *rsa.PrivateKey
	public PublicKey
}

// GenerateSigner generates a key for an algorithm, from the system's randomness.
func GenerateSigner(alg Algorithm) (*Signer, error) {
	var key crypto.Signer
	var err error
	switch alg {
	case ES256:
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case EdDSA:
		_, key, err = ed25519.GenerateKey(rand.Reader)
	case RS256:
		key, err = rsa.GenerateKey(rand.Reader, rsaBits)
	default:
		err = fmt.Errorf("%w: %q", ErrUnknownAlgorithm, alg)
	}
	if err != nil {
		return nil, fmt.Errorf("generate signing key: %w", err)
	}
	return newSigner(key)
}

// ParseSigner is the inverse of PKCS8. The type of key determines the algorithm; it
// refuses other curves and short RSA keys.
func ParseSigner(der []byte) (*Signer, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		// The parser's error may quote from the key.
		return nil, fmt.Errorf("parse signing key: %w", ErrBadKey)
	}
	key, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("parse signing key: %w", ErrBadKey)
	}
	return newSigner(key)
}

func newSigner(key crypto.Signer) (*Signer, error) {
	public, err := newPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	return &Signer{key: &key, public: public}, nil
}

// PKCS8 returns the private key in DER (RFC 5958), to be sealed.
func (s *Signer) PKCS8() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(*s.key)
	if err != nil {
		return nil, fmt.Errorf("marshal signing key: %w", err)
	}
	return der, nil
}

// KeyID returns the JWK thumbprint of the public key (RFC 7638, SHA-256, base64url).
func (s *Signer) KeyID() string { return s.public.kid }

// Alg returns the value of the header parameter "alg" (RFC 7515 §4.1.1).
func (s *Signer) Alg() string { return string(s.public.alg) }

// Public returns the public key.
func (s *Signer) Public() PublicKey { return s.public }

// Sign returns the JWS signature of a JWS signing input (RFC 7515 §5.1).
func (s *Signer) Sign(input []byte) ([]byte, error) {
	var sig []byte
	var err error
	switch key := (*s.key).(type) {
	case *ecdsa.PrivateKey:
		digest := sha256.Sum256(input)
		sig, err = signES256(key, digest)
	case ed25519.PrivateKey:
		sig = ed25519.Sign(key, input)
	case *rsa.PrivateKey:
		digest := sha256.Sum256(input)
		sig, err = rsa.SignPKCS1v15(nil, key, crypto.SHA256, digest[:])
	default:
		err = ErrNoKey
	}
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return sig, nil
}
