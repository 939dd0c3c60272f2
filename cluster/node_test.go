package cluster_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

// TestOpenEmptyFolderIsQuick: a sole voter does not wait for the election timeout.
func TestOpenEmptyFolderIsQuick(t *testing.T) {
	t.Parallel()
	n := open(t, cluster.WithHooks(config(t, ""), cluster.Hooks{Raft: func(c *raft.Config) {
		c.HeartbeatTimeout, c.ElectionTimeout = time.Hour, time.Hour
	}}))
	require.NoError(t, n.Ready(t.Context()))
	require.Len(t, n.ID(), 16)
}

func TestProposeDecidesInOrder(t *testing.T) {
	t.Parallel()
	n := open(t, config(t, ""))
	const callers, each = 64, 20
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			known := uint64(0)
			for done := 0; done < each; {
				r, index, err := proposeRaise(t.Context(), n, "shared", known)
				if err != nil {
					t.Error(err)
					return
				}
				if r.OK {
					done++
					if r.Value != known+1 {
						t.Errorf("caller %d: raised %d to %d", i, known, r.Value)
					}
					txn, err := n.ViewAt(t.Context(), index)
					if err != nil || machinetest.Find(txn, "shared").Value < r.Value {
						t.Errorf("the view at %d does not show %d: %v", index, r.Value, err)
					}
				}
				known = r.Value
			}
		})
	}
	wg.Wait()
	require.Equal(t, uint64(callers*each), machinetest.Find(n.View(), "shared").Value)
}

func TestRestartReplays(t *testing.T) {
	t.Parallel()
	for name, snapshot := range map[string]int{"no snapshot": -1, "snapshot and log": 30, "snapshot": 49} {
		t.Run(name, func(t *testing.T) {
			c := config(t, "")
			n := open(t, c)
			for i := range 50 {
				_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: fmt.Sprint(i), Value: uint64(i)})
				require.NoError(t, err)
				if i == snapshot {
					require.NoError(t, n.Snapshot())
				}
			}
			sum, applied := n.Checksum()
			id, seq := n.ID(), n.Seq()
			shut(t, n)

			n = open(t, c)
			require.Equal(t, id, n.ID())
			require.Equal(t, seq, n.Seq())
			again, appliedAgain := n.Checksum()
			require.Equal(t, sum, again)
			require.Equal(t, applied, appliedAgain)
			v, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "after"})
			require.NoError(t, err)
			require.Equal(t, uint64(51), v.(command.Meta).Seq, "the sequence survives")
		})
	}
}
