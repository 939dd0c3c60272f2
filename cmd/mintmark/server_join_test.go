package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/keys"
)

// newNode returns a node with its own ports and folder, not started.
func newNode(t testing.TB, name string) *nodeProcess {
	t.Helper()
	n := newNodeProcess(t, t.TempDir(), name)
	n.Dir = t.TempDir()
	return n
}

// refused returns the output of "mintmark serve" that fails to start.
func (n *nodeProcess) refused(t testing.TB, more ...string) string {
	t.Helper()
	c := self(t, "mintmark", n.Dir, n.ServeArgs(more...)...)
	out, err := c.CombinedOutput()
	require.Error(t, err)
	return string(out)
}

// newCluster returns a cluster of one that others can join.
func newCluster(t testing.TB, name string) *nodeProcess {
	t.Helper()
	n := newNode(t, name)
	n.launch(t)
	require.Eventually(t, func() bool {
		return n.operate(t, "cluster", "init", "--public-url", "https://id.example").Code == cli.ExitOK
	}, 30*time.Second, 50*time.Millisecond)
	require.True(t, n.WaitReady(30*time.Second))
	return n
}

func (n *nodeProcess) invite(t testing.TB, name string) string {
	t.Helper()
	r := n.operate(t, "cluster", "invite", "--name", name)
	require.Equal(t, cli.ExitOK, r.Code, r.Err)
	return r.Out
}

// requireStatus waits until both the readiness check and "cluster status" contain a text.
func (n *nodeProcess) requireStatus(t testing.TB, text string) {
	t.Helper()
	var ready, status string
	require.Eventually(t, func() bool {
		r, err := http.Get(n.OpsURL() + "/readyz?verbose")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		ready, status = string(b), n.operate(t, "cluster", "status").Out
		return err == nil && r.StatusCode == http.StatusServiceUnavailable && strings.Contains(ready, text) && strings.Contains(status, text)
	}, 30*time.Second, 50*time.Millisecond, "%q\n%s\n%s", text, &ready, &status)
}

// TestRefusedJoinWaitsForAnotherToken: after a refused join the process keeps running,
// reports why, and joins once the file has a valid token.
func TestRefusedJoinWaitsForAnotherToken(t *testing.T) {
	first, other := newCluster(t, "n1"), newCluster(t, "x1")
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) { require.NoError(t, os.WriteFile(file, []byte(token), 0o600)) }
	used := first.invite(t, "n2")
	good := first.invite(t, "n2") // replaces the previous token

	write("mintmark-join-nonsense")
	joins := newNode(t, "n2")
	joins.launch(t, "--join", first.Raft, "--token-file", file)
	joins.requireStatus(t, "join refused: this is not a join token")
	write(other.invite(t, "n2"))
	joins.requireStatus(t, "join refused: the node that answers belongs to another cluster")
	write(used)
	joins.requireStatus(t, "join refused: the join token is not known, or has expired")
	require.NoError(t, os.Chmod(file, 0o640))
	write(good)
	joins.requireStatus(t, "join refused: others can read "+file)
	require.NoError(t, os.Chmod(file, 0o600))
	require.True(t, joins.WaitReady(30*time.Second))
	require.Equal(t, cli.ExitOK, joins.operate(t, "cluster", "status").Code)
}

// TestTokenThatOthersCanRead: a token file that other users can read is refused, as every
// secret file is.
func TestTokenThatOthersCanRead(t *testing.T) {
	n := newNode(t, "n2")
	file := filepath.Join(t.TempDir(), "token")
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o602} {
		require.NoError(t, os.WriteFile(file, []byte("mintmark-join-x"), 0o600))
		require.NoError(t, os.Chmod(file, mode))
		require.Contains(t, n.refused(t, "--join", "127.0.0.1:1", "--token-file", file), "chmod 600 "+file, "%o", mode)
	}
}

// TestJoinWithAnotherClusterKey: a join is refused if the node has another cluster key.
func TestJoinWithAnotherClusterKey(t *testing.T) {
	first := newCluster(t, "n1")
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(first.invite(t, "n2")), 0o600))
	joins := newNode(t, "n2")
	key, err := keys.NewClusterKey(bytes.NewReader(bytes.Repeat([]byte{7}, 32)))
	require.NoError(t, err)
	require.NoError(t, key.WriteFile(filepath.Join(joins.Dir, "cluster.key")))
	joins.launch(t, "--join", first.Raft, "--token-file", file)
	joins.requireStatus(t, "join refused: this node was given another cluster key")
}

// TestJoinWaitsForTheNodeItAsks: a join is retried until the node that it asks is up.
func TestJoinWaitsForTheNodeItAsks(t *testing.T) {
	first := newCluster(t, "n1")
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(first.invite(t, "n2")), 0o600))
	first.Kill()
	joins := newNode(t, "n2")
	joins.launch(t, "--join", first.Raft, "--token-file", file)
	joins.requireStatus(t, "not joined yet: join: the connection to "+first.Raft+" was refused")
	first.launch(t)
	require.True(t, joins.WaitReady(30*time.Second))

	want, err := keys.ReadClusterKey(filepath.Join(first.Dir, "cluster.key"))
	require.NoError(t, err)
	got, err := keys.ReadClusterKey(filepath.Join(joins.Dir, "cluster.key"))
	require.NoError(t, err)
	require.True(t, got.Equal(want), "the joined node received the cluster key")
	info, err := os.Stat(filepath.Join(joins.Dir, "cluster.key"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
}

// TestRemovedNodeSaysSo: a removed node reports its removal, without the advice to
// recover it as a cluster of one.
func TestRemovedNodeSaysSo(t *testing.T) {
	first := newCluster(t, "n1")
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(first.invite(t, "n2")), 0o600))
	second := newNode(t, "n2")
	second.launch(t, "--join", first.Raft, "--token-file", file)
	require.True(t, second.WaitReady(30*time.Second))
	require.Eventually(t, func() bool { // the node may have to become a voter first
		return strings.Contains(first.operate(t, "cluster", "remove", "n2", "--yes").Out, "is removed")
	}, 30*time.Second, 50*time.Millisecond)
	second.requireStatus(t, "was removed from the cluster")
	require.NotContains(t, second.operate(t, "cluster", "status").Out, "recover")
	require.Eventually(t, func() bool { // reported before it is on disk
		return exists(filepath.Join(second.Dir, "raft", "removed"))
	}, 30*time.Second, 10*time.Millisecond)
	second.Kill()
	require.Contains(t, second.refused(t), "was removed from the cluster")
	require.True(t, first.WaitReady(30*time.Second), "the remaining node is ready")
}
