package member

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"sync"
	"time"
)

const (
	authorityLifetime   = 20 * 365 * 24 * time.Hour
	certificateLifetime = 30 * 24 * time.Hour
	// Backdated is how long before its issue a certificate becomes valid, for nodes whose
	// clock is behind.
	Backdated = time.Hour
)

// Secrets encrypts the private key of the authority, which is in the log.
type Secrets interface {
	Seal(context string, plain []byte) ([]byte, error)
	Open(context string, sealed []byte) ([]byte, error)
}

// AuthorityContext returns the context under which the key of an authority is sealed.
func AuthorityContext(id string) string { return "mintmark/cluster/authority/" + id }

// NewAuthority creates the authority of a cluster.
func NewAuthority(rand io.Reader, s Secrets, now time.Time) (Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand)
	if err != nil {
		return Authority{}, fmt.Errorf("generate authority key: %w", err)
	}
	serial, err := newSerial(rand)
	if err != nil {
		return Authority{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Mintmark cluster"},
		NotBefore: now.Add(-Backdated), NotAfter: now.Add(authorityLifetime),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand, template, template, key.Public(), key)
	if err != nil {
		return Authority{}, fmt.Errorf("create authority certificate: %w", err)
	}
	plain, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Authority{}, fmt.Errorf("encode authority key: %w", err)
	}
	a := Authority{ID: fingerprint(der), Certificate: der, Made: now.UnixMilli()}
	if a.Sealed, err = s.Seal(AuthorityContext(a.ID), plain); err != nil {
		return Authority{}, fmt.Errorf("seal authority key: %w", err)
	}
	return a, nil
}

func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

func newSerial(rand io.Reader) (*big.Int, error) {
	var b [16]byte
	if _, err := io.ReadFull(rand, b[:]); err != nil {
		return nil, fmt.Errorf("generate serial number: %w", err)
	}
	b[0] &= 0x7f // positive: RFC 5280 §4.1.2.2
	return new(big.Int).SetBytes(b[:]), nil
}

// Issue issues a certificate for a node. Any node can: each has the cluster key, and so
// the authority's.
func (a *Authority) Issue(rand io.Reader, s Secrets, id string, key *ecdsa.PrivateKey, now time.Time) (*tls.Certificate, error) {
	plain, err := s.Open(AuthorityContext(a.ID), a.Sealed)
	if err != nil {
		return nil, fmt.Errorf("open authority key: %w", err)
	}
	signer, err := parseKey(plain)
	if err != nil {
		return nil, fmt.Errorf("parse authority key: %w", err)
	}
	parent, err := x509.ParseCertificate(a.Certificate)
	if err != nil {
		return nil, fmt.Errorf("parse authority certificate: %w", err)
	}
	serial, err := newSerial(rand)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: id}, DNSNames: []string{id},
		NotBefore: now.Add(-Backdated), NotAfter: now.Add(certificateLifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand, template, parent, key.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("sign certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("parse certificate: %w", err)
	}
	// The chain includes the authority's certificate: a joining node knows only its
	// fingerprint.
	return &tls.Certificate{Certificate: [][]byte{der, a.Certificate}, PrivateKey: key, Leaf: leaf}, nil
}

func parseKey(pkcs8 []byte) (*ecdsa.PrivateKey, error) {
	key, err := x509.ParsePKCS8PrivateKey(pkcs8)
	if err != nil {
		return nil, errors.New("not a private key") // the parser's error may contain key bytes
	}
	k, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("not an ECDSA key")
	}
	return k, nil
}

// KeyHash returns Member.Key for a node's key.
func KeyHash(key *ecdsa.PrivateKey) ([]byte, error) {
	spki, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, fmt.Errorf("encode node key: %w", err)
	}
	return HashSPKI(spki), nil
}

// HashSPKI returns Member.Key for an encoded SubjectPublicKeyInfo.
func HashSPKI(spki []byte) []byte {
	sum := sha256.Sum256(spki)
	return sum[:]
}

// Credentials are a node's key and certificate. The certificate is renewed when a third
// of its lifetime is left, or when another authority signs.
type Credentials struct {
	ID       string
	Key      *ecdsa.PrivateKey
	Rand     io.Reader
	Secrets  Secrets
	Now      func() time.Time
	PeerList *PeerList

	mu     sync.Mutex // guards the fields below
	cert   *tls.Certificate
	issuer string
}

// Current returns the current certificate. A node that was down while the cluster key was
// changed may be able to open only the key of an older authority, whose certificates are
// accepted for as long as this node uses one.
func (c *Credentials) Current() (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	err := errors.New("issue certificate: no authority is known")
	for _, a := range c.PeerList.Signers() {
		if c.cert != nil && c.issuer == a.ID && now.Before(c.cert.Leaf.NotAfter.Add(-certificateLifetime/3)) &&
			!now.Before(c.cert.Leaf.NotBefore) {
			return c.cert, nil
		}
		var cert *tls.Certificate
		if cert, err = a.Issue(c.Rand, c.Secrets, c.ID, c.Key, now); err == nil {
			c.cert, c.issuer = cert, a.ID
			return cert, nil
		}
	}
	return nil, err
}

// Expiry returns when the current certificate expires, and the id of its authority.
func (c *Credentials) Expiry() (time.Time, string) {
	cert, err := c.Current()
	if err != nil {
		return time.Time{}, ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return cert.Leaf.NotAfter, c.issuer
}

// SelfSigned returns a certificate for a node without one: the handshake proves
// possession of the private key.
func SelfSigned(key *ecdsa.PrivateKey, id string, now time.Time) (tls.Certificate, error) {
	serial, err := newSerial(rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: id},
		NotBefore: now.Add(-Backdated), NotAfter: now.Add(Backdated),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("create certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
