package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/clustertest"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/join"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// plainSecrets does not encrypt. Encryption is not tested here.
type plainSecrets struct{}

func (plainSecrets) Seal(_ string, b []byte) ([]byte, error) {
	return append([]byte("sealed:"), b...), nil
}
func (plainSecrets) Open(_ string, b []byte) ([]byte, error) { return b[len("sealed:"):], nil }

// networked is config with a listener on an address of its own.
func networked(t testing.TB, dir, name string) cluster.Config {
	t.Helper()
	c := config(t, dir)
	l, err := net.Listen("tcp", clustertest.Address(t)) // an address that parallel tests do not use, since nodes restart on it
	require.NoError(t, err)
	c.Name, c.Version = name, "test"
	c.Network = &transport.Endpoint{Listener: l, Advertise: l.Addr().String()}
	c.Secrets = plainSecrets{}
	c.JoinSecret = func() ([]byte, error) { return []byte("the cluster key"), nil }
	c.ProposeTimeout = 5 * time.Second
	c.LeaderTimeout = 5 * time.Second
	return c
}

// cluster3 is a cluster of three nodes in one process.
type cluster3 struct {
	t     testing.TB
	nodes []*cluster.Node
	confs []cluster.Config
}

func newCluster3(t testing.TB, change ...func(*cluster.Config)) *cluster3 {
	t.Helper()
	tr := &cluster3{t: t}
	for i := range 3 {
		c := networked(t, "", fmt.Sprintf("n%d", i+1))
		for _, f := range change {
			f(&c)
		}
		if i > 0 {
			c.Bootstrap = false
			tr.join(c)
		}
		tr.nodes = append(tr.nodes, open(t, c))
		tr.confs = append(tr.confs, c)
		if i == 0 {
			tr.settle(1)
		}
	}
	tr.settle(3)
	return tr
}

// join makes the folder of c a member, through the first node.
func (tr *cluster3) join(c cluster.Config) {
	tr.t.Helper()
	ctx, cancel := context.WithTimeout(tr.t.Context(), 20*time.Second)
	defer cancel()
	token, _, err := tr.nodes[0].Invite(ctx, c.Name, "", time.Hour)
	require.NoError(tr.t, err)
	require.NoError(tr.t, tr.joinBy(ctx, c, token))
}

func (tr *cluster3) joinBy(ctx context.Context, c cluster.Config, token string) error {
	return join.Join(ctx, join.Options{
		Dir: c.Dir, Address: tr.confs[0].Network.Advertise, Token: token, Advertise: c.Network.Advertise,
		Version: c.Version, Level: c.Machine.Level, Now: c.Now,
		StoreSecret: func(secret []byte) error {
			if string(secret) != "the cluster key" {
				return errors.New("another secret")
			}
			return nil
		},
	})
}

// settle waits until the cluster has that many voters, all at the same log index. It must
// be used only while nobody writes to the cluster.
func (tr *cluster3) settle(voters int) {
	tr.t.Helper()
	tr.await(voters, func(s status.Node) bool { return s.Lag == 0 })
}

// settleUnderLoad waits until the cluster has that many voters and all have applied the
// entries logged before the call. Under load settle may never return, because an overview
// asks the nodes one after the other.
func (tr *cluster3) settleUnderLoad(voters int) {
	tr.t.Helper()
	var last uint64
	for _, n := range tr.nodes {
		last = max(last, n.Stats().Last)
	}
	tr.await(voters, func(s status.Node) bool { return s.Applied >= last })
}

// await waits until each node knows a leader and that many voters, all reachable and
// satisfying reached.
func (tr *cluster3) await(voters int, reached func(status.Node) bool) {
	tr.t.Helper()
	awaited := func(o cluster.Overview) bool {
		count := 0
		for _, s := range o.Nodes {
			if s.Role == status.RoleVoter && s.State != status.StateUnreachable && s.Error == "" && reached(s) {
				count++
			}
		}
		return o.Leader != "" && count == voters && len(o.Nodes) == voters
	}
	ctx, cancel := context.WithTimeout(tr.t.Context(), 20*time.Second)
	defer cancel()
	for i := 0; i < len(tr.nodes); {
		o := tr.nodes[i].Overview(ctx)
		switch {
		case awaited(o):
			i++
		case ctx.Err() != nil:
			tr.t.Fatalf("%s sees no cluster of %d voters: %+v", o.Name, voters, o)
		default:
			i = 0
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// leader waits until a node leads and returns its index.
func (tr *cluster3) leader() int {
	tr.t.Helper()
	found := -1
	require.Eventually(tr.t, func() bool {
		for i, n := range tr.nodes {
			if leading, _ := n.Leading(); leading {
				found = i
				return true
			}
		}
		return false
	}, 20*time.Second, 5*time.Millisecond)
	return found
}

// requireSameState waits until all nodes have applied the same index, and compares their
// checksums.
func (tr *cluster3) requireSameState() {
	tr.t.Helper()
	require.Eventually(tr.t, func() bool {
		first := tr.nodes[0].Applied()
		for _, n := range tr.nodes {
			if n.Applied() != first {
				return false
			}
		}
		return true
	}, 20*time.Second, 5*time.Millisecond)
	want, at := tr.nodes[0].Checksum()
	for _, n := range tr.nodes[1:] {
		sum, applied := n.Checksum()
		require.Equal(tr.t, at, applied)
		require.Equal(tr.t, want, sum)
	}
}

func TestThreeNodesAnswerEverywhere(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	const each = 200
	var wg sync.WaitGroup
	var undetermined atomic.Uint64 // refused commands that were proposed twice: the first proposal may have been applied
	for i, n := range tr.nodes {
		for range 4 {
			wg.Go(func() {
				known := uint64(0)
				for done := 0; done < each; {
					r, index, err := proposeRaise(t.Context(), n, "shared", known)
					if err != nil {
						t.Errorf("node %d: %v", i, err)
						return
					}
					if !r.OK && r.Again {
						undetermined.Add(1)
					}
					if r.OK {
						done++
						txn, err := n.ViewAt(t.Context(), index)
						if err != nil || machinetest.Find(txn, "shared").Value < r.Value {
							t.Errorf("node %d: the view at %d does not show %d: %v", i, index, r.Value, err)
						}
					}
					known = r.Value
				}
			})
		}
	}
	wg.Wait()
	for _, n := range tr.nodes {
		txn, err := n.ViewFresh(t.Context())
		require.NoError(t, err)
		counted := machinetest.Find(txn, "shared").Value
		require.GreaterOrEqual(t, counted, uint64(3*4*each))
		require.LessOrEqual(t, counted, uint64(3*4*each)+undetermined.Load())
		require.NoError(t, n.Ready(t.Context()))
	}
	tr.requireSameState()
}

// TestPlannedStopFailsNobody: no command fails while leadership moves and while nodes are
// restarted one by one.
func TestPlannedStopFailsNobody(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	var failed, done atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var mu sync.RWMutex // held while a node is being replaced
	for i := range tr.nodes {
		wg.Go(func() {
			for k := 0; ; k++ {
				select {
				case <-stop:
					return
				default:
				}
				mu.RLock()
				n := tr.nodes[i]
				mu.RUnlock()
				if n == nil {
					time.Sleep(time.Millisecond)
					continue
				}
				_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: fmt.Sprintf("%d-%d", i, k%10), Value: uint64(k)})
				switch {
				case err == nil:
					done.Add(1)
				case n.Closing(): // the command reached a node that is stopping
				case t.Context().Err() != nil:
					return
				default:
					failed.Add(1)
					t.Errorf("node %d: %v", i, err)
				}
			}
		})
	}
	for range 5 {
		i := tr.leader()
		require.NoError(t, tr.nodes[i].TransferLeadership(t.Context(), ""))
	}
	for i := range tr.nodes {
		mu.Lock()
		n := tr.nodes[i]
		tr.nodes[i] = nil
		mu.Unlock()
		shut(t, n)
		c := tr.confs[i]
		l, err := net.Listen("tcp", c.Network.Advertise)
		require.NoError(t, err)
		c.Network.Listener = l
		n = open(t, c)
		mu.Lock()
		tr.nodes[i] = n
		mu.Unlock()
		tr.settleUnderLoad(3)
	}
	close(stop)
	wg.Wait()
	require.Zero(t, failed.Load())
	t.Logf("%d commands", done.Load())
	tr.requireSameState()
}

func TestLossOfTheLeader(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	cluster.Isolate(tr.nodes[i], true)
	started := time.Now()
	for j, n := range tr.nodes {
		if j != i {
			_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "during"})
			require.NoError(t, err)
		}
	}
	t.Logf("writes went on after %v", time.Since(started))
	_, _, err := tr.nodes[i].Propose(t.Context(), &machinetest.Set{Name: "cut off"})
	require.Error(t, err)
	cluster.Isolate(tr.nodes[i], false)
	tr.settle(3)
	require.NotEmpty(t, machinetest.Find(tr.nodes[i].View(), "during").Last)
	tr.requireSameState()
}

// TestLossOfTheLeadersProcess: a refused connection reveals the loss of the leader at
// once, without the election timeout, here an hour. The long CampaignInterval keeps the
// two candidates apart: if they split the vote, they would have to wait for that timeout.
func TestLossOfTheLeadersProcess(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t, func(c *cluster.Config) {
		*c = cluster.WithHooks(*c, cluster.Hooks{CampaignInterval: 20 * time.Second, Raft: func(c *raft.Config) {
			c.HeartbeatTimeout, c.ElectionTimeout = time.Hour, time.Hour
		}})
	})
	i := tr.leader()
	// To the other nodes a killed process looks like this: connections break, and its
	// port refuses new ones.
	cluster.Isolate(tr.nodes[i], true)
	_ = tr.confs[i].Network.Listener.Close()
	for j, n := range tr.nodes {
		if j != i {
			require.Eventually(t, func() bool {
				_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "after"})
				return err == nil
			}, time.Minute, time.Millisecond)
		}
	}
}

func TestJoinTokens(t *testing.T) {
	t.Parallel()
	tr := &cluster3{t: t}
	c := networked(t, "", "n1")
	tr.nodes, tr.confs = append(tr.nodes, open(t, c)), append(tr.confs, c)
	tr.settle(1)
	n := tr.nodes[0]
	ctx := t.Context()
	refused := func(err error, text string) {
		t.Helper()
		var r *member.RefusedError
		require.ErrorAs(t, err, &r)
		require.ErrorContains(t, err, text)
	}
	_, _, err := n.Invite(ctx, "n1", "", time.Hour)
	refused(err, "already")
	require.ErrorIs(t, err, member.ErrNameTaken, "the reply carries the sentinel error")
	_, _, err = n.Invite(ctx, "no name", "", time.Hour)
	refused(err, "letters")
	_, _, err = n.Invite(ctx, "n2", "nobody", time.Hour)
	refused(err, "no node nobody")

	first, _, err := n.Invite(ctx, "n2", "", time.Hour)
	require.NoError(t, err)
	token, _, err := n.Invite(ctx, "n2", "", time.Hour)
	require.NoError(t, err)
	require.NotEqual(t, first, token)

	c2 := networked(t, "", "n2")
	c2.Bootstrap = false
	refused(tr.joinBy(ctx, c2, first), "not known") // replaced by the later token
	refused(tr.joinBy(ctx, c2, "mintmark-join-x"), "not a join token")
	other := networked(t, "", "x1")
	alien := open(t, other)
	require.Eventually(t, func() bool { return len(alien.Members()) == 1 }, 10*time.Second, time.Millisecond)
	foreign, _, err := alien.Invite(ctx, "n2", "", time.Hour)
	require.NoError(t, err)
	refused(tr.joinBy(ctx, c2, foreign), "another cluster")
	gone, _, err := n.Invite(ctx, "n3", "", -time.Second)
	require.NoError(t, err)
	refused(tr.joinBy(ctx, c2, gone), "expired")

	require.NoError(t, tr.joinBy(ctx, c2, token))
	require.NoError(t, tr.joinBy(ctx, c2, token), "a join can be repeated, since its answer may have been lost")
	thief := networked(t, "", "n2")
	refused(tr.joinBy(ctx, thief, token), "used by another node")
	tr.nodes, tr.confs = append(tr.nodes, open(t, c2)), append(tr.confs, c2)
	tr.settle(2)

	for _, file := range []string{"node.key", "peers.json", "node.id"} {
		info, err := os.Stat(filepath.Join(c2.Dir, file))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), file)
	}
	empty := networked(t, "", "n9")
	empty.Bootstrap = false
	_, err = cluster.Open(ctx, empty)
	require.ErrorIs(t, err, cluster.ErrEmpty)
}

// TestRemovedNodeIsRefused: the other nodes reject the key of a removed node, also on
// open connections.
func TestRemovedNodeIsRefused(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	victim := (i + 1) % 3
	require.NoError(t, tr.nodes[i].Remove(t.Context(), fmt.Sprintf("n%d", victim+1), false))
	_, _, err := tr.nodes[victim].Propose(t.Context(), &machinetest.Set{Name: "late"})
	require.Error(t, err)
	require.Empty(t, machinetest.Find(tr.nodes[i].View(), "late").Last)
	o := tr.nodes[i].Overview(t.Context())
	require.Len(t, o.Nodes, 2)
}

// TestRemovalKeepsAMajority: with one node down, removing a second one needs force.
func TestRemovalKeepsAMajority(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	shut(t, tr.nodes[(i+1)%3])
	living := fmt.Sprintf("n%d", (i+2)%3+1)
	require.ErrorContains(t, tr.nodes[i].Remove(t.Context(), living, false), "no majority")
	require.NoError(t, tr.nodes[i].Remove(t.Context(), fmt.Sprintf("n%d", (i+1)%3+1), false))
}

// TestRemovedLeader: the leader itself can be removed.
func TestRemovedLeader(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	other := tr.nodes[(i+1)%3]
	require.NoError(t, other.Remove(t.Context(), fmt.Sprintf("n%d", i+1), false))
	_, _, err := other.Propose(t.Context(), &machinetest.Set{Name: "after"})
	require.NoError(t, err)
	require.Len(t, other.Overview(t.Context()).Nodes, 2)
}

func TestReplacedNodeLeavesWhenTheNewOneVotes(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	dead := (i + 1) % 3
	shut(t, tr.nodes[dead])
	token, _, err := tr.nodes[i].Invite(t.Context(), "n4", fmt.Sprintf("n%d", dead+1), time.Hour)
	require.NoError(t, err)
	c := networked(t, "", "n4")
	c.Bootstrap = false
	tr.confs[0] = tr.confs[i]
	require.NoError(t, tr.joinBy(t.Context(), c, token))
	tr.nodes[dead] = open(t, c)
	tr.settle(3)
	for _, s := range tr.nodes[i].Overview(t.Context()).Nodes {
		require.NotEqual(t, fmt.Sprintf("n%d", dead+1), s.Name)
	}
}

// TestChangeOfAddress: the peers find a node that listens on another address after a
// restart.
func TestChangeOfAddress(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	for i := range tr.nodes {
		shut(t, tr.nodes[i])
		moved := networked(t, "", "")
		tr.confs[i].Network = moved.Network
		tr.nodes[i] = open(t, tr.confs[i])
		tr.settle(3)
	}
}

// TestUnauthenticatedOnThePort: garbage and idle connections on the peer port do not
// disturb the cluster.
func TestUnauthenticatedOnThePort(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	address := tr.confs[0].Network.Advertise
	for _, text := range []string{"", "GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00", string(make([]byte, 4096))} {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, _ = c.Write([]byte(text))
		require.NoError(t, c.Close())
	}
	_, _, err := tr.nodes[1].Propose(t.Context(), &machinetest.Set{Name: "still here"})
	require.NoError(t, err)

	// Idle connections do not keep members out.
	for range 200 {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer c.Close()
	}
	i := 1
	cluster.Isolate(tr.nodes[i], true)
	cluster.Isolate(tr.nodes[i], false)
	tr.settle(3)
}

// TestLateCommandReportsNoReuse: a command that was delayed on the network may find that
// the token it uses was used meanwhile, by the same client's retry. Before the leader
// decides that this is reuse, it asks the forwarding node whether the caller still waits.
// If the caller does, the command is decided.
func TestLateCommandReportsNoReuse(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	require.EqualValues(t, transport.ReplyConfirm, cluster.ServeProposal(tr.nodes[i], &machinetest.Set{Name: "a", ReuseDetected: true}, command.ID{1}, false, 0))
	require.Empty(t, machinetest.Find(tr.nodes[i].View(), "a").Last)
	for j := range tr.nodes {
		name := fmt.Sprint(j)
		_, index, err := tr.nodes[j].Propose(t.Context(), &machinetest.Set{Name: name, ReuseDetected: true})
		require.NoError(t, err)
		view, err := tr.nodes[i].ViewAt(t.Context(), index)
		require.NoError(t, err)
		require.NotEmpty(t, machinetest.Find(view, name).Last)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := tr.nodes[i].Propose(gone, &machinetest.Set{Name: "b", ReuseDetected: true})
	require.ErrorIs(t, err, cluster.ErrUnavailable)
}

// TestOverviewIsInOrderOfNames: an overview is sorted by name, whatever the ids are.
func TestOverviewIsInOrderOfNames(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	for _, n := range tr.nodes {
		var names []string
		for _, s := range n.Overview(t.Context()).Nodes {
			names = append(names, s.Name)
		}
		require.Equal(t, []string{"n1", "n2", "n3"}, names)
	}
}
