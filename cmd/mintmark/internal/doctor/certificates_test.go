package doctor_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/doctor"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// An issued is a certificate with its key.
type issued struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue makes a certificate, signed by parent or, without one, by itself. It is valid from
// thirty days before now, for ninety days.
func issue(t *testing.T, name string, parent *issued, change func(*x509.Certificate)) *issued {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true,
		NotBefore: now.Add(-30 * 24 * time.Hour), NotAfter: now.Add(60 * 24 * time.Hour),
	}
	change(c)
	one := &issued{c, key}
	if parent == nil {
		parent = one
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent.cert, key.Public(), parent.key)
	require.NoError(t, err)
	one.cert, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	return one
}

func ofAuthority(c *x509.Certificate) { c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign }

func forHost(c *x509.Certificate) {
	c.DNSNames, c.ExtKeyUsage = []string{"auth.example.com"}, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
}

// write writes a chain, and the key of one certificate, and returns the files.
func write(t *testing.T, key *issued, chain ...*issued) config.TLSFiles {
	t.Helper()
	dir := t.TempDir()
	files := config.TLSFiles{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	var text []byte
	for _, one := range chain {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: one.cert.Raw})...)
	}
	require.NoError(t, os.WriteFile(files.Cert, text, 0o644))
	der, err := x509.MarshalPKCS8PrivateKey(key.key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	return files
}

// judged returns the result of one check of the files in the settings, at the time now.
func judged(t *testing.T, check string, o config.Options) doctor.Result {
	t.Helper()
	f := gather(t, o)
	f.Now = now
	r := state(f, check)
	require.NotEmpty(t, r.Check)
	require.Equal(t, r.State == doctor.OK, r.Advice == "")
	return r
}

func TestListenerCertificates(t *testing.T) {
	const check = "certificate of listen"
	root := issue(t, "root", nil, ofAuthority)
	between := issue(t, "intermediate", root, ofAuthority)
	leaf := issue(t, "leaf", between, forHost)
	dated := func(begins, ends time.Duration) func(*x509.Certificate) {
		return func(c *x509.Certificate) {
			forHost(c)
			c.NotBefore, c.NotAfter = now.Add(begins), now.Add(ends)
		}
	}
	const dayLong = 24 * time.Hour
	short := issue(t, "short", root, func(c *x509.Certificate) {
		ofAuthority(c)
		c.NotAfter = now.Add(13 * dayLong)
	})
	ofShort := issue(t, "leaf", short, forHost)
	for name, test := range map[string]struct {
		key      *issued
		chain    []*issued
		state    doctor.State
		measured string
	}{
		"good":               {leaf, []*issued{leaf, between}, doctor.OK, "of auth.example.com, until 2027-01-02"},
		"with its root":      {leaf, []*issued{leaf, between, root}, doctor.OK, "of auth.example.com"},
		"order":              {leaf, []*issued{between, leaf}, doctor.Failure, "belongs to certificate 2 of "},
		"other key":          {between, []*issued{leaf}, doctor.Failure, "is not the private key of "},
		"chain not in order": {leaf, []*issued{leaf, root, between}, doctor.Warning, "certificate 2 of "},
		"no name":            {root, []*issued{root}, doctor.Failure, "has no alternative name"},
		"intermediate ends":  {ofShort, []*issued{ofShort, short}, doctor.Warning, "expires on 2026-11-16 of CN=short"},
	} {
		t.Run(name, func(t *testing.T) {
			o := config.Default()
			o.DataDir, o.PublicURL = t.TempDir(), "https://auth.example.com"
			o.TLS = write(t, test.key, test.chain...)
			r := judged(t, check, o)
			require.Equal(t, test.state, r.State, r.Measured)
			require.Contains(t, r.Measured, test.measured)
		})
	}
	for name, test := range map[string]struct {
		change   func(*x509.Certificate)
		state    doctor.State
		measured string
	}{
		"expired":                  {dated(-90*dayLong, -time.Second), doctor.Failure, "expired on 2026-11-03"},
		"soon":                     {dated(-76*dayLong, 14*dayLong-time.Second), doctor.Warning, "expires on 2026-11-17"},
		"short-lived":              {dated(-3*dayLong, 3*dayLong), doctor.OK, "until 2026-11-06"},
		"short-lived, not renewed": {dated(-5*dayLong, dayLong), doctor.Warning, "expires on 2026-11-04"},
		"not yet":                  {dated(time.Hour, 90*dayLong), doctor.Failure, "not valid yet"},
		"for clients": {func(c *x509.Certificate) {
			c.DNSNames, c.ExtKeyUsage = []string{"auth.example.com"}, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		}, doctor.Failure, "not for server authentication"},
		"other host": {func(c *x509.Certificate) {
			c.DNSNames, c.IPAddresses = []string{"www.example.com"}, []net.IP{net.IPv4(192, 0, 2, 1)}
		}, doctor.Failure, "of www.example.com, 192.0.2.1, not of auth.example.com"},
		"wildcard": {func(c *x509.Certificate) { c.DNSNames = []string{"*.example.com"} }, doctor.OK, "*.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			o := config.Default()
			o.DataDir, o.PublicURL = t.TempDir(), "https://auth.example.com"
			one := issue(t, "leaf", root, test.change)
			o.TLS = write(t, one, one)
			r := judged(t, check, o)
			require.Equal(t, test.state, r.State, r.Measured)
			require.Contains(t, r.Measured, test.measured)
			if name == "other host" {
				o.TrustedProxies = []string{"192.0.2.7"}
				require.Equal(t, doctor.Warning, judged(t, check, o).State, "behind a proxy, another name is only a warning")
				o.OperatorsListen, o.OperatorsTLS, o.TLS = "auth.example.com:8090", o.TLS, config.TLSFiles{}
				require.Contains(t, judged(t, "certificate of operators-listen", o).Measured, "not of auth.example.com")
				o.OperatorsListen = "192.0.2.9:8090"
				require.Equal(t, doctor.OK, judged(t, "certificate of operators-listen", o).State, "the expected name is unknown for an address without a host name")
			}
		})
	}
}

// TestListenerFiles: doctor reports files that are missing or have the wrong mode.
func TestListenerFiles(t *testing.T) {
	root := issue(t, "root", nil, ofAuthority)
	leaf := issue(t, "leaf", root, forHost)
	o := config.Default()
	o.DataDir = t.TempDir()
	require.Equal(t, "no listener has TLS of its own", judged(t, "certificates of listeners", o).Measured)
	o.OpsTLS = write(t, leaf, leaf)
	const check = "certificate of ops-listen"
	require.Equal(t, doctor.OK, judged(t, check, o).State)
	require.Contains(t, judged(t, "secret files", o).Measured, "TLS private key")
	require.NoError(t, os.Chmod(o.OpsTLS.Key, 0o644))
	require.Equal(t, doctor.Failure, judged(t, "secret files", o).State)
	require.NoError(t, os.Chmod(o.OpsTLS.Cert, 0o664))
	require.Contains(t, judged(t, check, o).Measured, "has mode 0664")
	require.NoError(t, os.Remove(o.OpsTLS.Key))
	require.Equal(t, doctor.Failure, judged(t, "secret files", o).State)
	require.NoError(t, os.Chmod(o.OpsTLS.Cert, 0o644))
	require.Contains(t, judged(t, check, o).Measured, "no such file")
	require.NoError(t, os.WriteFile(o.OpsTLS.Cert, []byte("none"), 0o600))
	require.Contains(t, judged(t, check, o).Measured, "has no certificate in PEM")
	require.NoError(t, os.Remove(o.OpsTLS.Cert))
	require.Contains(t, judged(t, check, o).Measured, "no such file")
}

func TestOperatorsAuthority(t *testing.T) {
	const check = "operators' authority"
	root := issue(t, "root", nil, ofAuthority)
	o := config.Default()
	o.DataDir, o.OperatorsCAFile = t.TempDir(), write(t, root, root).Cert
	require.Equal(t, "CN=root", judged(t, check, o).Measured)
	require.NoError(t, os.Chmod(o.OperatorsCAFile, 0o666))
	require.Equal(t, doctor.Failure, judged(t, check, o).State, "whoever can write the file could become an operator")
	old := issue(t, "old", nil, func(c *x509.Certificate) {
		ofAuthority(c)
		c.NotAfter = now
	})
	o.OperatorsCAFile = write(t, root, root, old).Cert
	require.Contains(t, judged(t, check, o).Measured, "expired on 2026-11-03 of CN=old")
	o.OperatorsCAFile = write(t, root, root, issue(t, "ada", root, forHost)).Cert
	require.Contains(t, judged(t, check, o).Measured, "CN=ada in ")
}

// TestHostOfTheCluster: if the node's settings have no URL, the certificate is compared
// with the URLs of the cluster.
func TestHostOfTheCluster(t *testing.T) {
	root := issue(t, "root", nil, ofAuthority)
	leaf := issue(t, "leaf", root, forHost)
	m := doctor.Machine{Options: config.Default(), Getenv: os.Getenv, Status: func(context.Context) (status admin.ClusterStatus, settings admin.Settings, err error) {
		settings.Settings = []admin.Setting{{Key: "base_url", Value: "https://auth.example.com"}, {Key: "app_url", Value: "https://app.example.com"}}
		return status, settings, nil
	}}
	m.Options.DataDir, m.Options.TLS = t.TempDir(), write(t, leaf, leaf)
	f := m.Gather(t.Context())
	f.Now = now
	require.Contains(t, state(f, "certificate of listen").Measured, "not of app.example.com")
}
