package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

func TestCloseLeavesNothing(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	n := open(t, config(t, ""))
	duties := make(chan struct{})
	go func() {
		defer close(duties)
		n.WhileLeading(context.Background(), func(ctx context.Context) { <-ctx.Done() })
	}()
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := 0; ; j++ {
				_, _, err := n.Propose(context.Background(), &machinetest.Set{Name: fmt.Sprint(i), Value: uint64(j)})
				if err == nil {
					_, err = n.ViewFresh(context.Background())
				}
				if err != nil {
					if !errors.Is(err, cluster.ErrUnavailable) {
						t.Error("a command proposed before Close had no definite outcome:", err)
					}
					return
				}
			}
		})
	}
	for n.Seq() < 500 {
		runtime.Gosched()
	}
	require.NoError(t, n.Snapshot())
	shut(t, n)
	wg.Wait()
	<-duties
	require.NoError(t, n.Close(t.Context()), "a second Close is harmless")
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.ErrorIs(t, err, cluster.ErrUnavailable)
	require.NotZero(t, machinetest.Find(n.View(), "1").Seq, "views outlive the node")
	goleak.VerifyNone(t, ignore)
}

func TestFailedOpenLeavesNothing(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	c := config(t, "")
	n := open(t, c)
	_, err := cluster.Open(t.Context(), c)
	require.ErrorContains(t, err, "another process")
	shut(t, n)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		if n, err := cluster.Open(ended, c); err == nil {
			shut(t, n) // the node was elected before Open looked at the context
		} else {
			require.ErrorIs(t, err, context.Canceled)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(c.Dir, "log", "wal-meta.db"), []byte("rubbish"), 0o600))
	_, err = cluster.Open(t.Context(), c)
	require.Error(t, err)
	goleak.VerifyNone(t, ignore)
}

// TestKilledBootstrap: a first start that was killed between raft's two writes can be
// repeated.
func TestKilledBootstrap(t *testing.T) {
	c := config(t, "")
	s := openStore(t, c.Dir)
	require.NoError(t, s.Stable.SetUint64([]byte("CurrentTerm"), 1))
	require.NoError(t, s.Close())
	n := open(t, c)
	require.NoError(t, n.Ready(t.Context()))
}

// TestUnfinishedSnapshotIsDropped: the rest of a snapshot that a crash interrupted is
// deleted.
func TestUnfinishedSnapshotIsDropped(t *testing.T) {
	c := config(t, "")
	left := filepath.Join(c.Dir, "snapshots", "2-9-1.tmp")
	require.NoError(t, os.MkdirAll(left, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(left, "state.bin"), []byte("half"), 0o600))
	open(t, c)
	require.NoDirExists(t, left)
}

// TestUnreadableLogStopsTheNode: a node stops at an entry that it can't decode, since
// skipping it would make the nodes' states differ.
func TestUnreadableLogStopsTheNode(t *testing.T) {
	for name, entry := range map[string][]byte{
		"unknown kind": machinetest.Entry(machine.Encoded{Kind: 99, Body: []byte{0xa0}}),
		"rubbish":      []byte("rubbish"),
		"empty":        {},
	} {
		t.Run(name, func(t *testing.T) {
			stopped := make(chan error, 1)
			c := config(t, "")
			c.Fatal = func(err error) {
				stopped <- err
				runtime.Goexit()
			}
			n := open(t, c)
			_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a", Value: 1})
			require.NoError(t, err)
			n.Raft().Apply(entry, time.Second)
			require.ErrorContains(t, <-stopped, "log entry")
			require.Equal(t, uint64(1), n.Seq())
		})
	}
}

func TestWhileLeading(t *testing.T) {
	n := open(t, config(t, ""))
	leads, _ := n.Leading()
	require.True(t, leads)
	started, ended := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		n.WhileLeading(ctx, func(ctx context.Context) {
			close(started)
			<-ctx.Done()
		})
	}()
	<-started
	cancel()
	<-ended
}
