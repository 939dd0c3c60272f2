package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// An operatorsNode is a node with a listener for operators on other machines.
type operatorsNode struct {
	*testNode
	options   config.Options
	authority *admintest.Authority // of the server's certificate
	operators *admintest.Authority
	log       *testkit.Buffer
}

func pemFile(t testing.TB, path, kind string, der []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}

func newOperatorsNode(t *testing.T, with ...func(*server.Config)) *operatorsNode {
	t.Helper()
	dir := t.TempDir()
	n := &operatorsNode{authority: admintest.NewAuthority(t, "servers"), operators: admintest.NewAuthority(t, "operators"), log: new(testkit.Buffer)}
	pair := n.authority.Issue("server", nil, admintest.ForServer)
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	n.options = config.Options{
		OperatorsListen: "127.0.0.1:0", OperatorsCAFile: filepath.Join(dir, "operators.pem"),
		OperatorsTLS: config.TLSFiles{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")},
	}
	pemFile(t, n.options.OperatorsTLS.Cert, "CERTIFICATE", pair.Certificate[0])
	pemFile(t, n.options.OperatorsTLS.Key, "PRIVATE KEY", key)
	pemFile(t, n.options.OperatorsCAFile, "CERTIFICATE", n.operators.Certificate().Raw)
	n.testNode = newTestNode(t, func(c *server.Config) {
		c.Operators, err = server.OpenOperators(&n.options, os.Getenv)
		require.NoError(t, err)
		c.Log = slog.New(slog.NewJSONHandler(n.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		for _, do := range with {
			do(c)
		}
	})
	return n
}

func (n *operatorsNode) caller(t *testing.T, token admin.Plain, certificate *tls.Certificate) *admin.Caller {
	t.Helper()
	c, err := admin.NewRemoteCaller(admin.RemoteServer{
		URL: "https://" + n.s.OperatorsAddr.String(), Authority: n.authority.Pool(), Token: token, Certificate: certificate,
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func listUsers(t *testing.T, c *admin.Caller) ledger.Cause {
	t.Helper()
	_, err := admin.ListUsers.Call(t.Context(), c, admin.UserFilter{})
	if err == nil {
		return ledger.NoCause
	}
	var p *admin.Problem
	require.ErrorAs(t, err, &p)
	return p.Cause
}

func TestOperatorsListener(t *testing.T) {
	t.Parallel()
	n := newOperatorsNode(t)
	added, err := admin.AddOperatorToken.Call(t.Context(), n.operator(), admin.NewOperatorToken{
		Name: "ci", Scopes: []string{"read", "cluster"}, Lifetime: time.Hour,
	})
	require.NoError(t, err)
	c := n.caller(t, added.Token, nil)
	require.Equal(t, ledger.NoCause, listUsers(t, c))
	require.NoError(t, admin.SaveBackup(t.Context(), c, io.Discard))
	require.Equal(t, ledger.EventOperation, n.s.Issuer.View().LastEvent().Kind)
	_, err = admin.RevokeOperatorToken.Call(t.Context(), c, admin.OperatorTokenRef{Token: "ci"})
	require.NoError(t, err)
	require.Equal(t, ledger.OperatorTokenRevoked, listUsers(t, c))

	ada := n.operators.Issue("ada", []string{"read"}, nil)
	c = n.caller(t, "", ada)
	require.Equal(t, ledger.NoCause, listUsers(t, c))

	// The cluster's own authority gives no access, nor does the certificate of a node.
	authority := member.Authorities(n.s.Node.View())[0].Certificate
	other := n.nodeCertificate(t)
	require.Equal(t, ledger.OperatorCertificateRefused, listUsers(t, n.caller(t, "", other)))

	// Another authority is in force at once, also on connections that are open.
	next := admintest.NewAuthority(t, "next")
	pemFile(t, n.options.OperatorsCAFile, "CERTIFICATE", next.Certificate().Raw)
	require.Eventually(t, func() bool { return listUsers(t, c) == ledger.OperatorCertificateRefused }, 20*time.Second, 50*time.Millisecond)
	c = n.caller(t, "", next.Issue("ada", []string{"read"}, nil))
	require.Equal(t, ledger.NoCause, listUsers(t, c))
	pemFile(t, n.options.OperatorsCAFile, "CERTIFICATE", authority)
	// The cluster's own authority is refused, and the one before stays in force.
	require.Eventually(t, func() bool { return strings.Contains(n.log.String(), "operators' authority not reloaded") }, 20*time.Second, 50*time.Millisecond)
	require.Contains(t, n.log.String(), server.ErrClusterAuthority.Error())
	require.Equal(t, ledger.NoCause, listUsers(t, c))
	require.Equal(t, ledger.OperatorCertificateRefused, listUsers(t, n.caller(t, "", other)))

	log := n.log.String()
	require.Contains(t, log, `"msg":"operator refused"`)
	require.Contains(t, log, `"cause":"operator_token_revoked"`)
	require.NotContains(t, log, "mmo_")
}

// nodeCertificate returns the certificate by which other nodes know the node.
func (n *operatorsNode) nodeCertificate(t *testing.T) *tls.Certificate {
	t.Helper()
	key, err := member.NodeKey(nil, filepath.Join(n.dir, "raft"))
	require.NoError(t, err)
	c, err := tls.Dial("tcp", n.s.ClusterAddr.String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{transport.ProtocolPeer}}) // only its certificate is read
	require.NoError(t, err)
	defer c.Close()
	cert := c.ConnectionState().PeerCertificates[0]
	require.Equal(t, key.Public(), cert.PublicKey)
	return &tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}
}

// TestOperatorsAuthorityIsNotTheClusters verifies that a node does not start with a file that
// has the authority of its cluster.
func TestOperatorsAuthorityIsNotTheClusters(t *testing.T) {
	t.Parallel()
	n := newOperatorsNode(t)
	pemFile(t, n.options.OperatorsCAFile, "CERTIFICATE", member.Authorities(n.s.Node.View())[0].Certificate)
	n.close()
	c := n.conf
	var err error
	c.Operators, err = server.OpenOperators(&n.options, os.Getenv)
	require.NoError(t, err)
	_, err = server.Start(t.Context(), c)
	require.ErrorIs(t, err, server.ErrClusterAuthority)
	require.ErrorContains(t, err, config.KeyOperatorsCAFile)
}

// TestOperatorsListenerTransport verifies that only TLS 1.2 and later is accepted, and that
// connections without a whole request are closed.
func TestOperatorsListenerTransport(t *testing.T) {
	t.Parallel()
	n := newOperatorsNode(t)
	address := n.s.OperatorsAddr.String()
	for version, accepted := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		c, err := tls.Dial("tcp", address, &tls.Config{RootCAs: n.authority.Pool(), MinVersion: version, MaxVersion: version})
		require.Equal(t, accepted, err == nil, "%x: %v", version, err)
		if err == nil {
			require.NoError(t, c.Close())
		}
	}
	plain, err := net.Dial("tcp", address)
	require.NoError(t, err)
	_, err = io.WriteString(plain, "POST /v1/client.list HTTP/1.1\r\nHost: x\r\n\r\n{}")
	require.NoError(t, err)
	answer, _ := io.ReadAll(plain)
	require.Contains(t, string(answer), "400 Bad Request")
	require.NoError(t, plain.Close())

	silent, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer silent.Close()
	slow, err := tls.Dial("tcp", address, &tls.Config{RootCAs: n.authority.Pool(), MinVersion: tls.VersionTLS12})
	require.NoError(t, err)
	defer slow.Close()
	_, err = io.WriteString(slow, "POST /v1/client.list HTTP/1.1\r\nHost: x\r\nX-Slow: ")
	require.NoError(t, err)
	began := time.Now()
	for _, c := range []net.Conn{silent, slow} {
		require.NoError(t, c.SetDeadline(time.Now().Add(time.Minute)))
		_, _ = io.ReadAll(c)
	}
	require.Less(t, time.Since(began), 30*time.Second)
}

// TestOperatorsListenerIsBounded verifies that the listener has 256 connections at most, that a
// further one waits until one of them is closed, and that the API is not affected. It is not
// run beside others: the first connection must not reach its timeout before the last is open.
func TestOperatorsListenerIsBounded(t *testing.T) {
	n := newOperatorsNode(t)
	certificate := n.operators.Issue("ada", []string{"read"}, nil)
	dial := func(limit time.Duration) (*tls.Conn, error) {
		d := &net.Dialer{Timeout: limit}
		return tls.DialWithDialer(d, "tcp", n.s.OperatorsAddr.String(), &tls.Config{
			RootCAs: n.authority.Pool(), MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*certificate},
		})
	}
	// begin returns once the server waits for the body: such a connection is not shed.
	begin := func(c *tls.Conn) *bufio.Reader {
		_, err := io.WriteString(c, "POST /v1/client.list HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
		require.NoError(t, err)
		in := bufio.NewReader(c)
		r, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusContinue, r.StatusCode)
		return in
	}
	var open []*tls.Conn
	var first *bufio.Reader
	for range 256 {
		c, err := dial(20 * time.Second)
		require.NoError(t, err)
		defer c.Close()
		in := begin(c)
		if first == nil {
			first = in
		}
		open = append(open, c)
	}
	_, err := dial(time.Second)
	var timeout net.Error
	require.ErrorAs(t, err, &timeout)
	require.True(t, timeout.Timeout())
	r, err := http.Get("http://" + n.s.PublicAddr.String() + "/v2/me")
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())

	waits := make(chan error, 1)
	go func() {
		c, err := dial(20 * time.Second)
		if err == nil {
			err = c.Close()
		}
		waits <- err
	}()
	_, err = io.WriteString(open[0], "{}")
	require.NoError(t, err)
	answer, err := http.ReadResponse(first, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode, "connections that are open are served")
	require.NoError(t, open[0].Close())
	require.NoError(t, <-waits)
}
