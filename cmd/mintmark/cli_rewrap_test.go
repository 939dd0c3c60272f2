package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/keys"
)

func TestRewrapOnTheCommandLine(t *testing.T) {
	w := admintest.New(t)
	w.Cluster = admintest.NewCluster()
	var forced []bool
	answer, failure := admin.RewrapResult{ID: "0011223344556677"}, error(nil)
	w.Rewrap = func(_ context.Context, force bool) (admin.RewrapResult, error) {
		forced = append(forced, force)
		return answer, failure
	}
	c := &cliEnv{w, t, w.Serve()}
	r := c.run("", "keys", "rewrap")
	require.Equal(t, exitOK, r.code, r.err)
	require.Equal(t, "everything is sealed under the new cluster key 0011223344556677\n", r.out)
	require.Contains(t, r.err, "cluster.key.old")
	answer.Resumed = true
	require.Contains(t, c.ok("", "keys", "rewrap"), "begun before is finished")
	answer.Behind = []string{"n2", "n3"}
	require.Contains(t, c.ok("", "keys", "rewrap"), "does not hold it yet on n2, n3")
	require.Equal(t, map[string]any{"id": "0011223344556677", "resumed": true, "behind": []any{"n2", "n3"}}, c.object("keys", "rewrap", "--force"))
	require.Equal(t, []bool{false, false, false, true}, forced)
	require.Contains(t, w.Log.String(), "0011223344556677")

	failure = admintest.Rule("node n3 can't be reached")
	c.fails(exitRefused, "node n3 can't be reached", "keys", "rewrap")
	failure = fmt.Errorf("wait: %w", oauth.ErrUnavailable)
	c.fails(exitUnhealthy, "nothing can be decided now", "keys", "rewrap")
	failure = errors.New("a fault")
	c.fails(exitUnhealthy, "its log says why", "keys", "rewrap")
}

func TestRotateAuthorityOnTheCommandLine(t *testing.T) {
	c := newClusterCLI(t)
	r := c.run("", "cluster", "rotate-authority")
	require.Equal(t, exitOK, r.code, r.err)
	require.Equal(t, "authority aaaaaaaaaaaa is signing\n", r.out)
	require.Contains(t, r.err, "join tokens from before are refused")
	c.Cluster.Change(func(s *admin.ClusterStatus) { s.Nodes[2].State = admin.StateUnreachable })
	r = c.run("", "cluster", "rotate-authority")
	require.Equal(t, "authority aaaaaaaaaaaa is signing\nauthority bbbbbbbbbbbb is announced, and waits for n3\n", r.out)
	require.Contains(t, r.err, "by itself")
	require.Equal(t, false, c.object("cluster", "rotate-authority")["done"])
	c.Cluster.Fail(admintest.Rule("the authority is being changed already"))
	c.fails(exitRefused, "being changed already", "cluster", "rotate-authority")
	c.Cluster.Change(func(s *admin.ClusterStatus) { s.Unfinished = []string{"the change of the authority is not finished"} })
	require.Contains(t, c.run("", "cluster", "status").out, "problem: the change of the authority is not finished\n")

	for _, command := range [][]string{{"cluster", "remove"}, {"cluster", "rotate-authority"}, {"keys", "rewrap"}} {
		help, _, err := rootCommand().Find(command)
		require.NoError(t, err)
		at := 0
		for _, step := range []string{"cluster remove", "cluster rotate-authority", "keys rewrap", "keys rotate --emergency"} {
			next := strings.Index(help.Long[at:], "mintmark "+step)
			require.Positive(t, next, "%v: %s", command, step)
			at += next
		}
	}
}

func TestOverdueChangeOfTheAuthority(t *testing.T) {
	made := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	signs := cluster.AuthorityStatus{ID: strings.Repeat("a", 64), State: cluster.AuthoritySigning, Made: made.Add(-24 * time.Hour)}
	next := cluster.AuthorityStatus{ID: strings.Repeat("b", 64), State: cluster.AuthorityAnnounced, Made: made, Waits: []string{"n2", "n3"}}
	for name, test := range map[string]struct {
		all   []cluster.AuthorityStatus
		after time.Duration
		want  []string
	}{
		"one":      {[]cluster.AuthorityStatus{signs}, 48 * time.Hour, nil},
		"none":     {nil, time.Hour, nil},
		"begun":    {[]cluster.AuthorityStatus{signs, next}, 59 * time.Minute, nil},
		"too long": {[]cluster.AuthorityStatus{signs, next}, time.Hour, []string{"the change of the authority that began on 2026-11-21T09:00:00Z is not finished: aaaaaaaaaaaa is signing; bbbbbbbbbbbb is announced and waits for n2, n3; start those nodes, or remove them"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, overdue(test.all, made.Add(test.after)))
		})
	}
}

// operate runs a command against a node of three, as main does.
func (n *nodeProcess) operate(t testing.TB, args ...string) cliResult {
	t.Helper()
	var out, remarks bytes.Buffer
	root := rootCommand()
	root.SetArgs(append(args, "--data-dir", n.dir))
	root.SetOut(&out)
	root.SetErr(&remarks)
	err := root.ExecuteContext(t.Context())
	if err != nil {
		remarks.WriteString(err.Error() + "\n")
	}
	return cliResult{out.String(), remarks.String(), exitCode(err)}
}

// sameKey waits until all nodes have one cluster key, and nothing else beside
// it than the one before.
func (c *cluster3) sameKey() (id string) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		for i, n := range c.nodes {
			key, err := keys.ReadClusterKey(filepath.Join(n.dir, "cluster.key"))
			if err != nil || i > 0 && key.ID() != id {
				return false
			}
			if id = key.ID(); exists(filepath.Join(n.dir, "cluster.key.new")) {
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

// TestSuspectNode goes through the procedure of the help texts with real
// processes, some of them down or killed while keys change.
func TestSuspectNode(t *testing.T) {
	dir := t.TempDir()
	ts := startTestServer(t, dir, fixtureText)
	token := ts.tokens("cal-app").Refresh
	ts.close()
	c := startCluster3(t, dir, filepath.Join(dir, "data"))
	refresh := func(n *nodeProcess) {
		t.Helper()
		r, err := http.PostForm(n.url+oauth.PathToken, url.Values{
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
	require.Equal(t, exitOK, r.code, r.err)
	for _, n := range c.nodes { // already
		key, err := keys.ReadClusterKey(filepath.Join(n.dir, "cluster.key"))
		require.NoError(t, err)
		require.Contains(t, r.out, key.ID())
	}
	first := c.sameKey()
	require.NotEqual(t, before, first)
	require.Contains(t, r.out, first)
	refresh(c.nodes[2])

	c.nodes[2].kill()
	r = c.nodes[0].operate(t, "keys", "rewrap")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.err, "node n3 can't be reached")
	r = c.nodes[0].operate(t, "keys", "rewrap", "--force")
	require.Equal(t, exitOK, r.code, r.err)
	require.Contains(t, r.out, "does not hold it yet on n3")
	r = c.nodes[1].operate(t, "cluster", "rotate-authority", "-o", "json")
	require.Equal(t, exitOK, r.code, r.err)
	require.Contains(t, r.out, `"done": false`)
	refresh(c.nodes[1])
	c.nodes[2].start(t) // with the key before, and certificates of the authority before
	c.settle()
	require.NotEqual(t, first, c.sameKey())
	refresh(c.nodes[2])
	require.Eventually(t, func() bool {
		r := c.nodes[2].operate(t, "cluster", "rotate-authority", "-o", "json")
		return r.code == exitOK && strings.Contains(r.out, `"done": true`)
	}, 30*time.Second, 100*time.Millisecond, "the change before is done")

	for round := range 3 {
		asked, killed := c.nodes[round], c.nodes[(round+round%2)%3]
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = asked.operate(t, "keys", "rewrap")
		}()
		time.Sleep(time.Duration(20*round) * time.Millisecond) // no matter where it is
		killed.kill()
		<-done
		killed.start(t)
		c.settle()
		require.Eventually(t, func() bool {
			return asked.operate(t, "keys", "rewrap").code == exitOK
		}, time.Minute, 100*time.Millisecond)
		refresh(killed)
	}
	r = c.nodes[0].operate(t, "keys", "rewrap")
	require.Equal(t, exitOK, r.code, r.err)
	c.sameKey()
	var ring admin.KeyList
	require.NoError(t, json.Unmarshal([]byte(c.nodes[0].operate(t, "keys", "list", "-o", "json").out), &ring))
	var leaked string
	for _, k := range ring.Keys {
		if k.Purpose == "signing" && k.State == "active" {
			leaked = k.ID
		}
	}
	r = c.nodes[0].operate(t, "keys", "rotate", "--emergency", leaked)
	require.Equal(t, exitOK, r.code, r.err)
	require.Contains(t, r.out, "key "+leaked+" is dropped\n")
	for _, n := range c.nodes {
		refresh(n)
	}
}

func TestNewClusterKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cluster.key")
	c := &cliEnv{t: t, dir: t.TempDir()}
	var made newClusterKey
	require.NoError(t, json.Unmarshal([]byte(c.ok("", "keys", "new-cluster-key", file, "-o", "json")), &made))
	key, err := keys.ReadClusterKey(file)
	require.NoError(t, err)
	require.Equal(t, newClusterKey{file, key.ID()}, made)
	c.fails(exitLocal, "exists", "keys", "new-cluster-key", file)
	text := strings.TrimSpace(string(key.Text()))
	r := c.run("", "keys", "new-cluster-key", file+"2")
	require.Equal(t, exitOK, r.code)
	require.Contains(t, r.err, "safe place")
	require.NotContains(t, r.out+r.err, text)
}
