package rekey_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/keyring"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/rekey"
	"github.com/mintmark-auth/mintmark/keys"
)

func TestRewrap(t *testing.T) {
	c := issuertest.NewPeers(t)
	before := c.AwaitSettled()
	ring := len(c.All[0].Issuer.Keyring.KeySet().Body)
	r, err := c.All[1].Issuer.Rekey.Rewrap(t.Context(), false)
	require.NoError(t, err)
	require.False(t, r.Resumed)
	require.Empty(t, r.Behind)
	for _, p := range c.All { // start all nodes without waiting for each other
		require.Equal(t, r.ID, p.Keys.Current().ID())
	}
	require.Equal(t, r.ID, c.AwaitSettled())
	require.NotEqual(t, before, r.ID)
	require.Len(t, c.All[0].Issuer.Keyring.KeySet().Body, ring, "the keys changed")
	c.RequireUsable()
	for _, p := range c.All {
		require.FileExists(t, p.KeyFile()+".old")
	}
	c.Restart(0, 1, 2)
	require.Equal(t, r.ID, c.AwaitSettled())
	for _, p := range c.All {
		require.Eventually(t, func() bool {
			_, err := os.Stat(p.KeyFile() + ".old")
			return errors.Is(err, fs.ErrNotExist)
		}, 20*time.Second, 10*time.Millisecond, "the old one goes with the next start")
	}
	_, err = c.All[2].Issuer.Keyring.Rotate(t.Context(), ledger.ForSigning)
	require.NoError(t, err)
	// All nodes start at the same time, so that none can ask another for a key.
	for _, p := range c.All {
		p.Stop()
	}
	var starting sync.WaitGroup
	for _, p := range c.All {
		starting.Go(func() { p.Start(false) })
	}
	starting.Wait()
	require.Equal(t, r.ID, c.AwaitSettled())
	c.RequireUsable()
}

// TestRewrapAfterCrash stops either a node or the node that runs the change, at each
// step. The change must then be finished from the same node or from another.
func TestRewrapAfterCrash(t *testing.T) {
	c := issuertest.NewPeers(t)
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
				before := c.AwaitSettled()
				for _, step := range c.All[0].Issuer.Rekey.RewrapSteps(t.Context())[:steps] {
					require.NoError(t, step())
				}
				c.Restart(who.killed)
				var r rekey.RewrapResult
				require.Eventually(t, func() bool {
					var err error
					r, err = c.All[who.next].Issuer.Rekey.Rewrap(t.Context(), false)
					return err == nil
				}, 60*time.Second, 100*time.Millisecond)
				c.Restart((who.killed + 1) % 3)
				require.NotEqual(t, before, r.ID)
				c.AwaitDropped(before)
				// The next change drops the keys of abandoned ones.
				_, err := c.All[0].Issuer.Rekey.Rewrap(t.Context(), false)
				require.NoError(t, err)
				last, err := c.All[0].Issuer.Rekey.Rewrap(t.Context(), false)
				require.NoError(t, err)
				require.Equal(t, last.ID, c.AwaitSettled())
				c.RequireUsable()
			})
		}
	}
}

// TestRewrapGoesOnByItself verifies that the change is finished without another request
// once the keyring is rewrapped.
func TestRewrapGoesOnByItself(t *testing.T) {
	c := issuertest.NewPeers(t)
	before := c.AwaitSettled()
	for _, step := range c.All[0].Issuer.Rekey.RewrapSteps(t.Context())[:4] {
		require.NoError(t, step())
	}
	c.Restart(0)
	require.NotEqual(t, before, c.AwaitSettled())
	c.RequireUsable()
}

func TestRewrapNamesWhoIsDown(t *testing.T) {
	c := issuertest.NewPeers(t)
	before := c.AwaitSettled()
	down := c.All[2]
	down.Stop()
	_, err := c.All[0].Issuer.Rekey.Rewrap(t.Context(), false)
	var refused keyring.Refused
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.Refusal(), "node n3 can't be reached")
	require.NoFileExists(t, c.All[0].KeyFile()+".new")
	require.NoFileExists(t, c.All[1].KeyFile()+".new")

	r, err := c.All[0].Issuer.Rekey.Rewrap(t.Context(), true)
	require.NoError(t, err)
	require.NotEqual(t, before, r.ID)
	require.Equal(t, []string{"n3"}, r.Behind)
	_, err = c.All[1].Issuer.Keyring.Rotate(t.Context(), ledger.ForCredentials)
	require.NoError(t, err)
	down.Start(false) // the key it has opens nothing that it receives
	require.Equal(t, r.ID, c.AwaitSettled())
	c.RequireUsable()
	// The node has stored the key while the other nodes are down.
	for _, p := range c.All {
		p.Stop()
	}
	held, err := keys.OpenClusterKeys(down.KeyFile())
	require.NoError(t, err)
	require.Equal(t, []string{r.ID}, held.StoredIDs())
}

// TestForcedRewrapNeedsAMajority: a change by a node without a majority would lock out
// the other nodes.
func TestForcedRewrapNeedsAMajority(t *testing.T) {
	c := issuertest.NewPeers(t)
	c.All[1].Stop()
	c.All[2].Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := c.All[0].Issuer.Rekey.Rewrap(ctx, true)
	require.Error(t, err)
	require.Zero(t, r, "nothing was resumed, and no node is behind")
}

func TestRewrapNamesWhoCannotKeepAKey(t *testing.T) {
	c := issuertest.NewPeers(t)
	c.AwaitSettled()
	c.All[1].Stop()
	c.All[1].Fixed = "it comes from the environment"
	c.All[1].Start(false)
	c.AwaitSettled()
	for n, want := range []string{"node n2: it comes from the environment", "this node: it comes from the environment", "node n2:"} {
		_, err := c.All[n].Issuer.Rekey.Rewrap(t.Context(), true)
		var refused keyring.Refused
		require.ErrorAs(t, err, &refused)
		require.Contains(t, refused.Refusal(), want)
	}
	for _, p := range c.All {
		require.NoFileExists(t, p.KeyFile()+".new", "a refused change stored a key")
	}
	c.AwaitSettled()
}

// TestJoinDuringARewrap verifies that a joining node receives every key that it may need.
func TestJoinDuringARewrap(t *testing.T) {
	for steps, point := range []string{"begun", "kept", "given", "held", "ring", "authority"} {
		t.Run(point, func(t *testing.T) {
			c := issuertest.NoPeers(t)
			p := c.Add()
			key, err := keys.NewClusterKey(rand.Reader)
			require.NoError(t, err)
			require.NoError(t, key.WriteFile(p.KeyFile()))
			p.Start(true)
			for _, step := range p.Issuer.Rekey.RewrapSteps(t.Context())[:steps] {
				require.NoError(t, step())
			}
			second := c.Add()
			c.Join(second)
			second.Start(false)
			r, err := p.Issuer.Rekey.Rewrap(t.Context(), false)
			for err != nil && t.Context().Err() == nil {
				r, err = p.Issuer.Rekey.Rewrap(t.Context(), false)
			}
			require.NoError(t, err)
			if !r.Resumed {
				require.NotEqual(t, key.ID(), r.ID)
			}
			_, err = p.Issuer.Rekey.Rewrap(t.Context(), false)
			require.NoError(t, err)
			c.AwaitSettled()
			c.RequireUsable()
		})
	}
}

// TestRewrapAlone verifies that a single node can change its key.
func TestRewrapAlone(t *testing.T) {
	b := issuertest.New(t)
	token := b.Exchange().RefreshToken
	_, err := b.Rekey.Rewrap(t.Context(), false)
	var refused keyring.Refused
	require.ErrorAs(t, err, &refused)
	b.Stop()

	path := filepath.Join(t.TempDir(), "cluster.key")
	require.NoError(t, b.Key.WriteFile(path))
	held, err := keys.OpenClusterKeys(path)
	require.NoError(t, err)
	b.ClusterKeys = held
	b.Start()
	r, err := b.Rekey.Rewrap(t.Context(), false)
	require.NoError(t, err)
	require.NotEqual(t, b.Key.ID(), r.ID)
	b.Stop()
	b.ClusterKeys, err = keys.OpenClusterKeys(path)
	require.NoError(t, err)
	b.Start()
	_, err = b.Refresh(token)
	require.NoError(t, err)
	require.Equal(t, r.ID, b.View().SealedUnder())
}
