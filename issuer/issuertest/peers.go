package issuertest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/clustertest"
	"github.com/mintmark-auth/mintmark/cluster/join"
	"github.com/mintmark-auth/mintmark/cluster/transport"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/replica"
	"github.com/mintmark-auth/mintmark/keys"
)

// A Peer is one node of a cluster, with the files that outlive its process.
type Peer struct {
	Name      string
	Fixed     string        // why its cluster key can't be changed
	FreshWait time.Duration // of the next Start: see issuer.Config
	Keys      *keys.ClusterKeys
	Node      *cluster.Node  // nil while the peer is stopped
	Issuer    *issuer.Issuer // nil while the peer is stopped

	t            testing.TB
	dir, address string
	offset       *atomic.Int64 // of the clocks of all peers, in nanoseconds
	answersFor   atomic.Pointer[issuer.Issuer]
}

// KeyFile returns the path of its cluster key file.
func (p *Peer) KeyFile() string { return filepath.Join(p.dir, "cluster.key") }

// Start starts the node. If first is set, it creates a cluster.
func (p *Peer) Start(first bool) {
	p.t.Helper()
	held, err := keys.OpenClusterKeys(p.KeyFile())
	require.NoError(p.t, err)
	if p.Fixed != "" {
		held = keys.FixedClusterKey(held.Current(), p.Fixed)
	}
	p.Keys = held
	l, err := net.Listen("tcp", p.address)
	require.NoError(p.t, err)
	log := slog.New(slog.DiscardHandler)
	now := func() time.Time { return time.Now().Add(time.Duration(p.offset.Load())) }
	p.Node, err = cluster.Open(p.t.Context(), cluster.Config{
		Dir: filepath.Join(p.dir, "raft"), Machine: replica.Machine(), Logger: log, Now: now, Name: p.Name, Version: "test", Bootstrap: first,
		Network: &transport.Endpoint{Listener: l, Advertise: p.address}, Secrets: Sealing{held},
		JoinSecret: func() ([]byte, error) { return held.Text(), nil },
		ReceiveSecret: func(text []byte) error {
			i := p.answersFor.Load()
			if i == nil {
				return errors.New("it is still starting")
			}
			return i.Rekey.Receive(text)
		},
		SecretByName: func(id string) ([]byte, error) {
			k, err := held.Get(id)
			if err != nil {
				return nil, err
			}
			return k.Text(), nil
		},
	})
	require.NoError(p.t, err)
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	p.Issuer, err = issuer.New(ctx, issuer.Config{
		Node: p.Node, ClusterKeys: held, Version: "test", Log: log, Now: now, Rand: rand.Reader, FreshWait: p.FreshWait,
	})
	require.NoError(p.t, err)
	p.answersFor.Store(p.Issuer)
}

// Stop stops the node if it runs.
func (p *Peer) Stop() {
	if p.Node == nil {
		return
	}
	p.answersFor.Store(nil)
	if p.Issuer != nil {
		p.Issuer.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(p.t, p.Node.Close(ctx))
	p.Node, p.Issuer = nil, nil
}

// Sealing is a member.Secrets with the cluster keys of a node.
type Sealing struct{ Keys *keys.ClusterKeys }

// Seal implements member.Secrets.
func (s Sealing) Seal(context string, b []byte) ([]byte, error) {
	return s.Keys.Seal(rand.Reader, context, b)
}

// Open implements member.Secrets.
func (s Sealing) Open(context string, b []byte) ([]byte, error) { return s.Keys.Open(context, b) }

// Peers is a cluster of three nodes.
type Peers struct {
	All    []*Peer
	Offset atomic.Int64 // of the clocks of all peers, in nanoseconds

	t testing.TB
}

// NoPeers returns a cluster without nodes.
func NoPeers(t testing.TB) *Peers { return &Peers{t: t} }

// NewPeers starts three nodes. They are stopped at the end of the test.
func NewPeers(t testing.TB) *Peers {
	t.Helper()
	c := NoPeers(t)
	for i := range 3 {
		p := c.Add()
		if i == 0 {
			key, err := keys.NewClusterKey(rand.Reader)
			require.NoError(t, err)
			require.NoError(t, key.WriteFile(p.KeyFile()))
			p.Start(true)
			s := ledger.DefaultSettings()
			s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
			_, _, err = p.Issuer.Propose(t.Context(), &ledger.Configure{Settings: s})
			require.NoError(t, err)
			continue
		}
		c.Join(p)
		p.Start(false)
	}
	c.AwaitSettled()
	return c
}

// Add creates a folder for another node, which is not a member yet.
func (c *Peers) Add() *Peer {
	p := &Peer{t: c.t, Name: fmt.Sprintf("n%d", len(c.All)+1), dir: c.t.TempDir(), address: clustertest.Address(c.t), offset: &c.Offset}
	c.All = append(c.All, p)
	c.t.Cleanup(p.Stop)
	return p
}

// Join makes the node of a folder a member, through the first node.
// Join makes the folder of a node a member's, by the first node.
func (c *Peers) Join(p *Peer) {
	c.t.Helper()
	var token string
	require.Eventually(c.t, func() bool {
		var err error
		token, _, err = c.All[0].Node.Invite(c.t.Context(), p.Name, "", time.Hour)
		return err == nil
	}, 20*time.Second, 10*time.Millisecond)
	require.NoError(c.t, join.Join(c.t.Context(), join.Options{
		Dir: filepath.Join(p.dir, "raft"), Address: c.All[0].address, Token: token, Advertise: p.address, Version: "test",
		Level: ledger.Level, StoreSecret: func(text []byte) error { return keys.StoreClusterKeys(p.KeyFile(), text) },
	}))
}

// AwaitSettled waits until all nodes vote and have stored the same single cluster key, and
// returns its id.
func (c *Peers) AwaitSettled() (id string) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		for n, p := range c.All {
			if n == 0 {
				id = p.Keys.Current().ID()
			}
			v := p.Issuer.View()
			if len(p.Node.Voters()) != len(c.All) || p.Keys.Current().ID() != id || len(p.Keys.StoredIDs()) != 1 ||
				v.SealedUnder() != id || !p.Node.Authorities().CanOpen(p.Keys.Current().Open) {
				return false
			}
			for _, other := range c.All {
				row := v.Node(other.Node.ID())
				if row == nil || len(row.ClusterKeys) != 1 || row.ClusterKeys[0] != id {
					return false
				}
			}
		}
		return true
	}, 30*time.Second, 10*time.Millisecond)
	for _, p := range c.All {
		onDisk, err := keys.ReadClusterKey(p.KeyFile())
		require.NoError(c.t, err)
		require.Equal(c.t, id, onDisk.ID())
		require.NoFileExists(c.t, p.KeyFile()+".new")
		require.Empty(c.t, p.Issuer.Rekey.Problems())
	}
	return id
}

// AwaitDropped waits until no node has a key any more, by its keys and its row.
func (c *Peers) AwaitDropped(id string) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		for _, p := range c.All {
			if slices.Contains(p.Keys.StoredIDs(), id) {
				return false
			}
			for n := range p.Issuer.View().Nodes() {
				if slices.Contains(n.ClusterKeys, id) {
					return false
				}
			}
		}
		return true
	}, 30*time.Second, 10*time.Millisecond)
}

// RequireUsable verifies on every node that sealed keys can be used: it adds a key and
// issues a secret.
func (c *Peers) RequireUsable() {
	c.t.Helper()
	for _, p := range c.All {
		require.NoError(c.t, p.Node.Ready(c.t.Context()))
		_, err := p.Issuer.Secret("a-secret")
		require.NoError(c.t, err)
	}
}

// Restart stops and starts the nodes with the given indices.
func (c *Peers) Restart(which ...int) {
	c.t.Helper()
	for _, n := range which {
		c.All[n].Stop()
		c.All[n].Start(false)
	}
}
