package cluster_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// rollbackCluster is a cluster of three, and an older copy of the third node's folder.
type rollbackCluster struct {
	*cluster3
	older string
	fatal chan error // the error that stopped the third node
}

// newRollbackCluster copies the third node's folder, then has the node acknowledge a few
// commands.
func newRollbackCluster(t *testing.T, change ...func(*cluster.Config)) *rollbackCluster {
	r := &rollbackCluster{older: t.TempDir(), fatal: make(chan error, 1)}
	r.cluster3 = newCluster3(t, append(change, func(c *cluster.Config) {
		c.Fatal = func(err error) {
			select {
			case r.fatal <- err:
			default:
			}
		}
	})...)
	require.NoError(t, r.nodes[r.leader()].TransferLeadership(t.Context(), "n1"))
	shut(t, r.nodes[2])
	copyFolder(t, r.older, r.confs[2].Dir)
	r.start(2)
	r.write(3)
	return r
}

// write proposes commands and waits until each node has recorded that the other two
// acknowledged them.
func (r *rollbackCluster) write(times uint64) {
	r.t.Helper()
	var index uint64
	for i := range times {
		_, at, err := r.nodes[0].Propose(r.t.Context(), &machinetest.Set{Name: "suspended", Value: i + 1})
		require.NoError(r.t, err)
		index = at
	}
	require.Eventually(r.t, func() bool {
		for _, n := range r.nodes {
			for _, other := range r.nodes {
				if other != n && n.Log().KnownPosition(other.ID()).Index < index {
					return false
				}
			}
		}
		return true
	}, 20*time.Second, 5*time.Millisecond)
}

// rollBack replaces the third node's folder by the older copy, and returns a copy of the
// newest.
func (r *rollbackCluster) rollBack() (newest string) {
	r.t.Helper()
	shut(r.t, r.nodes[2])
	newest = r.t.TempDir()
	copyFolder(r.t, newest, r.confs[2].Dir)
	r.restoreFolder(r.older)
	return newest
}

func (r *rollbackCluster) restoreFolder(folder string) {
	r.t.Helper()
	drop(r.t, r.confs[2].Dir, ".")
	copyFolder(r.t, r.confs[2].Dir, folder)
}

// requireEnded waits until the third node has stopped because its folder was rolled back.
func (r *rollbackCluster) requireEnded() {
	r.t.Helper()
	select {
	case err := <-r.fatal:
		require.ErrorIs(r.t, err, store.ErrDataLost)
		require.ErrorIs(r.t, err, integrity.ErrRolledBack)
	case <-time.After(20 * time.Second):
		require.Fail(r.t, "the node runs")
	}
}

// reportedError returns the error that n reports for another node.
func (r *rollbackCluster) reportedError(n *cluster.Node, of string) string {
	for _, s := range n.Overview(r.t.Context()).Nodes {
		if s.Name == of {
			return s.Error
		}
	}
	return ""
}

// TestRolledBackFolderIsRefused: the leader remembers entries that the rolled-back node
// lacks, and sends it no log. All nodes report why, and the node does not start again.
// With its newest folder it does.
func TestRolledBackFolderIsRefused(t *testing.T) {
	t.Parallel()
	r := newRollbackCluster(t)
	newest := r.rollBack()
	r.start(2)
	before := r.nodes[2].Applied()
	r.requireEnded()
	require.Equal(t, before, r.nodes[2].Applied())
	require.ErrorIs(t, r.nodes[2].Log().Err(), store.ErrDataLost)
	for _, n := range r.nodes[:2] {
		require.Eventually(t, func() bool { return strings.Contains(r.reportedError(n, "n3"), "older copy") }, 20*time.Second, 10*time.Millisecond)
		requireWrite(t, n)
	}
	shut(t, r.nodes[2])
	for _, n := range r.nodes[:2] {
		require.Contains(t, r.reportedError(n, "n3"), integrity.ErrRolledBack.Error(), "reported also after the node has stopped")
	}
	r.relisten(2)
	requireDataLost(t, r.confs[2])
	_ = r.confs[2].Network.Listener.Close()

	r.restoreFolder(newest)
	r.start(2)
	r.settle(3)
	r.requireSameState()
	require.Empty(t, r.fatal)
}

// TestRolledBackFolderElectsNobody: only one other node runs, and it remembers entries
// that the rolled-back node lacks. Neither votes for the other until the third node is
// back.
func TestRolledBackFolderElectsNobody(t *testing.T) {
	t.Parallel()
	r := newRollbackCluster(t)
	r.rollBack()
	shut(t, r.nodes[0])
	r.start(2)
	r.requireEnded()
	for _, n := range r.nodes[1:] {
		leading, _ := n.Leading()
		require.False(t, leading)
	}
	require.Contains(t, r.reportedError(r.nodes[1], "n3"), integrity.ErrRolledBack.Error())
	shut(t, r.nodes[2])
	r.start(0)
	require.Eventually(t, func() bool {
		return machinetest.Find(r.nodes[0].View(), "suspended").Value == 3 && r.nodes[1].Leader() != ""
	}, 20*time.Second, 5*time.Millisecond)
	requireWrite(t, r.nodes[1])
}

// TestOlderCopyBesideItsOriginalIsADuplicate: an older copy of a folder is started while
// the original runs. The copy waits until the other nodes know of both. It is isolated as
// a duplicate and is not reported as a node with lost data.
func TestOlderCopyBesideItsOriginalIsADuplicate(t *testing.T) {
	t.Parallel()
	r := newRollbackCluster(t)
	c := networked(t, "", "n3")
	copyFolder(t, c.Dir, r.older)
	c.Bootstrap, c.Fatal = false, r.confs[2].Fatal
	c.Now = func() time.Time { return time.Now().Add(2 * time.Second) } // makes this the later start
	copied := open(t, c)
	_ = copied.Log().HandleRollback("n1", integrity.Position{Index: r.nodes[2].Raft().LastIndex()}) // before any node can have detected the duplicate
	require.Error(t, copied.Log().Err())
	require.Eventually(t, func() bool { return copied.Duplicate() != nil && copied.Log().Err() == nil }, 20*time.Second, 5*time.Millisecond)
	require.Empty(t, r.fatal)
	require.NoError(t, r.nodes[2].Duplicate())
	requireWrite(t, r.nodes[2])
}

// TestEndIsReportedToTheOthers: n1 and n3 acknowledged a command. While n1 is isolated,
// n3 starts from an older copy of its folder, and n2, which lacks the command, is
// elected. When n1 hears of the new leader it stops, and its peers report why.
func TestEndIsReportedToTheOthers(t *testing.T) {
	t.Parallel()
	r := newRollbackCluster(t)
	holder := r.nodes[0]
	shut(t, r.nodes[1])
	requireWrite(t, holder)
	r.rollBack()
	cluster.Isolate(holder, true)
	r.start(1)
	r.start(2)
	requireWrite(t, r.nodes[2])
	r.nodes = r.nodes[1:]
	r.waitLeader("n2")
	require.Empty(t, r.fatal)

	cluster.Isolate(holder, false)
	select {
	case err := <-r.fatal:
		require.ErrorIs(t, err, store.ErrCommittedTruncated)
	case <-time.After(20 * time.Second):
		require.Fail(t, "the node with the acknowledged command did not stop")
	}
	shut(t, holder)
	for _, n := range r.nodes {
		require.Contains(t, r.reportedError(n, "n1"), store.ErrCommittedTruncated.Error())
	}
}

// TestAcknowledgedIsRecorded: before a command is answered, the leader has recorded the
// position of a follower, and a follower that of the leader. Each of them may crash a
// moment later and start with an older folder.
func TestAcknowledgedIsRecorded(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	leader := tr.nodes[tr.leader()]
	for range 20 {
		_, index, err := leader.Propose(t.Context(), &machinetest.Set{Name: "a"})
		require.NoError(t, err)
		byLeader, ofLeader := uint64(0), uint64(0)
		for _, n := range tr.nodes {
			byLeader = max(byLeader, leader.Log().KnownPosition(n.ID()).Index)
			ofLeader = max(ofLeader, n.Log().KnownPosition(leader.ID()).Index)
		}
		require.GreaterOrEqual(t, byLeader, index)
		require.GreaterOrEqual(t, ofLeader, index)
	}
}

// TestCommittedLaterIsRecorded: a node acknowledged an entry before the previous entry
// was known to be committed.
func TestCommittedLaterIsRecorded(t *testing.T) {
	t.Parallel()
	n := open(t, networked(t, "", "n1"))
	_, index, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
	require.NoError(t, n.Raft().Barrier(0).Error()) // an entry that no command follows
	n.Log().RecordAck("other", integrity.Position{Index: n.Raft().LastIndex(), Term: n.Raft().CurrentTerm()}, index-1)
	require.GreaterOrEqual(t, n.Log().KnownPosition("other").Index, index)
}

// requireStart starts the third node and requires that it is not refused.
func (r *rollbackCluster) requireStart() {
	r.t.Helper()
	r.start(2)
	r.settle(3)
	r.requireSameState()
	require.NoError(r.t, r.nodes[2].Log().Err())
	require.Empty(r.t, r.fatal)
}

// TestNodeAfterALossOfPower: after a power loss a node has every entry it acknowledged,
// but its commit marker may be old, because the marker is not synced.
func TestNodeAfterALossOfPower(t *testing.T) {
	t.Parallel()
	r := newRollbackCluster(t)
	noted := filepath.Join(r.confs[2].Dir, "commit-marker")
	old, err := os.ReadFile(filepath.Join(r.older, "commit-marker"))
	require.NoError(t, err)
	shut(t, r.nodes[2])
	require.NoError(t, os.WriteFile(noted, old, 0o600))
	r.requireStart()
}

// TestNodeWhoseTailWasReplaced: a node may lack entries that it acknowledged and that
// were never committed.
func TestNodeWhoseTailWasReplaced(t *testing.T) {
	t.Parallel()
	r := newRollbackCluster(t)
	id := r.nodes[2].ID()
	shut(t, r.nodes[2])
	last, term := r.nodes[0].Raft().LastIndex(), r.nodes[0].Raft().CurrentTerm()
	for _, n := range r.nodes[:2] {
		n.Log().RecordAck(id, integrity.Position{Index: last + 5, Term: term + 1}, last)
	}
	requireWrite(t, r.nodes[0]) // another entry at that index is committed
	for range 5 {
		requireWrite(t, r.nodes[0])
	}
	r.requireStart()
}

// TestNodeThatInstalledASnapshot: a node has every entry that its snapshot covers,
// whatever its log and its commit marker contain.
func TestNodeThatInstalledASnapshot(t *testing.T) {
	t.Parallel()
	r := newRollbackCluster(t)
	id := r.nodes[2].ID()
	shut(t, r.nodes[2])
	for range 20 {
		requireWrite(t, r.nodes[0])
	}
	require.NoError(t, r.nodes[0].Snapshot())
	taken, err := filepath.Glob(filepath.Join(r.confs[0].Dir, "snapshots", "*-*"))
	require.NoError(t, err)
	require.Len(t, taken, 1)
	require.NoError(t, os.CopyFS(filepath.Join(r.confs[2].Dir, "snapshots", filepath.Base(taken[0])), os.DirFS(taken[0])))
	installed := r.nodes[0].Raft().LastIndex()
	for _, n := range r.nodes[:2] {
		n.Log().RecordAck(id, integrity.Position{Index: installed, Term: 0}, installed)
	}
	r.requireStart()
}

// TestReplacedNodeOwesNothing: a replacement is another node, so nothing is expected of
// it. The position recorded for the old node is deleted.
func TestReplacedNodeOwesNothing(t *testing.T) {
	t.Parallel()
	r := newRollbackCluster(t)
	id := r.nodes[2].ID()
	r.rollBack()
	token, _, err := r.nodes[0].Invite(t.Context(), "n4", "n3", time.Hour)
	require.NoError(t, err)
	c := networked(t, "", "n4")
	c.Bootstrap = false
	require.NoError(t, r.joinBy(t.Context(), c, token))
	r.nodes[2] = open(t, c)
	r.settle(3)
	for _, n := range r.nodes {
		require.Eventually(t, func() bool { return n.Log().KnownPosition(id).Index == 0 }, 20*time.Second, 5*time.Millisecond)
	}
	r.requireSameState()
}

// TestSurvivorOwesNobody: a recovered node has no peer that could refuse it. The nodes
// that join later record its position from then on.
func TestSurvivorOwesNobody(t *testing.T) {
	t.Parallel()
	r := newRollbackCluster(t)
	r.rollBack()
	for _, n := range r.nodes[:2] {
		shut(t, n)
	}
	r.relisten(2)
	require.NoError(t, recovery.Recover(r.confs[2].Offline(), nil))
	alone := open(t, r.confs[2])
	requireWrite(t, alone)
	r.nodes, r.confs = []*cluster.Node{alone}, r.confs[2:]
	c := networked(t, "", "n4")
	c.Bootstrap = false
	r.join(c)
	r.nodes = append(r.nodes, open(t, c))
	r.settle(2)
	require.Empty(t, r.fatal)
}
