package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
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
	// backdated lets a node whose clock is behind accept a new certificate.
	backdated = time.Hour
)

// Secrets seals what this package keeps in the log and must keep secret: the
// private key of the authority.
type Secrets interface {
	Seal(context string, plain []byte) ([]byte, error)
	Open(context string, sealed []byte) ([]byte, error)
}

func authorityContext(id string) string { return "mintmark/cluster/authority/" + id }

// newAuthority makes the authority of a cluster.
func newAuthority(rand io.Reader, s Secrets, now time.Time) (authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand)
	if err != nil {
		return authority{}, fmt.Errorf("make the authority's key: %w", err)
	}
	serial, err := newSerial(rand)
	if err != nil {
		return authority{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Mintmark cluster"},
		NotBefore: now.Add(-backdated), NotAfter: now.Add(authorityLifetime),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand, template, template, key.Public(), key)
	if err != nil {
		return authority{}, fmt.Errorf("make the authority's certificate: %w", err)
	}
	plain, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return authority{}, fmt.Errorf("encode the authority's key: %w", err)
	}
	a := authority{ID: fingerprint(der), Certificate: der, Made: now.UnixMilli()}
	if a.Sealed, err = s.Seal(authorityContext(a.ID), plain); err != nil {
		return authority{}, fmt.Errorf("seal the authority's key: %w", err)
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
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	b[0] &= 0x7f // positive: RFC 5280 §4.1.2.2
	return new(big.Int).SetBytes(b[:]), nil
}

// issue makes a certificate for a node. Any node may: each has the cluster key,
// and so the authority's.
func (a *authority) issue(rand io.Reader, s Secrets, id string, key *ecdsa.PrivateKey, now time.Time) (*tls.Certificate, error) {
	plain, err := s.Open(authorityContext(a.ID), a.Sealed)
	if err != nil {
		return nil, fmt.Errorf("open the authority's key: %w", err)
	}
	signer, err := parseKey(plain)
	if err != nil {
		return nil, fmt.Errorf("read the authority's key: %w", err)
	}
	parent, err := x509.ParseCertificate(a.Certificate)
	if err != nil {
		return nil, fmt.Errorf("read the authority's certificate: %w", err)
	}
	serial, err := newSerial(rand)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: id}, DNSNames: []string{id},
		NotBefore: now.Add(-backdated), NotAfter: now.Add(certificateLifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand, template, parent, key.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read a certificate: %w", err)
	}
	// The authority's own certificate is shown too: who joins knows its
	// fingerprint only.
	return &tls.Certificate{Certificate: [][]byte{der, a.Certificate}, PrivateKey: key, Leaf: leaf}, nil
}

func parseKey(pkcs8 []byte) (*ecdsa.PrivateKey, error) {
	key, err := x509.ParsePKCS8PrivateKey(pkcs8)
	if err != nil {
		return nil, errors.New("not a private key") // the parser's error may quote it
	}
	k, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("not an ECDSA key")
	}
	return k, nil
}

// keyHash is how a member's public key stands in its row.
func keyHash(key *ecdsa.PrivateKey) ([]byte, error) {
	spki, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, fmt.Errorf("encode the node's key: %w", err)
	}
	return hashSPKI(spki), nil
}

func hashSPKI(spki []byte) []byte {
	sum := sha256.Sum256(spki)
	return sum[:]
}

// credentials are what a node shows to others: its certificate, made anew when
// a third of its life is left or when another authority signs.
type credentials struct {
	id       string
	key      *ecdsa.PrivateKey
	rand     io.Reader
	secrets  Secrets
	now      func() time.Time
	peerList *peerList

	mu     sync.Mutex // guards the rest
	cert   *tls.Certificate
	issuer string
}

// current returns the certificate to show now. A node that was down while the
// cluster key was changed may be able to open the key of an older authority
// only, which is accepted as long as this node shows a certificate of it.
func (c *credentials) current() (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	err := errors.New("no authority is known that could sign a certificate")
	for _, a := range c.peerList.signers() {
		if c.cert != nil && c.issuer == a.ID && now.Before(c.cert.Leaf.NotAfter.Add(-certificateLifetime/3)) &&
			!now.Before(c.cert.Leaf.NotBefore) {
			return c.cert, nil
		}
		var cert *tls.Certificate
		if cert, err = a.issue(c.rand, c.secrets, c.id, c.key, now); err == nil {
			c.cert, c.issuer = cert, a.ID
			return cert, nil
		}
	}
	return nil, err
}

// canOpenAuthority reports whether this node has the key that an authority's is
// sealed under.
func (n *Node) canOpenAuthority(a *authority) bool {
	_, err := n.config.Secrets.Open(authorityContext(a.ID), a.Sealed)
	return err == nil
}

// expiry is when the certificate that is shown now runs out, and who signed it.
func (c *credentials) expiry() (time.Time, string) {
	cert, err := c.current()
	if err != nil {
		return time.Time{}, ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return cert.Leaf.NotAfter, c.issuer
}
