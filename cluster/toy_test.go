package cluster_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/hashicorp/raft-wal/verifier"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// config returns the configuration of a node in dir, or in a new folder if dir is empty.
func config(t testing.TB, dir string) cluster.Config {
	if dir == "" {
		dir = t.TempDir()
	}
	return cluster.Config{
		Dir:         dir,
		Bootstrap:   true,
		Machine:     machinetest.Toy(),
		Logger:      slog.New(slog.NewTextHandler(io.Discard, nil)),
		SegmentSize: 4 << 20,
		// Long enough for a busy machine.
		QueueTimeout:   20 * time.Second,
		ProposeTimeout: 20 * time.Second,
	}
}

// open starts a node and closes it at the end of the test.
func open(t testing.TB, c cluster.Config) *cluster.Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	n, err := cluster.Open(ctx, c)
	require.NoError(t, err)
	t.Cleanup(func() { shut(t, n) })
	return n
}

func shut(t testing.TB, n *cluster.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(t, n.Close(ctx))
}

// proposeRaise proposes to raise a register whose value the caller knows, and returns the
// outcome and the index.
func proposeRaise(ctx context.Context, n *cluster.Node, name string, known uint64) (machinetest.Raised, uint64, error) {
	v, index, err := n.Propose(ctx, &machinetest.Raise{Name: name, Known: known})
	if err != nil {
		return machinetest.Raised{}, 0, err
	}
	r, ok := v.(machinetest.Raised)
	if !ok {
		return machinetest.Raised{}, 0, errors.New("not the outcome of raise")
	}
	return r, index, nil
}

// entryAt returns a log entry of a running node.
func entryAt(t testing.TB, n *cluster.Node, index uint64) []byte {
	t.Helper()
	var l raft.Log
	require.NoError(t, n.Logs().GetLog(index, &l))
	return l.Data
}

// openStore opens the log in the folder of a node that does not run.
func openStore(t testing.TB, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{
		Dir: dir, SegmentSize: 4 << 20, Log: hclog.NewNullLogger(), Fatal: func(err error) { t.Error(err) },
		Committed: func() uint64 { return 0 }, Report: func(verifier.VerificationReport) {},
	})
	require.NoError(t, err)
	return s
}

// readCommitMarker returns the index in the commit marker of a folder.
func readCommitMarker(t testing.TB, dir string) uint64 {
	t.Helper()
	p, err := integrity.ReadOptionalCommitMarker(dir)
	require.NoError(t, err)
	return p.Index
}

func writeCommitMarker(t testing.TB, dir string, index uint64) {
	t.Helper()
	require.NoError(t, integrity.WriteCommitMarker(dir, integrity.Position{Index: index}))
}

// reported reports whether a node has updated its row in the state.
func reported(n *cluster.Node) bool {
	me, ok := n.Folder().PeerList.Member(n.ID())
	return ok && me.Issuer != ""
}

// forgetPeer removes a member from the peer list of n, so that n does not dial it.
func forgetPeer(t testing.TB, n *cluster.Node, name string) {
	t.Helper()
	l := n.Folder().PeerList.Get()
	l.Members = slices.DeleteFunc(slices.Clone(l.Members), func(m member.Member) bool { return m.Name == name })
	l.Seq = math.MaxUint64 // no later list replaces it
	require.NoError(t, n.Folder().PeerList.Set(l))
}

// setPeerListLevel changes the feature level in the peer list of a node that is stopped,
// and returns the level before.
func setPeerListLevel(t testing.TB, dir string, level uint32) (was uint32) {
	t.Helper()
	r, err := member.OpenPeerList(dir)
	require.NoError(t, err)
	l := r.Get()
	was, l.Level = l.Level, level
	require.NoError(t, r.Replace(l))
	return was
}

// guessLeader makes a node assume that another one leads, as after a report while raft
// knows no leader. It reports whether raft knew none.
func guessLeader(n *cluster.Node, id string) bool {
	n.Elector().GuessLeader(id)
	guess, _ := n.Elector().LeaderUnknown()
	return guess == id
}

// unconfirmedJumps returns the sum of the jumps of a node's clock that no other node
// confirmed.
func unconfirmedJumps(n *cluster.Node) time.Duration {
	v, _ := n.Clock().Report()
	return v.Unconfirmed
}
