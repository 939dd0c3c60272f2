package cluster_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/hashicorp/raft-wal/verifier"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// config is for a node in dir, a new one if it is empty.
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
		// A busy machine must not make a test fail.
		QueueTimeout:   20 * time.Second,
		ProposeTimeout: 20 * time.Second,
	}
}

// open starts a node that is closed with the test, if it was not before.
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

// proposeRaise raises a register until it was this caller who did it.
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
