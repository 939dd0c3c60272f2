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

// rollbackCluster is a cluster of three whose third node has an older copy of its folder to go
// back to.
type rollbackCluster struct {
	*cluster3
	older string
	fatal chan error // what ended the third node
}

// newRollbackCluster makes the copy, and has the third node acknowledge a few commands
// after it.
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

// write has all three nodes acknowledge some commands, and remember that the
// others did.
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

// rollBack puts the older copy in the place of the third node's folder, which it
// returns.
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

// requireEnded waits until the third node has ended because of its folder.
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

// reportedError is what a node says of another one.
func (r *rollbackCluster) reportedError(n *cluster.Node, of string) string {
	for _, s := range n.Overview(r.t.Context()).Nodes {
		if s.Name == of {
			return s.Error
		}
	}
	return ""
}

// TestRolledBackFolderIsRefused by a leader that remembers more: the node gets no
// log, all say why, and it does not start again. With its newest folder it goes on.
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
		require.Contains(t, r.reportedError(n, "n3"), integrity.ErrRolledBack.Error(), "also when it has ended")
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

// TestRolledBackFolderElectsNobody: the only other node that runs remembers more
// than it has, so neither votes for the other, until the third one is back.
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

// TestOlderCopyBesideItsOriginalIsADuplicate: a node that lacks what the original has
// acknowledged waits until the others know of both. It keeps away as the copy that
// it is, and is not told that its data is lost.
func TestOlderCopyBesideItsOriginalIsADuplicate(t *testing.T) {
	t.Parallel()
	r := newRollbackCluster(t)
	c := networked(t, "", "n3")
	copyFolder(t, c.Dir, r.older)
	c.Bootstrap, c.Fatal = false, r.confs[2].Fatal
	c.Now = func() time.Time { return time.Now().Add(2 * time.Second) } // it is the later one for sure
	copied := open(t, c)
	_ = copied.Log().HandleRollback("n1", integrity.Position{Index: r.nodes[2].Raft().LastIndex()}) // before anybody can know of two
	require.Error(t, copied.Log().Err())
	require.Eventually(t, func() bool { return copied.Duplicate() != nil && copied.Log().Err() == nil }, 20*time.Second, 5*time.Millisecond)
	require.Empty(t, r.fatal)
	require.NoError(t, r.nodes[2].Duplicate())
	requireWrite(t, r.nodes[2])
}

// TestEndIsReportedToTheOthers: a command was acknowledged by two nodes. One of them
// can't be reached for a while, in which the other one starts with an older copy of
// its folder, and the third node, which lacks the command too, is elected. The node
// that has it stops when it hears of that, and its peers know why.
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
		require.Fail(t, "the node that has what was acknowledged runs")
	}
	shut(t, holder)
	for _, n := range r.nodes {
		require.Contains(t, r.reportedError(n, "n1"), store.ErrCommittedTruncated.Error())
	}
}

// TestAcknowledgedIsRecorded before the command is answered: by the leader what a
// follower has, and by a follower what the leader has. Each may be gone a moment
// later, and its folder be an older one.
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

// TestCommittedLaterIsRecorded: a node acknowledged an entry before it was known
// that the one before it is committed.
func TestCommittedLaterIsRecorded(t *testing.T) {
	t.Parallel()
	n := open(t, networked(t, "", "n1"))
	_, index, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
	require.NoError(t, n.Raft().Barrier(0).Error()) // which no command follows
	n.Log().RecordAck("other", integrity.Position{Index: n.Raft().LastIndex(), Term: n.Raft().CurrentTerm()}, index-1)
	require.GreaterOrEqual(t, n.Log().KnownPosition("other").Index, index)
}

// requireStart starts the third node, which may not be refused.
func (r *rollbackCluster) requireStart() {
	r.t.Helper()
	r.start(2)
	r.settle(3)
	r.requireSameState()
	require.NoError(r.t, r.nodes[2].Log().Err())
	require.Empty(r.t, r.fatal)
}

// TestNodeAfterALossOfPower has what it acknowledged, though not its note of what
// was committed, which is not synced.
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

// TestNodeWhoseTailWasReplaced: it may lack what it acknowledged and what was never
// committed.
func TestNodeWhoseTailWasReplaced(t *testing.T) {
	t.Parallel()
	r := newRollbackCluster(t)
	id := r.nodes[2].ID()
	shut(t, r.nodes[2])
	last, term := r.nodes[0].Raft().LastIndex(), r.nodes[0].Raft().CurrentTerm()
	for _, n := range r.nodes[:2] {
		n.Log().RecordAck(id, integrity.Position{Index: last + 5, Term: term + 1}, last)
	}
	requireWrite(t, r.nodes[0]) // something else there, which is committed
	for range 5 {
		requireWrite(t, r.nodes[0])
	}
	r.requireStart()
}

// TestNodeThatInstalledASnapshot has all that is in it, whatever its log has, and
// its note of what was committed.
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

// TestReplacedNodeOwesNothing that the one before it had: it is another one, and
// what was remembered is forgotten.
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

// TestSurvivorOwesNobody: a node that goes on alone has nobody who could refuse it,
// and those that join it later remember what it had since.
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
