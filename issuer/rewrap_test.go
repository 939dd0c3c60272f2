package issuer_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/clustertest"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/keys"
)

// A peer is one node of a cluster, with the files that outlive it.
type peer struct {
	t          testing.TB
	name, dir  string
	address    string
	fixed      string        // why its cluster key can't be changed
	offset     *atomic.Int64 // of the clocks of all, nanoseconds
	keys       *keys.ClusterKeys
	node       *cluster.Node
	issuer     *issuer.Issuer
	answersFor atomic.Pointer[issuer.Issuer]
}

func (p *peer) keyFile() string { return filepath.Join(p.dir, "cluster.key") }

// start runs the node; first makes it a cluster.
func (p *peer) start(first bool) {
	p.t.Helper()
	held, err := keys.OpenClusterKeys(p.keyFile())
	require.NoError(p.t, err)
	if p.fixed != "" {
		held = keys.FixedClusterKey(held.Current(), p.fixed)
	}
	p.keys = held
	l, err := net.Listen("tcp", p.address)
	require.NoError(p.t, err)
	log := slog.New(slog.DiscardHandler)
	now := func() time.Time { return time.Now().Add(time.Duration(p.offset.Load())) }
	p.node, err = cluster.Open(p.t.Context(), cluster.Config{
		Dir: filepath.Join(p.dir, "raft"), Machine: issuer.Machine(), Logger: log, Now: now, Name: p.name, Version: "test", Bootstrap: first,
		Network: &cluster.Network{Listener: l, Advertise: p.address}, Secrets: sealing{held},
		JoinSecret: func() ([]byte, error) { return held.Text(), nil },
		ReceiveSecret: func(text []byte) error {
			i := p.answersFor.Load()
			if i == nil {
				return errors.New("it is still starting")
			}
			return i.ReceiveClusterKey(text)
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
	p.issuer, err = issuer.New(ctx, issuer.Config{
		Node: p.node, ClusterKeys: held, Version: "test", Log: log, Now: now, Rand: rand.Reader,
	})
	require.NoError(p.t, err)
	p.answersFor.Store(p.issuer)
}

func (p *peer) stop() {
	if p.node == nil {
		return
	}
	p.answersFor.Store(nil)
	if p.issuer != nil {
		p.issuer.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(p.t, p.node.Close(ctx))
	p.node, p.issuer = nil, nil
}

// sealing is the cluster.Secrets of the keys of a node.
type sealing struct{ keys *keys.ClusterKeys }

func (s sealing) Seal(context string, b []byte) ([]byte, error) {
	return s.keys.Seal(rand.Reader, context, b)
}
func (s sealing) Open(context string, b []byte) ([]byte, error) { return s.keys.Open(context, b) }

// peers are a cluster of three.
type peers struct {
	t      testing.TB
	all    []*peer
	offset atomic.Int64
}

func newPeers(t testing.TB) *peers {
	t.Helper()
	c := &peers{t: t}
	for i := range 3 {
		p := c.add()
		if i == 0 {
			key, err := keys.NewClusterKey(rand.Reader)
			require.NoError(t, err)
			require.NoError(t, key.WriteFile(p.keyFile()))
			p.start(true)
			s := ledger.DefaultSettings()
			s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
			_, _, err = p.issuer.Propose(t.Context(), &ledger.Configure{Settings: s})
			require.NoError(t, err)
			continue
		}
		c.join(p)
		p.start(false)
	}
	c.awaitSettled()
	return c
}

func (c *peers) add() *peer {
	p := &peer{t: c.t, name: fmt.Sprintf("n%d", len(c.all)+1), dir: c.t.TempDir(), address: clustertest.Address(c.t), offset: &c.offset}
	c.all = append(c.all, p)
	c.t.Cleanup(p.stop)
	return p
}

// join makes a folder a member's, by the first node.
func (c *peers) join(p *peer) {
	c.t.Helper()
	var token string
	require.Eventually(c.t, func() bool {
		var err error
		token, _, err = c.all[0].node.Invite(c.t.Context(), p.name, "", time.Hour)
		return err == nil
	}, 20*time.Second, 10*time.Millisecond)
	require.NoError(c.t, cluster.JoinCluster(c.t.Context(), cluster.Join{
		Dir: filepath.Join(p.dir, "raft"), Address: c.all[0].address, Token: token, Advertise: p.address, Version: "test",
		Level: issuer.Level, StoreSecret: func(text []byte) error { return keys.StoreClusterKeys(p.keyFile(), text) },
	}))
}

// awaitSettled waits until all nodes vote and hold one cluster key, the same, and
// returns its id.
func (c *peers) awaitSettled() (id string) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		for n, p := range c.all {
			if n == 0 {
				id = p.keys.Current().ID()
			}
			v := p.issuer.View()
			if len(p.node.Voters()) != len(c.all) || p.keys.Current().ID() != id || len(p.keys.StoredIDs()) != 1 ||
				v.SealedUnder() != id || !p.node.CanOpenAuthorities(p.keys.Current().Open) {
				return false
			}
			for _, other := range c.all {
				row := v.Node(other.node.ID())
				if row == nil || len(row.ClusterKeys) != 1 || row.ClusterKeys[0] != id {
					return false
				}
			}
		}
		return true
	}, 30*time.Second, 10*time.Millisecond)
	for _, p := range c.all {
		onDisk, err := keys.ReadClusterKey(p.keyFile())
		require.NoError(c.t, err)
		require.Equal(c.t, id, onDisk.ID())
		require.NoFileExists(c.t, p.keyFile()+".new")
		require.Empty(c.t, p.issuer.ClusterKeyProblems())
	}
	return id
}

// awaitDropped waits until no node holds a key any more, as its keys and its row say.
func (c *peers) awaitDropped(id string) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		for _, p := range c.all {
			if slices.Contains(p.keys.StoredIDs(), id) {
				return false
			}
			for n := range p.issuer.View().Nodes() {
				if slices.Contains(n.ClusterKeys, id) {
					return false
				}
			}
		}
		return true
	}, 30*time.Second, 10*time.Millisecond)
}

// requireUsable has every node use what is sealed: make a key, and issue a secret.
func (c *peers) requireUsable() {
	c.t.Helper()
	for _, p := range c.all {
		require.NoError(c.t, p.node.Ready(c.t.Context()))
		_, err := p.issuer.Secret("a-secret")
		require.NoError(c.t, err)
	}
}

func (c *peers) restart(which ...int) {
	c.t.Helper()
	for _, n := range which {
		c.all[n].stop()
		c.all[n].start(false)
	}
}

func TestRewrap(t *testing.T) {
	c := newPeers(t)
	before := c.awaitSettled()
	ring := len(c.all[0].issuer.KeySet().Body)
	r, err := c.all[1].issuer.Rewrap(t.Context(), false)
	require.NoError(t, err)
	require.False(t, r.Resumed)
	require.Empty(t, r.Behind)
	for _, p := range c.all { // without waiting
		require.Equal(t, r.ID, p.keys.Current().ID())
	}
	require.Equal(t, r.ID, c.awaitSettled())
	require.NotEqual(t, before, r.ID)
	require.Len(t, c.all[0].issuer.KeySet().Body, ring, "the keys are what they were")
	c.requireUsable()
	for _, p := range c.all {
		require.FileExists(t, p.keyFile()+".old")
	}
	c.restart(0, 1, 2)
	require.Equal(t, r.ID, c.awaitSettled())
	for _, p := range c.all {
		require.Eventually(t, func() bool {
			_, err := os.Stat(p.keyFile() + ".old")
			return errors.Is(err, fs.ErrNotExist)
		}, 20*time.Second, 10*time.Millisecond, "the old one goes with the next start")
	}
	_, err = c.all[2].issuer.Rotate(t.Context(), ledger.ForSigning)
	require.NoError(t, err)
	// All at once, so that none can ask another: each has what it needs.
	for _, p := range c.all {
		p.stop()
	}
	var starting sync.WaitGroup
	for _, p := range c.all {
		starting.Go(func() { p.start(false) })
	}
	starting.Wait()
	require.Equal(t, r.ID, c.awaitSettled())
	c.requireUsable()
}

// TestRewrapAfterCrash ends one node, or the one that is changing the key, at
// each point of the change; then it goes on, from the same node or another.
func TestRewrapAfterCrash(t *testing.T) {
	c := newPeers(t)
	for steps, point := range []string{
		"nothing was done", "the key is kept by one", "all were given the key", "all hold it", "the ring is sealed", "the authority is sealed",
	} {
		for _, who := range []struct {
			name         string
			killed, next int
		}{
			{"who began is killed and goes on", 0, 0},
			{"another is killed and goes on", 1, 1},
			{"who began is killed and another goes on", 0, 2},
		} {
			t.Run(point+", "+who.name, func(t *testing.T) {
				before := c.awaitSettled()
				for _, step := range c.all[0].issuer.RewrapSteps(t.Context())[:steps] {
					require.NoError(t, step())
				}
				c.restart(who.killed)
				var r issuer.RewrapResult
				require.Eventually(t, func() bool {
					var err error
					r, err = c.all[who.next].issuer.Rewrap(t.Context(), false)
					return err == nil
				}, 60*time.Second, 100*time.Millisecond)
				c.restart((who.killed + 1) % 3)
				require.NotEqual(t, before, r.ID)
				c.awaitDropped(before)
				// Keys of changes that were given up are let go of with the next one.
				_, err := c.all[0].issuer.Rewrap(t.Context(), false)
				require.NoError(t, err)
				last, err := c.all[0].issuer.Rewrap(t.Context(), false)
				require.NoError(t, err)
				require.Equal(t, last.ID, c.awaitSettled())
				c.requireUsable()
			})
		}
	}
}

// TestRewrapGoesOnByItself: once the keyring is sealed, nobody needs to ask again.
func TestRewrapGoesOnByItself(t *testing.T) {
	c := newPeers(t)
	before := c.awaitSettled()
	for _, step := range c.all[0].issuer.RewrapSteps(t.Context())[:4] {
		require.NoError(t, step())
	}
	c.restart(0)
	require.NotEqual(t, before, c.awaitSettled())
	c.requireUsable()
}

func TestRewrapNamesWhoIsDown(t *testing.T) {
	c := newPeers(t)
	before := c.awaitSettled()
	down := c.all[2]
	down.stop()
	_, err := c.all[0].issuer.Rewrap(t.Context(), false)
	var refused issuer.Refused
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.Refusal(), "node n3 can't be reached")
	require.NoFileExists(t, c.all[0].keyFile()+".new")
	require.NoFileExists(t, c.all[1].keyFile()+".new")

	r, err := c.all[0].issuer.Rewrap(t.Context(), true)
	require.NoError(t, err)
	require.NotEqual(t, before, r.ID)
	require.Equal(t, []string{"n3"}, r.Behind)
	_, err = c.all[1].issuer.Rotate(t.Context(), ledger.ForCredentials)
	require.NoError(t, err)
	down.start(false) // with a key that opens nothing of what it will be sent
	require.Equal(t, r.ID, c.awaitSettled())
	c.requireUsable()
	// It has the key for good: none of the others is there to ask.
	for _, p := range c.all {
		p.stop()
	}
	held, err := keys.OpenClusterKeys(down.keyFile())
	require.NoError(t, err)
	require.Equal(t, []string{r.ID}, held.StoredIDs())
}

// TestForcedRewrapNeedsAMajority: alone, a node would lock out the others.
func TestForcedRewrapNeedsAMajority(t *testing.T) {
	c := newPeers(t)
	c.all[1].stop()
	c.all[2].stop()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := c.all[0].issuer.Rewrap(ctx, true)
	require.Error(t, err)
}

func TestRewrapNamesWhoCannotKeepAKey(t *testing.T) {
	c := newPeers(t)
	c.awaitSettled()
	c.all[1].stop()
	c.all[1].fixed = "it comes from the environment"
	c.all[1].start(false)
	c.awaitSettled()
	for n, want := range []string{"node n2: it comes from the environment", "this node: it comes from the environment", "node n2:"} {
		_, err := c.all[n].issuer.Rewrap(t.Context(), true)
		var refused issuer.Refused
		require.ErrorAs(t, err, &refused)
		require.Contains(t, refused.Refusal(), want)
	}
	for _, p := range c.all {
		require.NoFileExists(t, p.keyFile()+".new", "nothing was changed")
	}
	c.awaitSettled()
}

// TestJoinDuringARewrap: whoever joins is given whatever it may need.
func TestJoinDuringARewrap(t *testing.T) {
	for steps, point := range []string{"begun", "kept", "given", "held", "ring", "authority"} {
		t.Run(point, func(t *testing.T) {
			c := &peers{t: t}
			p := c.add()
			key, err := keys.NewClusterKey(rand.Reader)
			require.NoError(t, err)
			require.NoError(t, key.WriteFile(p.keyFile()))
			p.start(true)
			for _, step := range p.issuer.RewrapSteps(t.Context())[:steps] {
				require.NoError(t, step())
			}
			second := c.add()
			c.join(second)
			second.start(false)
			r, err := p.issuer.Rewrap(t.Context(), false)
			for err != nil && t.Context().Err() == nil {
				r, err = p.issuer.Rewrap(t.Context(), false)
			}
			require.NoError(t, err)
			if !r.Resumed {
				require.NotEqual(t, key.ID(), r.ID)
			}
			_, err = p.issuer.Rewrap(t.Context(), false)
			require.NoError(t, err)
			c.awaitSettled()
			c.requireUsable()
		})
	}
}

// TestRewrapAlone: a node without peers changes its key too.
func TestRewrapAlone(t *testing.T) {
	b := newTestIssuer(t)
	token := b.exchange().RefreshToken
	_, err := b.Rewrap(t.Context(), false)
	var refused issuer.Refused
	require.ErrorAs(t, err, &refused)
	b.close()

	path := filepath.Join(t.TempDir(), "cluster.key")
	require.NoError(t, b.key.WriteFile(path))
	held, err := keys.OpenClusterKeys(path)
	require.NoError(t, err)
	b.clusterKeys = held
	b.open()
	r, err := b.Rewrap(t.Context(), false)
	require.NoError(t, err)
	require.NotEqual(t, b.key.ID(), r.ID)
	b.close()
	b.clusterKeys, err = keys.OpenClusterKeys(path)
	require.NoError(t, err)
	b.open()
	_, err = b.refresh(token)
	require.NoError(t, err)
	require.Equal(t, r.ID, b.View().SealedUnder())
}
