package cluster_test

import (
	"bytes"
	"maps"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
)

// TestPlanRecovery: a plan lists the nodes that a recovery gives up. It also detects that
// the others still have a leader, or that this node itself was given up.
func TestPlanRecovery(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	tr.requireSameState()
	last := tr.nodes[2].Raft().LastIndex()
	for _, n := range tr.nodes {
		cluster.Isolate(n, true) // stops all writes
	}
	last = max(last, tr.nodes[2].Raft().LastIndex())
	shut(t, tr.nodes[2])
	for _, n := range tr.nodes[:2] {
		cluster.Isolate(n, false)
	}
	require.Eventually(t, func() bool { return tr.nodes[0].Ready(t.Context()) == nil }, 20*time.Second, time.Millisecond)

	p, err := recovery.NewPlan(t.Context(), tr.confs[2].Offline())
	require.NoError(t, err)
	require.GreaterOrEqual(t, p.Last, last)
	require.Len(t, p.Abandoned, 2)
	for i, m := range p.Abandoned {
		require.Equal(t, tr.confs[i].Name, m.Name)
		require.Equal(t, tr.confs[i].Network.Advertise, m.Address)
	}
	require.Equal(t, []recovery.ProbeResult{recovery.ProbeHasLeader, recovery.ProbeHasLeader}, answers(p))
	whole, err := recovery.Salvage(tr.confs[2].Offline())
	require.NoError(t, err)
	require.Equal(t, whole.Seq, p.Seq, "all of its log is known to be common to all")
	require.NotNil(t, p.View)

	shut(t, tr.nodes[1])
	require.Eventually(t, func() bool { return tr.nodes[0].Ready(t.Context()) != nil }, 20*time.Second, time.Millisecond)
	p, err = recovery.NewPlan(t.Context(), tr.confs[2].Offline())
	require.NoError(t, err)
	require.Equal(t, []recovery.ProbeResult{recovery.ProbeRunning, recovery.ProbeRefused}, answers(p))
	require.Contains(t, p.Abandoned[1].Why, "no process listens there")

	// A program that accepts the connection but is not the node proves nothing about the
	// node.
	other, err := net.Listen("tcp", tr.confs[1].Network.Advertise)
	require.NoError(t, err)
	defer other.Close()
	go func() {
		for {
			c, err := other.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	p, err = recovery.NewPlan(t.Context(), tr.confs[2].Offline())
	require.NoError(t, err)
	require.Equal(t, []recovery.ProbeResult{recovery.ProbeRunning, recovery.ProbeUnreachable}, answers(p))
	require.Contains(t, p.Abandoned[1].Why, "closed the connection")

	shut(t, tr.nodes[0])
	tr.confs[0].Bootstrap = false
	require.NoError(t, recovery.Recover(tr.confs[0].Offline(), nil))
	tr.start(0)
	_, err = recovery.NewPlan(t.Context(), tr.confs[2].Offline())
	require.ErrorIs(t, err, member.ErrRemoved)
	require.ErrorContains(t, err, "n1")

	_, err = recovery.NewPlan(t.Context(), networked(t, "", "x").Offline())
	require.ErrorContains(t, err, "no data")
}

func answers(p recovery.Plan) (all []recovery.ProbeResult) {
	for _, g := range p.Abandoned {
		all = append(all, g.Probe)
	}
	return all
}

// TestSalvage: the folder of a node that was given up, and does not start any more, is
// read without changing it.
func TestSalvage(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	_, _, err := tr.nodes[0].Propose(t.Context(), &machinetest.Set{Name: "a", Value: 7})
	require.NoError(t, err)
	tr.requireSameState()
	want, _ := tr.nodes[0].Checksum()
	tr.confs[0].Bootstrap = false
	for _, n := range tr.nodes {
		shut(t, n)
	}
	require.NoError(t, recovery.Recover(tr.confs[0].Offline(), nil))
	tr.start(0)
	_, err = recovery.NewPlan(t.Context(), tr.confs[2].Offline())
	require.ErrorIs(t, err, member.ErrRemoved)
	require.NoError(t, os.WriteFile(filepath.Join(tr.confs[2].Dir, "removed"), []byte(`{"by":"n1"}`), 0o600))
	_, err = cluster.Open(t.Context(), tr.confs[2])
	require.ErrorIs(t, err, member.ErrRemoved)

	for range 2 {
		b, err := recovery.Salvage(tr.confs[2].Offline())
		require.NoError(t, err)
		var state bytes.Buffer
		require.NoError(t, b.Write(&state))
		rules, err := member.Extend(machinetest.Toy())
		require.NoError(t, err)
		m := machine.NewMemory(rules, machinetest.FixedNow)
		require.NoError(t, m.Load(&state))
		require.Equal(t, want, m.Checksum())
		require.Equal(t, uint64(7), machinetest.Find(m.View(), "a").Value)
		require.NotZero(t, b.Term)
	}
	older := tr.confs[2]
	older.Machine.Commands = maps.Clone(older.Machine.Commands)
	delete(older.Machine.Commands, machinetest.KindSet)
	_, err = recovery.Salvage(older.Offline())
	require.ErrorContains(t, err, "unknown to this version of the program")
	_, err = recovery.Salvage(config(t, "").Offline())
	require.Error(t, err)
}
