package admintest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// An Authority signs certificates.
type Authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority returns an authority whose certificate is valid around Started.
func NewAuthority(t testing.TB, name string) *Authority {
	t.Helper()
	a := &Authority{t: t}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: Started.Add(-time.Hour), NotAfter: Started.AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.cert, a.key = a.sign(template)
	return a
}

func (a *Authority) sign(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(a.t, err)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	require.NoError(a.t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(a.t, err)
	return cert, key
}

// Pool has the certificate of the authority only.
func (a *Authority) Pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// Certificate returns the authority's own certificate.
func (a *Authority) Certificate() *x509.Certificate { return a.cert }

// Issue returns a certificate for an operator with organizational units, as changed by change.
func (a *Authority) Issue(name string, units []string, change func(*x509.Certificate)) *tls.Certificate {
	a.t.Helper()
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: name, OrganizationalUnit: units},
		NotBefore: Started.Add(-time.Hour), NotAfter: Started.AddDate(5, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	cert, key := a.sign(template)
	return &tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}
}

// ForServer makes a certificate one of a server on the loopback.
func ForServer(c *x509.Certificate) {
	c.ExtKeyUsage, c.IPAddresses = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, []net.IP{net.IPv4(127, 0, 0, 1)}
}

// A RemoteServer serves the operations of an Env over TLS.
type RemoteServer struct {
	URL       string
	Authority *Authority // of the server's certificate
	Operators *Authority // of the certificates of operators

	close   func()
	mu      sync.Mutex // guards refused
	refused []ledger.Cause
}

// Refused returns the causes of the refusals since the last call.
func (s *RemoteServer) Refused() (causes []ledger.Cause) {
	s.mu.Lock()
	defer s.mu.Unlock()
	causes, s.refused = s.refused, nil
	return causes
}

// ServeRemote serves the operations over TLS on the loopback.
func (w *Env) ServeRemote() *RemoteServer {
	w.t.Helper()
	s := &RemoteServer{Authority: NewAuthority(w.t, "servers"), Operators: NewAuthority(w.t, "operators")}
	h := httptest.NewUnstartedServer(admin.NewRemoteHandler(admin.Remote{
		Config: w.Config(), Authority: s.Operators.Pool, Refused: func(_ *http.Request, cause ledger.Cause, _ string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.refused = append(s.refused, cause)
		},
	}))
	h.TLS = &tls.Config{
		Certificates: []tls.Certificate{*s.Authority.Issue("server", nil, ForServer)}, ClientAuth: tls.RequestClientCert,
		MinVersion: tls.VersionTLS12,
	}
	h.StartTLS()
	w.t.Cleanup(h.Close)
	s.URL, s.close = h.URL, h.Close
	return s
}

// Close ends the server after the requests in progress.
func (s *RemoteServer) Close() { s.close() }

// Caller returns a Caller with a token or a certificate.
func (s *RemoteServer) Caller(t testing.TB, token admin.Plain, certificate *tls.Certificate) *admin.Caller {
	t.Helper()
	c, err := admin.NewRemoteCaller(admin.RemoteServer{URL: s.URL, Authority: s.Authority.Pool(), Token: token, Certificate: certificate})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}
