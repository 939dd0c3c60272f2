package cluster_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

// TestWhoIsLetIn: a peer needs the key of a member, and a certificate for that member
// that is valid now and issued by the cluster's authority.
func TestWhoIsLetIn(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	other := networked(t, "", "elsewhere")
	alien := open(t, other)
	member, strange := keyOf(t, tr.confs[1]), newKey(t)
	id, now := tr.nodes[1].ID(), time.Now()
	for name, c := range map[string]struct {
		from     *cluster.Node
		id       string
		key      *ecdsa.PrivateKey
		at       time.Time
		protocol string
		in       bool
	}{
		"the member itself":                   {tr.nodes[0], id, member, now, "mintmark-peer/1", true},
		"raft's protocol":                     {tr.nodes[0], id, member, now, "mintmark-raft/1", true},
		"a key that is no member's":           {tr.nodes[0], id, strange, now, "mintmark-peer/1", false},
		"a member's key, another name":        {tr.nodes[0], tr.nodes[2].ID(), member, now, "mintmark-peer/1", false},
		"another authority":                   {alien, id, member, now, "mintmark-peer/1", false},
		"expired":                             {tr.nodes[0], id, member, now.Add(-60 * 24 * time.Hour), "mintmark-peer/1", false},
		"not valid yet":                       {tr.nodes[0], id, member, now.Add(48 * time.Hour), "mintmark-peer/1", false},
		"a protocol that nobody speaks":       {tr.nodes[0], id, member, now, "http/1.1", false},
		"a key that is no member's, by raft":  {tr.nodes[0], id, strange, now, "mintmark-raft/1", false},
		"a member of another cluster, itself": {alien, alien.ID(), keyOf(t, other), now, "mintmark-raft/1", false},
	} {
		t.Run(name, func(t *testing.T) {
			cert := certificateFrom(t, c.from, c.id, c.key, c.at)
			conn, err := tls.Dial("tcp", tr.confs[0].Network.Advertise, &tls.Config{
				InsecureSkipVerify: true, NextProtos: []string{c.protocol}, Certificates: []tls.Certificate{*cert},
			})
			if err == nil {
				defer conn.Close()
				// The server verifies the client's certificate after the client has
				// finished its handshake (RFC 8446 §4.4).
				require.NoError(t, conn.SetReadDeadline(time.Now().Add(300*time.Millisecond)))
				_, err = conn.Read(make([]byte, 1))
				if timeout, ok := err.(interface{ Timeout() bool }); ok && timeout.Timeout() {
					err = nil // the server waits for our request
				}
			}
			require.Equal(t, c.in, err == nil, "%v", err)
		})
	}
	for i := range 3 { // the rejected connections did no harm
		_, _, err := tr.nodes[i].Propose(t.Context(), &machinetest.Set{Name: fmt.Sprint(i)})
		require.NoError(t, err)
	}
}

// keyOf returns the key in the folder of a node.
func keyOf(t testing.TB, c cluster.Config) *ecdsa.PrivateKey {
	key, err := member.NodeKey(rand.Reader, c.Dir)
	require.NoError(t, err)
	return key
}

// certificateFrom issues a certificate for any id and key, from the authority of n.
func certificateFrom(t testing.TB, n *cluster.Node, id string, key *ecdsa.PrivateKey, at time.Time) *tls.Certificate {
	cert, err := n.Folder().PeerList.Authority().Issue(rand.Reader, plainSecrets{}, id, key, at)
	require.NoError(t, err)
	return cert
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

// TestCertificatesRenewThemselves: weeks pass, connections break, and the nodes reconnect
// with new certificates.
func TestCertificatesRenewThemselves(t *testing.T) {
	t.Parallel()
	var passed atomic.Int64
	tr := newCluster3(t, func(c *cluster.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	})
	for _, days := range []time.Duration{22, 90} {
		passed.Add(int64(days * 24 * time.Hour))
		for _, n := range tr.nodes {
			cluster.Isolate(n, true)
		}
		for _, n := range tr.nodes {
			cluster.Isolate(n, false)
		}
		tr.settle(3)
		for _, s := range tr.nodes[0].Overview(t.Context()).Nodes {
			require.Greater(t, s.CertificateExpires, tr.confs[0].Now().Add(20*24*time.Hour))
		}
	}
	tr.requireSameState()
}
