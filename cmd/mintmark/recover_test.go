package main

import (
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// TestRecoverFromALaggingSurvivor: clients used two nodes that were then lost, while the
// third was stopped. After the recovery of the third, nobody is signed out, a thief is
// detected at the second fast-forward, and revocations of the lost nodes stay.
func TestRecoverFromALaggingSurvivor(t *testing.T) {
	const clients = 23
	const thief, revoked = clients, 40 // grants beyond those of the clients
	dir := t.TempDir()
	_, tokens, _ := seed(t, dir, revoked+1)
	c := startCluster3(t, dir, filepath.Join(dir, "data"))
	survivor, rest := c.nodes[2], c.nodes[:2]
	survivor.Stop()
	require.True(t, rest[0].WaitReady(20*time.Second))

	refresh := func(n *nodeProcess, i int) {
		t.Helper()
		status, next := tokenAnswer(t, n.Public, tokens[i])
		require.Equal(t, http.StatusOK, status, "grant %d", i)
		tokens[i] = next
	}
	for i := range clients {
		for range 1 + i%3 {
			refresh(rest[i%2], i)
		}
	}
	refresh(rest[0], thief)
	stolen := tokens[thief]
	refresh(rest[0], thief)
	refresh(rest[0], thief)
	refresh(rest[0], revoked)
	operator := operatorOf(t, rest[0].Dir)
	operator.OK("", "user", "disable", "user2")
	for _, n := range rest {
		n.Kill() // before the node has journaled that the user is disabled
	}

	operator = operatorOf(t, survivor.Dir)
	r := operator.Run("", "cluster", "recover", "--yes", "--journal", rest[0].Dir, "--journal", rest[1].Dir)
	require.Equal(t, cli.ExitOK, r.Code, r.Err)
	require.Contains(t, r.Out, "at the next start it changes:\n")
	require.Contains(t, r.Err, "all revocations up to then are known; what else the lost nodes decided")
	require.NotContains(t, r.Err, "may have come back")
	require.NotContains(t, r.Err, "lost: ")
	require.Contains(t, r.Out, "user u-2 disabled")
	survivor.start(t)
	require.True(t, survivor.WaitReady(20*time.Second))

	for range 2 { // first the fast-forward, then an ordinary refresh
		for i := range clients {
			refresh(survivor, i)
		}
	}
	status, next := tokenAnswer(t, survivor.Public, stolen)
	require.Equal(t, http.StatusOK, status, "the first fast-forward is accepted, whoever sends it")
	status, _ = tokenAnswer(t, survivor.Public, tokens[thief])
	require.Equal(t, http.StatusBadRequest, status, "the second fast-forward is refused")
	status, _ = tokenAnswer(t, survivor.Public, next)
	require.Equal(t, http.StatusBadRequest, status, "the second fast-forward ended the grant")
	status, _ = tokenAnswer(t, survivor.Public, tokens[revoked])
	require.Equal(t, http.StatusBadRequest, status, "a revoked grant stays revoked")
	require.Contains(t, operator.OK("", "user", "show", "user2"), "disabled")
}

// TestRecoverBehindACutLink: an unreachable node may belong to a healthy majority, and
// recovering the survivor would end that majority. So the operator has to state that
// unreachable nodes are lost. If that was wrong, the majority's data can still be read.
func TestRecoverBehindACutLink(t *testing.T) {
	dir := t.TempDir()
	seed(t, dir, 1)
	c := startCluster3(t, dir, filepath.Join(dir, "data"))
	hung, dead, survivor := c.nodes[0], c.nodes[1], c.nodes[2]
	survivor.Stop()
	require.True(t, hung.WaitReady(20*time.Second))
	operatorOf(t, hung.Dir).OK("", "user", "disable", "user0")
	require.NoError(t, hung.Process().Signal(syscall.SIGSTOP))
	dead.Kill()

	operator := operatorOf(t, survivor.Dir)
	mark := filepath.Join(survivor.Dir, "raft", "recovered")
	r := operator.Run("", "cluster", "recover", "--yes")
	require.Equal(t, cli.ExitLocal, r.Code, r.Err)
	require.Contains(t, r.Err, "given up for good: n1 at "+hung.Raft+"; it could not be reached: no answer from "+hung.Raft)
	require.Contains(t, r.Err, "given up for good: n2 at "+dead.Raft+"; it refused the connection: no process listens there, or a firewall rejects")
	require.Contains(t, r.Err, "recover: n1 could not be reached, which does not mean that it is lost")
	require.Contains(t, r.Err, "--unreachable-are-lost")
	require.NoFileExists(t, mark)
	r = operator.Run("", "cluster", "recover", "--unreachable-are-lost")
	require.Equal(t, cli.ExitLocal, r.Code, r.Err)
	require.NoFileExists(t, mark, "--unreachable-are-lost does not imply --yes")
	r = operator.Run("", "cluster", "recover", "--yes", "--unreachable-are-lost")
	require.Equal(t, cli.ExitOK, r.Code, r.Err)
	survivor.start(t)
	require.True(t, survivor.WaitReady(20*time.Second))

	// The node was not lost.
	require.NoError(t, hung.Process().Signal(syscall.SIGCONT))
	operator = operatorOf(t, hung.Dir)
	require.Eventually(t, func() bool {
		s, err := admin.ShowCluster.Call(t.Context(), hung.operator(t), admin.StatusQuery{})
		return err == nil && s.Removed != ""
	}, 20*time.Second, 20*time.Millisecond)
	saved := filepath.Join(dir, "saved")
	r = operator.Run("", "cluster", "backup", "save", saved)
	require.NotEqual(t, cli.ExitOK, r.Code)
	require.Contains(t, r.Err, "stop it; its data can still be read")
	require.NoFileExists(t, saved)
	operator.OK("", "cluster", "backup", "journal", saved+".running")
	hung.Stop()
	key := readFile(t, filepath.Join(hung.Dir, "cluster.key"))
	r = operator.Run("", "cluster", "backup", "save", saved)
	require.Equal(t, cli.ExitOK, r.Code, r.Err)
	require.Contains(t, r.Err, "no node runs here")
	operator.OK("", "cluster", "backup", "journal", saved+".journal")
	require.Contains(t, operator.OK("", "cluster", "backup", "inspect", saved), "from the folder of a node that did not run")

	w := startTestNode(t)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "cluster.key"), key, 0o600))
	_, err := w.restore(readFile(t, saved), admin.RestoreOptions{
		Journals:  [][]byte{readFile(t, saved+".journal"), readFile(t, saved+".running")},
		AcceptGap: true, // the log may end with entries that no other node had
	})
	require.NoError(t, err)
	require.True(t, w.view().User("u-0").Disabled, "a change that only the abandoned nodes had")
}
