package cluster_test

import (
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// TestDialErrors: the reason why a node can't be reached is in the operator's terms, and
// has no text of the Go libraries.
func TestDialErrors(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	down := (tr.leader() + 1) % 3
	shut(t, tr.nodes[down])
	address := tr.confs[down].Network.Advertise
	says := func(name, want string) {
		t.Helper()
		var got string
		require.Eventually(t, func() bool {
			for _, s := range tr.nodes[(down+1)%3].Overview(t.Context()).Nodes {
				if s.Name == tr.confs[down].Name {
					got = s.Error
				}
			}
			return strings.Contains(got, want)
		}, 20*time.Second, 10*time.Millisecond, "%s: %s", name, want)
		for _, raw := range []string{"tls:", "EOF", "remote error", "not sent", "dial tcp", "x509"} {
			require.NotContains(t, got, raw, name)
		}
		if want != "no answer" {
			require.Contains(t, got, address, name)
		}
	}
	says("nobody", "was refused: no process listens there, or a firewall rejects it")

	// answers starts another program at the node's address.
	answers := func(do func(net.Conn)) (stop func()) {
		l, err := net.Listen("tcp", address)
		require.NoError(t, err)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() { defer c.Close(); do(c) }()
			}
		}()
		return func() { require.NoError(t, l.Close()) }
	}
	stop := answers(func(c net.Conn) {
		_, _ = c.Write([]byte("SSH-2.0-OpenSSH_10.0\r\n"))
		time.Sleep(100 * time.Millisecond)
	})
	says("another program", "is not a Mintmark node")
	stop()
	stop = answers(func(net.Conn) {})
	says("one that hangs up", "closed the connection")
	stop()

	// The clock of this node is far from that of the others, so each side rejects the
	// other's certificate.
	old := certificateFrom(t, tr.nodes[(down+1)%3], tr.nodes[down].ID(), keyOf(t, tr.confs[down]), time.Now().Add(-60*24*time.Hour))
	stop = answers(func(c net.Conn) {
		_ = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{*old}, NextProtos: []string{"mintmark-peer/1", "mintmark-raft/1"}, ClientAuth: tls.RequestClientCert}).Handshake()
	})
	says("one with an old certificate", "the clocks of the two differ")
	doubtful := func(s status.Node) bool { return s.ClockUntrusted }
	require.True(t, slices.ContainsFunc(tr.nodes[(down+1)%3].Overview(t.Context()).Nodes, doubtful))
	stop()
	stop = answers(func(c net.Conn) {
		refuse := func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, errors.New("refused") }
		_ = tls.Server(c, &tls.Config{GetConfigForClient: refuse}).Handshake()
	})
	says("one that refuses the others' certificates", "or the clocks of the two differ")
	stop()

	alien := networked(t, "", "elsewhere")
	l, err := net.Listen("tcp", address)
	require.NoError(t, err)
	require.NoError(t, alien.Network.Listener.Close())
	alien.Network = &transport.Endpoint{Listener: l, Advertise: address}
	n := open(t, alien)
	says("a node of another cluster", "is not a member of this cluster")
	shut(t, n)
}

// otherKeySecrets opens nothing, like a node with another cluster key.
type otherKeySecrets struct{ plainSecrets }

func (otherKeySecrets) Open(string, []byte) ([]byte, error) {
	return nil, errors.New("not sealed under this key")
}

// TestAnotherClusterKey: a wrong cluster key is reported as such. With it a node could
// not open the authority and so could not issue its own certificate.
func TestAnotherClusterKey(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	shut(t, tr.nodes[2])
	c := networked(t, tr.confs[2].Dir, "n3")
	c.Bootstrap = false
	c.Secrets = otherKeySecrets{}
	_, err := cluster.Open(t.Context(), c)
	require.ErrorIs(t, err, integrity.ErrWrongClusterKey)
	require.ErrorIs(t, err, integrity.ErrWrongClusterKey)
}
