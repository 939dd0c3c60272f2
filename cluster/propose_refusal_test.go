package cluster_test

import (
	"context"
	"crypto/rand"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// requireNothingDecided requires that a node neither proposes a command nor answers one
// from its own view, because of the error want.
func requireNothingDecided(t testing.TB, n *cluster.Node, want error) {
	t.Helper()
	before := n.Seq()
	for _, cmd := range []command.Command{
		&machinetest.Set{Name: "a"},
		&machinetest.Raise{Name: "a", Known: 7}, // changes nothing
	} {
		_, _, err := n.Propose(t.Context(), cmd)
		require.ErrorIs(t, err, cluster.ErrUnavailable)
		require.NotErrorIs(t, err, cluster.ErrUnknown)
		require.ErrorIs(t, err, want)
	}
	require.Equal(t, before, n.Seq())
}

// TestProposeOutOfService: a node that is closed, removed or a duplicate decides nothing,
// though it may still take itself for the leader.
func TestProposeOutOfService(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		end  func(n *cluster.Node)
		want error
	}{
		"closed":    {func(n *cluster.Node) { shut(t, n) }, command.ErrClosed},
		"removed":   {cluster.MarkRemoved, member.ErrRemoved},
		"duplicate": {cluster.ReportDuplicate, member.ErrDuplicateNode},
	} {
		t.Run(name, func(t *testing.T) {
			n := open(t, config(t, ""))
			row.end(n)
			requireNothingDecided(t, n, row.want)
		})
	}
}

// TestProposeWithoutALeader: a node that lost leadership decides nothing, neither for its
// own clients nor for those of another node, and calls nobody.
func TestProposeWithoutALeader(t *testing.T) {
	t.Parallel()
	c := config(t, "")
	c.LeaderTimeout = 50 * time.Millisecond
	n := open(t, c)
	n.Elector().BeginElection()
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.EqualError(t, err, cluster.ErrUnavailable.Error()+": no leader was reached")
	for _, cmd := range []command.Command{&machinetest.Set{Name: "a"}, &machinetest.Raise{Name: "a", Known: 7}} {
		require.EqualValues(t, transport.ReplyNotLeading, cluster.ServeProposal(n, cmd, command.ID{1}, true, 0))
	}
	require.Zero(t, n.Seq())
}

// TestProposeByAWrongClock: a node whose clock is not to be trusted refuses nobody either,
// since the refusal may be due to the time.
func TestProposeByAWrongClock(t *testing.T) {
	t.Parallel()
	clock := new(steppedClock)
	c := config(t, "")
	clock.set(&c)
	n := open(t, c)
	clock.jump(time.Hour)
	requireNothingDecided(t, n, cluster.ErrUnavailable)
}

// TestProposeWhileRemoved: a node that learns of its removal while a command waits for the
// next leader reports the removal.
func TestProposeWhileRemoved(t *testing.T) {
	t.Parallel()
	var n *cluster.Node
	proposed := make(chan struct{})
	c := cluster.WithHooks(config(t, ""), cluster.Hooks{Apply: func(*raft.Raft, []byte) raft.ApplyFuture {
		<-proposed
		cluster.MarkRemoved(n)
		return failedApply{err: raft.ErrNotLeader}
	}})
	n = open(t, c)
	close(proposed)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.ErrorIs(t, err, cluster.ErrUnavailable)
	require.ErrorIs(t, err, member.ErrRemoved)
}

// TestProposeForAClientThatIsGone: a command whose client has hung up is not proposed.
func TestProposeForAClientThatIsGone(t *testing.T) {
	t.Parallel()
	n := open(t, config(t, ""))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, reuse := range []bool{false, true} {
		cmd := &encodeOnceCommand{machinetest.Set{Name: "a", ReuseDetected: reuse}, new(int)}
		_, _, err := n.Propose(gone, cmd)
		require.ErrorIs(t, err, cluster.ErrUnavailable)
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, *cmd.encoded, "not even encoded")
	}
}

// TestProposeForAnotherNode: the leader asks the node with the request whether its client
// is still connected, only before it reports reuse.
func TestProposeForAnotherNode(t *testing.T) {
	t.Parallel()
	n := open(t, config(t, ""))
	for _, row := range []struct {
		reuse, connected bool
		want             byte
	}{
		{false, false, transport.ReplyOK},
		{false, true, transport.ReplyOK},
		{true, false, transport.ReplyConfirm},
		{true, true, transport.ReplyOK},
	} {
		before := n.Seq()
		require.Equal(t, row.want, cluster.ServeProposal(n, &machinetest.Set{Name: "a", ReuseDetected: row.reuse}, command.ID{1}, row.connected, 0), "%+v", row)
		require.Equal(t, row.want == transport.ReplyOK, n.Seq() > before, "%+v", row)
	}
}

// laterSet is Set with a field that was added in a later version.
type laterSet struct {
	machinetest.Set
	Added string `cbor:"99,keyasint"`
}

// TestProposeFromALaterVersion: the leader puts the command of another node into the log
// as it was sent, with the fields that only later versions know.
func TestProposeFromALaterVersion(t *testing.T) {
	t.Parallel()
	n := open(t, config(t, ""))
	sent := &laterSet{machinetest.Set{Name: "a"}, "later"}
	require.EqualValues(t, transport.ReplyOK, cluster.ServeProposal(n, sent, command.ID{1}, true, 0))
	require.Contains(t, string(entryAt(t, n, n.Applied())), string(machinetest.Encode(sent)))
}

// exhaustedRand is crypto/rand until it is exhausted.
type exhaustedRand struct{ exhausted atomic.Bool }

func (r *exhaustedRand) Read(b []byte) (int, error) {
	if r.exhausted.Load() {
		return 0, errors.New("no entropy")
	}
	return rand.Read(b)
}

// TestProposeWithoutAnID: two commands with the same id would be the same command.
func TestProposeWithoutAnID(t *testing.T) {
	t.Parallel()
	r := new(exhaustedRand)
	c := config(t, "")
	c.Rand = r
	n := open(t, c)
	r.exhausted.Store(true)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.ErrorContains(t, err, "no entropy")
	require.NotErrorIs(t, err, cluster.ErrUnknown)
	require.Zero(t, n.Seq())
}
