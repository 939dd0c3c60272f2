package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/keys"
)

// sameKey waits until all nodes have the same cluster key and no node has an unfinished
// one.
func (c *cluster3) sameKey() (id string) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		for i, n := range c.nodes {
			key, err := keys.ReadClusterKey(filepath.Join(n.Dir, "cluster.key"))
			if err != nil || i > 0 && key.ID() != id {
				return false
			}
			if id = key.ID(); exists(filepath.Join(n.Dir, "cluster.key.new")) {
				return false
			}
		}
		return true
	}, 30*time.Second, 20*time.Millisecond)
	return id
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestSuspectNode follows the procedure of the help texts with real processes, some of
// which are down or killed while keys change.
func TestSuspectNode(t *testing.T) {
	dir := t.TempDir()
	ts := startTestServer(t, dir, fixtureText)
	token := ts.tokens("cal-app").Refresh
	ts.close()
	c := startCluster3(t, dir, filepath.Join(dir, "data"))
	refresh := func(n *nodeProcess) {
		t.Helper()
		r, err := http.PostForm(n.URL()+oauth.PathToken, url.Values{
			"grant_type": {"refresh_token"}, "refresh_token": {token}, "client_id": {"cal-app"}, "client_secret": {"cal-app-secret"},
		})
		require.NoError(t, err)
		defer r.Body.Close()
		var a struct {
			Refresh string `json:"refresh_token"`
		}
		require.NoError(t, json.NewDecoder(r.Body).Decode(&a))
		require.Equal(t, http.StatusOK, r.StatusCode)
		token = a.Refresh
	}
	before := c.sameKey()
	r := c.nodes[1].operate(t, "keys", "rewrap")
	require.Equal(t, cli.ExitOK, r.Code, r.Err)
	for _, n := range c.nodes { // every node has it when the command returns
		key, err := keys.ReadClusterKey(filepath.Join(n.Dir, "cluster.key"))
		require.NoError(t, err)
		require.Contains(t, r.Out, key.ID())
	}
	first := c.sameKey()
	require.NotEqual(t, before, first)
	require.Contains(t, r.Out, first)
	refresh(c.nodes[2])

	c.nodes[2].Kill()
	r = c.nodes[0].operate(t, "keys", "rewrap")
	require.Equal(t, cli.ExitRefused, r.Code)
	require.Contains(t, r.Err, "node n3 can't be reached")
	r = c.nodes[0].operate(t, "keys", "rewrap", "--yes")
	require.Equal(t, cli.ExitOK, r.Code, r.Err)
	require.Contains(t, r.Out, "does not hold it yet on n3")
	r = c.nodes[1].operate(t, "cluster", "rotate-authority", "-o", "json")
	require.Equal(t, cli.ExitOK, r.Code, r.Err)
	require.Contains(t, r.Out, `"done": false`)
	refresh(c.nodes[1])
	c.nodes[2].start(t) // with the previous key and certificates of the previous authority
	c.Settle()
	require.NotEqual(t, first, c.sameKey())
	refresh(c.nodes[2])
	require.Eventually(t, func() bool {
		r := c.nodes[2].operate(t, "cluster", "rotate-authority", "-o", "json")
		return r.Code == cli.ExitOK && strings.Contains(r.Out, `"done": true`)
	}, 30*time.Second, 100*time.Millisecond, "the earlier change of the authority completes")

	for round := range 3 {
		asked, killed := c.nodes[round], c.nodes[(round+round%2)%3]
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = asked.operate(t, "keys", "rewrap")
		}()
		time.Sleep(time.Duration(20*round) * time.Millisecond) // kill at any point of the change
		killed.Kill()
		<-done
		killed.start(t)
		c.Settle()
		require.Eventually(t, func() bool {
			return asked.operate(t, "keys", "rewrap").Code == cli.ExitOK
		}, time.Minute, 100*time.Millisecond)
		refresh(killed)
	}
	r = c.nodes[0].operate(t, "keys", "rewrap")
	require.Equal(t, cli.ExitOK, r.Code, r.Err)
	c.sameKey()
	var ring admin.KeyList
	require.NoError(t, json.Unmarshal([]byte(c.nodes[0].operate(t, "keys", "list", "-o", "json").Out), &ring))
	var leaked string
	for _, k := range ring.Keys {
		if k.Purpose == "signing" && k.State == "active" {
			leaked = k.ID
		}
	}
	r = c.nodes[0].operate(t, "keys", "rotate", "--emergency", leaked)
	require.Equal(t, cli.ExitOK, r.Code, r.Err)
	require.Contains(t, r.Out, "key "+leaked+" is dropped\n")
	for _, n := range c.nodes {
		refresh(n)
	}
}
