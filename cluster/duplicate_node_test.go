package cluster_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

// TestDuplicateNodeIsIsolated: a copy of a node's folder is started beside the original.
// Two nodes with one identity would vote twice, so one of them is isolated. All nodes
// agree on which one, report it, and the cluster goes on.
func TestDuplicateNodeIsIsolated(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]bool{"at an address of its own": true, "at the same address": false} {
		t.Run(name, func(t *testing.T) {
			var told logBuffer
			tr := newCluster3(t, func(c *cluster.Config) { c.Logger = slog.New(slog.NewTextHandler(&told, nil)) })
			shut(t, tr.nodes[2])
			c := networked(t, "", "n3")
			copyFolder(t, c.Dir, tr.confs[2].Dir)
			c.Bootstrap = false
			if !address {
				c.Network.Advertise = tr.confs[2].Network.Advertise
			}
			tr.start(2)
			c.Now = func() time.Time { return time.Now().Add(2 * time.Second) } // makes this the later start
			second := open(t, c)
			require.Equal(t, tr.nodes[2].ID(), second.ID())

			reported := func(n *cluster.Node) string {
				for _, s := range n.Overview(t.Context()).Nodes {
					if s.Name == "n3" {
						return s.Error
					}
				}
				return ""
			}
			require.Eventually(t, func() bool { return strings.Contains(reported(tr.nodes[0]), "process") }, 20*time.Second, 10*time.Millisecond)
			require.Eventually(t, func() bool { return second.Duplicate() != nil }, 20*time.Second, time.Millisecond)
			require.ErrorIs(t, second.Duplicate(), member.ErrDuplicateNode)
			require.ErrorIs(t, second.Ready(t.Context()), member.ErrDuplicateNode)
			_, _, err := second.Propose(t.Context(), &machinetest.Set{Name: "by a copy"})
			require.ErrorIs(t, err, member.ErrDuplicateNode)
			require.Contains(t, second.Overview(t.Context()).Duplicate, "a copy of its data folder")
			require.NotZero(t, told.count("duplicate node detected"), "logged by the node that detected it")
			require.LessOrEqual(t, told.count("duplicate node detected"), 2)
			require.Eventually(t, func() bool { return told.count("isolated=false") == 1 }, 20*time.Second, time.Millisecond, "the original logs it too")
			for _, check := range second.Checks() {
				if check.Name == "member" {
					require.ErrorIs(t, check.Err, member.ErrDuplicateNode)
				}
			}
			for _, n := range tr.nodes {
				require.NoError(t, n.Duplicate())
				requireWrite(t, n)
			}
			shut(t, second)
			if !address { // waiting for the notice to expire is tested in one of the two cases
				return
			}
			for _, n := range []*cluster.Node{tr.nodes[0], tr.nodes[2]} { // the original also reports it
				require.Eventually(t, func() bool { return strings.Contains(reported(n), "duplicate last seen ") }, 40*time.Second, 10*time.Millisecond)
			}
			require.Eventually(t, func() bool { return reported(tr.nodes[0]) == "" }, 40*time.Second, 100*time.Millisecond)
		})
	}
}
