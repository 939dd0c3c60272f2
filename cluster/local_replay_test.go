package cluster_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
)

// TestNodeWithoutLeaderShowsWhatItHad: a node starts while two of three are down, and
// replays its committed log entries locally. Raft alone would restore its snapshot only.
func TestNodeWithoutLeaderShowsWhatItHad(t *testing.T) {
	t.Parallel()
	for name, snapshot := range map[string]bool{"from the log": false, "from a snapshot and the log": true} {
		t.Run(name, func(t *testing.T) {
			tr := newCluster3(t)
			for i := range uint64(200) {
				_, _, err := tr.nodes[0].Propose(t.Context(), &machinetest.Set{Name: "a", Value: i})
				require.NoError(t, err)
				if snapshot && i == 100 {
					require.NoError(t, tr.nodes[1].Snapshot())
				}
			}
			tr.requireSameState()
			sum, applied := tr.nodes[1].Checksum()
			for _, n := range tr.nodes {
				shut(t, n)
			}
			tr.relisten(1)
			alone := tr.confs[1]
			alone.ProposeTimeout, alone.LeaderTimeout = 100*time.Millisecond, 10*time.Millisecond
			n := open(t, alone)
			again, appliedAgain := n.Checksum()
			require.Equal(t, applied, appliedAgain)
			require.Equal(t, sum, again)
			require.Error(t, n.Ready(t.Context()))
			require.NoError(t, n.Snapshot(), "a snapshot is harmless while raft has applied nothing")
			shut(t, n)

			// Entries that raft applies after a leader is elected are not applied a
			// second time.
			for i := range tr.nodes {
				tr.relisten(i)
				tr.nodes[i] = open(t, tr.confs[i])
			}
			tr.settle(3)
			v, _, err := tr.nodes[1].Propose(t.Context(), &machinetest.Set{Name: "after"})
			require.NoError(t, err)
			require.Greater(t, v.(command.Meta).Seq, uint64(200))
			tr.requireSameState()
			require.NoError(t, tr.nodes[1].Snapshot())
		})
	}
}

// TestCommitMarkerIsWrittenWhileTheNodeRuns: the marker is not written at the stop only,
// since a process may be killed.
func TestCommitMarkerIsWrittenWhileTheNodeRuns(t *testing.T) {
	t.Parallel()
	c := config(t, "")
	n := open(t, c)
	_, index, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return readCommitMarker(t, c.Dir) >= index }, 10*time.Second, 5*time.Millisecond)
	shut(t, n)
}

// TestOlderLog: a log that was replaced by an older copy lacks acknowledged entries, so
// the node does not start.
func TestOlderLog(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]int{"shorter": 0, "other entries": 5} {
		t.Run(name, func(t *testing.T) {
			c := config(t, "")
			shut(t, open(t, c))
			older := t.TempDir()
			require.NoError(t, os.CopyFS(older, os.DirFS(filepath.Join(c.Dir, "log"))))
			propose := func(times int) {
				n := open(t, c)
				for range times {
					_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
					require.NoError(t, err)
				}
				shut(t, n)
			}
			propose(3)
			noted, err := os.ReadFile(filepath.Join(c.Dir, "commit-marker"))
			require.NoError(t, err)
			drop(t, c.Dir, "log")
			writeCommitMarker(t, c.Dir, 0)
			require.NoError(t, os.CopyFS(filepath.Join(c.Dir, "log"), os.DirFS(older)))
			if more > 0 {
				for range more {
					propose(0) // each start increments the term
				}
				propose(more)
			}
			require.NoError(t, os.WriteFile(filepath.Join(c.Dir, "commit-marker"), noted, 0o600))
			requireDataLost(t, c)
			require.NoError(t, recovery.Recover(c.Offline(), nil), "a recovery gives up the other nodes, so the older log is accepted")
			open(t, c)
		})
	}
}
