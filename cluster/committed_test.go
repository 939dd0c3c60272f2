package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
)

// TestNoteThatHangs: a node stops though the disk does not return from the write
// of what is committed, and leaves that behind.
func TestNoteThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config(t, "")
		g := newGate()
		n, err := cluster.Open(t.Context(), cluster.WithHooks(c, cluster.Hooks{Note: g.pass}))
		require.NoError(t, err)
		g.shut()
		_, index, err := n.Propose(t.Context(), &set{Name: "a"})
		require.NoError(t, err)
		g.held(t)
		begun := time.Now()
		require.ErrorContains(t, n.Close(t.Context()), "hangs")
		require.Less(t, time.Since(begun), 15*time.Second)

		again := open(t, c)
		require.NotEmpty(t, find(again.View(), "a").Last)
		g.open() // the late one is as true as any
		shut(t, again)
		synctest.Wait()
		require.GreaterOrEqual(t, cluster.Committed(c.Dir), index)
		open(t, c)
	})
}
