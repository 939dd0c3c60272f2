package cluster_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
)

// TestRecoveryIsNotedUntilForgotten: after a recovery the folder records the sequence
// number after which the lost nodes may have decided otherwise. Entries in the log that
// were not known to be committed may exist on the survivor alone.
func TestRecoveryIsNotedUntilForgotten(t *testing.T) {
	t.Parallel()
	c := config(t, "")
	propose := func(times int) (seq uint64) {
		n := open(t, c)
		for range times {
			v, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
			require.NoError(t, err)
			seq = v.(command.Meta).Seq
		}
		shut(t, n)
		return seq
	}
	shared := propose(3)
	noted, err := os.ReadFile(filepath.Join(c.Dir, "commit-marker"))
	require.NoError(t, err)
	end := propose(2)
	require.Equal(t, shared+2, end)
	r, err := recovery.Pending(c.Dir)
	require.NoError(t, err)
	require.Nil(t, r, "it was never recovered")
	require.NoError(t, os.WriteFile(filepath.Join(c.Dir, "commit-marker"), noted, 0o600))

	require.NoError(t, recovery.Recover(c.Offline(), nil))
	first, err := recovery.Pending(c.Dir)
	require.NoError(t, err)
	require.Equal(t, shared, first.Seq)
	require.NotZero(t, first.ID)

	require.NoError(t, recovery.Recover(c.Offline(), nil))
	same, err := recovery.Pending(c.Dir)
	require.NoError(t, err)
	require.Equal(t, first, same, "a second recovery keeps the first record")
	require.Equal(t, end+1, propose(1), "the node has every entry of its log")
	same, err = recovery.Pending(c.Dir)
	require.NoError(t, err)
	require.Equal(t, first, same, "the record stays until Forget")

	require.NoError(t, recovery.Forget(c.Dir))
	r, err = recovery.Pending(c.Dir)
	require.NoError(t, err)
	require.Nil(t, r)
	require.NoError(t, recovery.Recover(c.Offline(), nil))
	second, err := recovery.Pending(c.Dir)
	require.NoError(t, err)
	require.NotEqual(t, first.ID, second.ID)
	require.Equal(t, end+1, second.Seq)
}

// TestRecoveryThatWasCutShort: a node does not start after an interrupted recovery, and
// the recovery can be repeated.
func TestRecoveryThatWasCutShort(t *testing.T) {
	t.Parallel()
	c := config(t, "")
	n := open(t, c)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a", Value: 7})
	require.NoError(t, err)
	shut(t, n)

	blocked := filepath.Join(c.Dir, "node.instance")
	id, err := os.ReadFile(blocked)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(blocked, []byte("no instance id"), 0o600))
	require.Error(t, recovery.Recover(c.Offline(), nil))
	require.NoError(t, os.WriteFile(blocked, id, 0o600))
	_, err = cluster.Open(t.Context(), c)
	require.ErrorIs(t, err, recovery.ErrInterrupted)

	require.NoError(t, recovery.Recover(c.Offline(), nil))
	require.Equal(t, uint64(7), machinetest.Find(open(t, c).View(), "a").Value)
}
