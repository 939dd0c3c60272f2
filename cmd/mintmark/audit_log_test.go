package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// auditSeqs returns the Seqs of the events in a node's log, in the order of its lines.
func (n *nodeProcess) auditSeqs(t testing.TB) (seqs []uint64) {
	t.Helper()
	for _, line := range n.logLines(t) {
		if group, ok := line["audit"].(map[string]any); ok {
			seqs = append(seqs, uint64(group["seq"].(float64)))
		}
	}
	return seqs
}

// trail returns the Seqs of the whole audit trail, as this node lists it.
func (n *nodeProcess) trail(t testing.TB) (seqs []uint64) {
	t.Helper()
	list, err := admin.Audit.Call(t.Context(), n.operator(t), admin.EventFilter{})
	require.NoError(t, err)
	for _, e := range list.Events {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

// TestEveryEventIsLogged: the leader logs every event in order, also across a change of
// the leader. "mintmark audit --follow" on a surviving node prints each event once.
func TestEveryEventIsLogged(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "data")
	seed(t, dir, 1)
	c := startCluster3(t, dir, first, "--log-format", "json")
	old := c.Leader()
	survivor := c.nodes[(old+1)%3]

	self, err := os.Executable()
	require.NoError(t, err)
	follower := exec.CommandContext(t.Context(), self, "audit", "--data-dir", survivor.Dir, "--after", "0", "--follow", "-o", "jsonl")
	follower.Env = append(follower.Environ(), runAs+"=mintmark")
	out, err := follower.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, follower.Start())
	t.Cleanup(func() { _ = follower.Process.Kill() })
	followed := make(chan uint64, 10_000)
	go func() {
		defer close(followed)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var e admin.Event
			if json.Unmarshal(lines.Bytes(), &e) != nil {
				return
			}
			followed <- e.Seq
		}
	}()

	change := func(n *nodeProcess, from, to int) {
		operator := n.operator(t)
		for i := from; i < to; i++ {
			require.Eventually(t, func() bool {
				_, err := admin.AddUser.Call(t.Context(), operator, admin.NewUser{Username: fmt.Sprint("user-", i), Password: "a password of theirs"})
				return err == nil
			}, 20*time.Second, 50*time.Millisecond)
		}
	}
	change(survivor, 0, 20)
	require.NoError(t, c.nodes[old].Process().Signal(syscall.SIGKILL))
	_ = c.nodes[old].Process().Wait()
	change(survivor, 20, 40)

	all := survivor.trail(t)
	require.Greater(t, len(all), 40)
	require.Eventually(t, func() bool {
		logged := map[uint64]bool{}
		for _, n := range c.nodes {
			seqs := n.auditSeqs(t)
			require.True(t, slices.IsSorted(seqs), "%s: %v", n.Name, seqs)
			for _, seq := range seqs {
				logged[seq] = true
			}
		}
		return !slices.ContainsFunc(all, func(seq uint64) bool { return !logged[seq] })
	}, 20*time.Second, 50*time.Millisecond, "each event is a line of some node")

	var got []uint64
	for len(got) < len(all) {
		select {
		case seq, open := <-followed:
			require.True(t, open, "audit --follow ended early: %v of %v", got, all)
			got = append(got, seq)
		case <-time.After(20 * time.Second):
			require.Fail(t, "audit --follow did not print all events", "%v of %v", got, all)
		}
	}
	require.Equal(t, all, got)
	require.NoError(t, follower.Process.Signal(syscall.SIGINT))
	require.NoError(t, follower.Wait())
}
