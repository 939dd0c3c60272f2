package cluster_test

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// steppedClock is a wall clock that can be set. It also provides the elapsed time, which
// can be advanced.
type steppedClock struct{ offset, skipped atomic.Int64 }

func (s *steppedClock) now() time.Time {
	return time.Now().Add(time.Duration(s.offset.Load() + s.skipped.Load()))
}

func (s *steppedClock) set(c *cluster.Config) {
	elapsed := watchdog.Elapsed()
	c.Now = s.now
	c.Elapsed = func() time.Duration { return elapsed() + time.Duration(s.skipped.Load()) }
	c.Synchronised = func(time.Time) error { return errors.New("nothing keeps this clock right") }
}

func (s *steppedClock) jump(to time.Duration) { s.offset.Store(int64(to)) }
func (s *steppedClock) skip(d time.Duration)  { s.skipped.Add(int64(d)) }

func TestClockOfANodeAloneJumps(t *testing.T) {
	t.Parallel()
	clock := new(steppedClock)
	c := config(t, "")
	clock.set(&c)
	n := open(t, c)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "before"})
	require.NoError(t, err)
	clock.offset.Store(int64(time.Hour))
	_, _, err = n.Propose(t.Context(), &machinetest.Set{Name: "during"})
	require.ErrorIs(t, err, cluster.ErrUnavailable)
	require.ErrorContains(t, err, "jumped forward")
	require.Empty(t, machinetest.Find(n.View(), "during").Last)
	require.ErrorContains(t, healthCheck(n, "clock"), "jumped")
	require.NoError(t, n.AcceptClock())
	v, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "after"})
	require.NoError(t, err)
	require.WithinDuration(t, clock.now(), time.UnixMilli(v.(command.Meta).At), time.Minute)
}

func healthCheck(n *cluster.Node, name string) error {
	for _, c := range n.Checks() {
		if c.Name == name {
			return c.Err
		}
	}
	return errors.New("no such check")
}

// TestClockOfALeaderJumps: a leader whose clock jumps stamps nothing and steps down, and
// another node leads with the correct time.
func TestClockOfALeaderJumps(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			var clocks []*steppedClock
			tr := newCluster3(t, func(c *cluster.Config) {
				clocks = append(clocks, new(steppedClock))
				clocks[len(clocks)-1].set(c)
			})
			tr.waitClocksKnown()
			i := tr.leader()
			clocks[i].offset.Store(int64(by))
			for j := range 30 {
				v, _, err := tr.nodes[(i+j)%3].Propose(t.Context(), &machinetest.Set{Name: "a"})
				require.NoError(t, err)
				require.WithinDuration(t, time.Now(), time.UnixMilli(v.(command.Meta).At), time.Minute)
			}
			require.Eventually(t, func() bool { return tr.leader() != i }, 10*time.Second, time.Millisecond)
			require.Error(t, healthCheck(tr.nodes[i], "clock"))
			clocks[i].offset.Store(0)
			require.Eventually(t, func() bool { return healthCheck(tr.nodes[i], "clock") == nil }, 10*time.Second, 10*time.Millisecond)
		})
	}
}

// waitClocksKnown waits until every node knows the clocks of the others.
func (tr *cluster3) waitClocksKnown() {
	tr.t.Helper()
	require.Eventually(tr.t, func() bool {
		for _, n := range tr.nodes {
			if n.Stats().Reachable != 3 {
				return false
			}
		}
		return true
	}, 10*time.Second, 10*time.Millisecond)
}

// TestClockSetRight: a node whose clock was wrong at its start can lead once its clock
// agrees with the others.
func TestClockSetRight(t *testing.T) {
	t.Parallel()
	tr, clocks := newClockCluster3(t)
	clocks[2].jump(time.Hour)
	tr.restart(2)
	tr.waitClocksKnown()
	_ = tr.nodes[0].TransferLeadership(t.Context(), "n3")
	v, _, err := tr.nodes[0].Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), time.UnixMilli(v.(command.Meta).At), time.Minute, "n3 does not lead")
	clocks[2].jump(0)
	require.Eventually(t, func() bool {
		if err := tr.nodes[0].TransferLeadership(t.Context(), "n3"); err != nil {
			return false
		}
		time.Sleep(50 * time.Millisecond)
		return tr.leader() == 2
	}, 20*time.Second, 50*time.Millisecond)
}

// faultyDisk is a disk probe with adjustable results.
type faultyDisk struct {
	gate *gate
	free atomic.Uint64
	err  atomic.Pointer[error]
}

func newFaultyDisk() *faultyDisk {
	d := &faultyDisk{gate: newGate()}
	d.free.Store(100 << 30)
	return d
}

func (d *faultyDisk) Probe() error {
	d.gate.pass()
	if err := d.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (d *faultyDisk) Close() {}

func (d *faultyDisk) Space() (free, total uint64, err error) { return d.free.Load(), 200 << 30, nil }

// TestDiskOfALeaderHangs: raft alone would continue to lead on a disk that hangs
// (hashicorp/raft #503).
func TestDiskOfALeaderHangs(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		fault func(*faultyDisk)
		says  string
	}{
		"hangs": {func(d *faultyDisk) { d.gate.shut() }, "a write has not returned since"},
		"fails": {func(d *faultyDisk) { err := errors.New("input/output error"); d.err.Store(&err) }, "input/output error"},
		"full":  {func(d *faultyDisk) { d.free.Store(1 << 20) }, "the disk is full"},
	} {
		t.Run(name, func(t *testing.T) {
			var disks []*faultyDisk
			var logs []*logBuffer
			tr := newCluster3(t, func(c *cluster.Config) {
				disks, logs = append(disks, newFaultyDisk()), append(logs, new(logBuffer))
				c.Logger = slog.New(slog.NewTextHandler(logs[len(logs)-1], nil))
				*c = cluster.WithDisk(*c, disks[len(disks)-1])
			})
			i := tr.leader()
			row.fault(disks[i])
			require.Eventually(t, func() bool { return healthCheck(tr.nodes[i], "disk") != nil }, 10*time.Second, time.Millisecond)
			for j, n := range tr.nodes {
				if j != i {
					_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "during"})
					require.NoError(t, err)
				}
			}
			require.Eventually(t, func() bool { return tr.leader() != i }, 10*time.Second, time.Millisecond)
			require.Equal(t, 1, logs[i].count("disk not writable, isolating node"))
			require.Equal(t, 1, logs[i].count(`isolating node" error="`))
			require.NotZero(t, logs[i].count(row.says))
			if name == "hangs" {
				disks[i].gate.open()
			}
			disks[i].err.Store(nil)
			disks[i].free.Store(100 << 30)
			tr.settle(3)
			tr.requireSameState()
		})
	}
}

// TestFullDiskTakesNoNewFolder: a node on a full disk could decide nothing, and would
// leave a folder that looks initialised.
func TestFullDiskTakesNoNewFolder(t *testing.T) {
	t.Parallel()
	disk := newFaultyDisk()
	disk.free.Store(1 << 20)
	c := cluster.WithDisk(config(t, ""), disk)
	_, err := cluster.Open(t.Context(), c)
	require.ErrorContains(t, err, "create data folder: the disk under "+c.Dir+" (1 MiB free): the disk is full")
	disk.free.Store(100 << 30)
	shut(t, open(t, c))
	disk.free.Store(1 << 20)
	shut(t, open(t, c)) // an initialised folder opens, and can be read
}

// TestDisksOfAllAreFull: each node reports that it isolated itself because of its disk. A
// node with a healthy disk can tell an isolated node from a stopped one.
func TestDisksOfAllAreFull(t *testing.T) {
	t.Parallel()
	var disks []*faultyDisk
	tr := newCluster3(t, func(c *cluster.Config) {
		disks = append(disks, newFaultyDisk())
		*c = cluster.WithDisk(*c, disks[len(disks)-1])
	})
	tr.settle(3)
	for _, n := range tr.nodes {
		require.Empty(t, n.Overview(t.Context()).Isolated)
	}
	for _, d := range disks[:2] {
		d.free.Store(1 << 20)
	}
	require.Eventually(t, func() bool {
		o := tr.nodes[2].Overview(t.Context())
		return o.Isolated == "" && o.Nodes[0].HungUp && o.Nodes[1].HungUp && !o.Nodes[2].HungUp
	}, 20*time.Second, 10*time.Millisecond)
	disks[2].free.Store(1 << 20)
	for i, n := range tr.nodes {
		require.Eventually(t, func() bool { return n.Overview(t.Context()).Isolated != "" }, 20*time.Second, 10*time.Millisecond)
		o := n.Overview(t.Context())
		require.Contains(t, o.Isolated, "the disk under "+tr.confs[i].Dir+" (1 MiB free): the disk is full")
		for j, other := range o.Nodes {
			require.False(t, other.HungUp, "an isolated node asks no other node")
			require.Equal(t, i != j, other.State == status.StateUnreachable)
		}
	}
	for _, d := range disks {
		d.free.Store(100 << 30)
	}
	tr.settle(3)
	for _, n := range tr.nodes {
		require.Empty(t, n.Overview(t.Context()).Isolated)
	}
}

// TestDiskOfANodeAloneIsFull: a single node refuses commands while its disk is full, and
// resumes when there is space.
func TestDiskOfANodeAloneIsFull(t *testing.T) {
	t.Parallel()
	d := newFaultyDisk()
	n := open(t, cluster.WithDisk(config(t, ""), d))
	d.free.Store(1 << 20)
	require.Eventually(t, func() bool { return healthCheck(n, "disk") != nil }, 10*time.Second, time.Millisecond)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.ErrorIs(t, err, cluster.ErrUnavailable)
	d.free.Store(100 << 30)
	require.Eventually(t, func() bool { return healthCheck(n, "disk") == nil }, 10*time.Second, time.Millisecond)
	_, _, err = n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
}

// TestClockDoubtBesideAnotherTrouble: an untrusted clock is reported beside any other
// fault, and no other fault is reported as an untrusted clock.
func TestClockDoubtBesideAnotherTrouble(t *testing.T) {
	t.Parallel()
	d, clock := newFaultyDisk(), new(steppedClock)
	c := cluster.WithDisk(config(t, ""), d)
	clock.set(&c)
	n := open(t, c)
	status := func() status.Node { return n.Overview(t.Context()).Nodes[0] }
	d.free.Store(1 << 20)
	require.Eventually(t, func() bool { return status().Error != "" }, 10*time.Second, time.Millisecond)
	require.False(t, status().ClockUntrusted)
	clock.jump(-2 * time.Hour)
	require.True(t, status().ClockUntrusted)
	require.Contains(t, status().Error, "disk: ")
	clock.jump(0)
	require.False(t, status().ClockUntrusted)
}

// TestLowDiskLeadsNoMore: a leader whose disk fills up transfers leadership to a node
// with space, and stays a member.
func TestLowDiskLeadsNoMore(t *testing.T) {
	t.Parallel()
	var disks []*faultyDisk
	tr := newCluster3(t, func(c *cluster.Config) {
		disks = append(disks, newFaultyDisk())
		*c = cluster.WithDisk(*c, disks[len(disks)-1])
	})
	tr.waitClocksKnown()
	i := tr.leader()
	disks[i].free.Store(300 << 20)
	require.Eventually(t, func() bool { return tr.leader() != i }, 10*time.Second, 10*time.Millisecond)
	_, _, err := tr.nodes[i].Propose(t.Context(), &machinetest.Set{Name: "by way of another"})
	require.NoError(t, err)
}

// TestLaggingMemberIsStillAMember: after a start without a leader the state may be older
// than the node's membership. The node must not conclude that it was removed.
func TestLaggingMemberIsStillAMember(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	_, before, err := tr.nodes[0].Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
	fourth := networked(t, "", "n4")
	fourth.Bootstrap = false
	tr.join(fourth)
	tr.nodes, tr.confs = append(tr.nodes, open(t, fourth)), append(tr.confs, fourth)
	tr.settle(4)
	tr.requireSameState()
	for _, n := range tr.nodes {
		shut(t, n)
	}
	writeCommitMarker(t, fourth.Dir, before)
	tr.relisten(3)
	n := open(t, tr.confs[3])
	require.Equal(t, before, n.Applied())
	require.NoError(t, healthCheck(n, "member"))

	for i := range 3 {
		tr.relisten(i)
		tr.nodes[i] = open(t, tr.confs[i])
	}
	tr.nodes[3] = n
	tr.settle(4)
	require.NoError(t, healthCheck(n, "member"))
}
