package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// initialCluster3 is three nodes with generated folders, and a copy of each folder as
// generated.
type initialCluster3 struct {
	*cluster3
	copies string
}

func newInitialCluster3(t testing.TB) *initialCluster3 {
	t.Helper()
	f := &initialCluster3{cluster3: &cluster3{t: t, nodes: make([]*cluster.Node, 3)}, copies: t.TempDir()}
	var list []member.InitialNode
	for i := range 3 {
		c := networked(t, filepath.Join(t.TempDir(), "raft"), fmt.Sprintf("n%d", i+1))
		c.Bootstrap = false
		f.confs = append(f.confs, c)
		list = append(list, member.InitialNode{Dir: c.Dir, Name: c.Name, Address: c.Network.Advertise})
	}
	require.NoError(t, member.StaticBootstrap(list, plainSecrets{}, time.Now()))
	for i, c := range f.confs {
		copyFolder(t, filepath.Join(f.copies, fmt.Sprint(i)), c.Dir)
	}
	return f
}

// listen opens the listener of a node again.
func (f *initialCluster3) listen(i int) {
	f.t.Helper()
	n := *f.confs[i].Network
	l, err := net.Listen("tcp", n.Advertise)
	require.NoError(f.t, err)
	n.Listener = l
	f.confs[i].Network = &n
}

// loseData replaces the folder of a stopped node by the generated copy.
func (f *initialCluster3) loseData(i int) {
	f.t.Helper()
	require.NoError(f.t, os.RemoveAll(f.confs[i].Dir))
	copyFolder(f.t, f.confs[i].Dir, filepath.Join(f.copies, fmt.Sprint(i)))
	f.listen(i)
}

// openResult is what Open returned.
type openResult struct {
	node *cluster.Node
	err  error
}

// openAsync opens a node in the background.
func (f *initialCluster3) openAsync(ctx context.Context, i int) <-chan openResult {
	done := make(chan openResult, 1)
	go func() {
		n, err := cluster.Open(ctx, f.confs[i])
		done <- openResult{n, err}
	}()
	return done
}

// waitOpen waits until a node has opened, and keeps it.
func (f *initialCluster3) waitOpen(i int, done <-chan openResult) {
	f.t.Helper()
	o := <-done
	require.NoError(f.t, o.err)
	f.t.Cleanup(func() { shut(f.t, o.node) })
	f.nodes[i] = o.node
}

func (f *initialCluster3) ctx() context.Context {
	ctx, cancel := context.WithTimeout(f.t.Context(), 30*time.Second)
	f.t.Cleanup(cancel)
	return ctx
}

// openAll opens all nodes, which bootstraps the cluster.
func (f *initialCluster3) openAll() {
	f.t.Helper()
	ctx := f.ctx()
	var done []<-chan openResult
	for i := range f.confs {
		done = append(done, f.openAsync(ctx, i))
	}
	for i := range done {
		f.waitOpen(i, done[i])
	}
	f.settle(3)
}

// readPeersFile returns what peers.json records about the bootstrap.
func (f *initialCluster3) readPeersFile(i int) (initial bool, instances int) {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(f.confs[i].Dir, "peers.json"))
	require.NoError(f.t, err)
	var list struct {
		InitialCluster bool `json:"initial_cluster"`
		Members        []struct {
			InstanceID []byte `json:"instance_id"`
		}
	}
	require.NoError(f.t, json.Unmarshal(text, &list))
	for _, m := range list.Members {
		if len(m.InstanceID) > 0 {
			instances++
		}
	}
	return list.InitialCluster, instances
}

// hookBootstrap calls hook after each round of questions of a node.
func (f *initialCluster3) hookBootstrap(i int, hook func(begins bool, silent []string) error) {
	f.confs[i] = cluster.WithHooks(f.confs[i], cluster.Hooks{Bootstrap: hook})
}

func TestStaticBootstrap(t *testing.T) {
	t.Parallel()
	f := newInitialCluster3(t)
	initial, instances := f.readPeersFile(0)
	require.True(t, initial)
	require.Zero(t, instances)
	f.openAll()
	for i, n := range f.nodes {
		_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: n.ID()})
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			initial, instances := f.readPeersFile(i)
			return !initial && instances == 3
		}, 10*time.Second, 5*time.Millisecond)
	}
	f.requireSameState()

	// All nodes restart, and then a fourth joins.
	for i, n := range f.nodes {
		shut(t, n)
		f.listen(i)
	}
	for i, c := range f.confs {
		f.nodes[i] = open(t, c)
	}
	f.settle(3)
	fourth := networked(t, "", "n4")
	fourth.Bootstrap = false
	f.join(fourth)
	f.nodes, f.confs = append(f.nodes, open(t, fourth)), append(f.confs, fourth)
	f.settle(4)
	f.requireSameState()
}

// TestNobodyBeginsBeforeAllHaveMet: two of three nodes would be a majority, but must
// still wait for the third.
func TestNobodyBeginsBeforeAllHaveMet(t *testing.T) {
	t.Parallel()
	f := newInitialCluster3(t)
	type round struct {
		begins bool
		silent int
	}
	rounds := make(chan round, 100)
	for i := range 2 {
		f.hookBootstrap(i, func(begins bool, silent []string) error {
			rounds <- round{begins, len(silent)}
			return nil
		})
	}
	late := f.confs[2].Network.Listener
	require.NoError(t, late.Close())
	ctx := f.ctx()
	first, second := f.openAsync(ctx, 0), f.openAsync(ctx, 1)
	// Each of the two has had the other's answer several times.
	for met := 0; met < 6; {
		var r round
		select {
		case r = <-rounds:
		case <-ctx.Done():
			require.Fail(t, "no round of questions ran")
		}
		require.False(t, r.begins)
		if r.silent == 1 {
			met++
		}
	}
	f.listen(2)
	third := f.openAsync(ctx, 2)
	f.waitOpen(0, first)
	f.waitOpen(1, second)
	f.waitOpen(2, third)
	f.settle(3)
	_, _, err := f.nodes[2].Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
	f.requireSameState()
}

// TestNodeThatLostItsDataIsRefused: a node that lost its data has forgotten its votes.
func TestNodeThatLostItsDataIsRefused(t *testing.T) {
	t.Parallel()
	f := newInitialCluster3(t)
	f.openAll()
	i := f.leader()
	lost, other := (i+1)%3, (i+2)%3
	shut(t, f.nodes[lost])
	_, _, err := f.nodes[i].Propose(t.Context(), &machinetest.Set{Name: "acknowledged", Value: 1})
	require.NoError(t, err)
	f.loseData(lost)
	_, err = cluster.Open(f.ctx(), f.confs[lost])
	require.ErrorIs(t, err, store.ErrDataLost)
	require.NoError(t, f.nodes[i].Ready(t.Context()))

	// While no peer answers, the node waits, even with Bootstrap set.
	shut(t, f.nodes[i])
	shut(t, f.nodes[other])
	f.loseData(lost)
	f.confs[lost].Bootstrap = true
	ctx, stop := context.WithCancel(f.ctx())
	f.hookBootstrap(lost, func(begins bool, silent []string) error {
		require.False(t, begins)
		require.Len(t, silent, 2)
		stop()
		return nil
	})
	_, err = cluster.Open(ctx, f.confs[lost])
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "waits for")

	// The other nodes resume after their restart, and accept a replacement.
	for _, j := range []int{i, other} {
		f.listen(j)
		f.nodes[j] = open(t, f.confs[j])
	}
	require.Eventually(t, func() bool { return f.nodes[i].Ready(t.Context()) == nil }, 20*time.Second, 10*time.Millisecond)
	f.loseData(lost)
	f.hookBootstrap(lost, nil)
	_, err = cluster.Open(f.ctx(), f.confs[lost])
	require.ErrorIs(t, err, store.ErrDataLost, "refused also by nodes that restarted")
	token, _, err := f.nodes[i].Invite(t.Context(), "n4", fmt.Sprintf("n%d", lost+1), time.Hour)
	require.NoError(t, err)
	c := networked(t, "", "n4")
	c.Bootstrap = false
	f.confs[0] = f.confs[i]
	require.NoError(t, f.joinBy(t.Context(), c, token))
	f.nodes[lost] = open(t, c)
	f.settle(3)
	require.Equal(t, uint64(1), machinetest.Find(f.nodes[lost].View(), "acknowledged").Value)
}

// TestInitialNodeThatStoppedBeforeItStarted: a node that crashed before it began can
// start after the others have begun, since it has lost nothing.
func TestInitialNodeThatStoppedBeforeItStarted(t *testing.T) {
	t.Parallel()
	f := newInitialCluster3(t)
	begun := make(chan struct{})
	crash := errors.New("crash")
	f.hookBootstrap(2, func(begins bool, _ []string) error {
		if !begins {
			return nil
		}
		<-begun // lets the other nodes ask this one
		return crash
	})
	ctx := f.ctx()
	third := f.openAsync(ctx, 2)
	first, second := f.openAsync(ctx, 0), f.openAsync(ctx, 1)
	f.waitOpen(0, first)
	f.waitOpen(1, second)
	close(begun)
	require.ErrorIs(t, (<-third).err, crash)
	f.nodes[2] = f.nodes[0]
	_, _, err := f.nodes[1].Propose(t.Context(), &machinetest.Set{Name: "without it"})
	require.NoError(t, err)

	f.listen(2)
	f.hookBootstrap(2, nil)
	f.waitOpen(2, f.openAsync(ctx, 2))
	f.settle(3)
	f.requireSameState()
}

// TestInitialNodeThatLostItsDataWhileItWaited: nothing has begun yet, so the waiting
// nodes accept it as a new node.
func TestInitialNodeThatLostItsDataWhileItWaited(t *testing.T) {
	t.Parallel()
	f := newInitialCluster3(t)
	require.NoError(t, f.confs[2].Network.Listener.Close())
	ctx := f.ctx()
	met := make(chan struct{}, 100)
	f.hookBootstrap(0, func(_ bool, silent []string) error {
		if len(silent) == 1 {
			met <- struct{}{}
		}
		return nil
	})
	first := f.openAsync(ctx, 0)
	stopping, stop := context.WithCancel(ctx)
	second := f.openAsync(stopping, 1)
	<-met
	stop()
	require.Error(t, (<-second).err)
	f.loseData(1)
	f.listen(2)
	second, third := f.openAsync(ctx, 1), f.openAsync(ctx, 2)
	f.waitOpen(0, first)
	f.waitOpen(1, second)
	f.waitOpen(2, third)
	f.settle(3)
}

func TestInitialFolderMustBeWhole(t *testing.T) {
	t.Parallel()
	f := newInitialCluster3(t)
	key, err := os.ReadFile(filepath.Join(f.confs[1].Dir, "node.key"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(f.confs[0].Dir, "node.key"), key, 0o600))
	_, err = cluster.Open(f.ctx(), f.confs[0])
	require.ErrorContains(t, err, "not from the same generated folder")

	c := f.confs[1]
	c.Secrets = failingSecrets{}
	_, err = cluster.Open(f.ctx(), c)
	require.ErrorContains(t, err, "is not the one that its data are sealed under")

	c = f.confs[2]
	c.Network, c.Bootstrap = nil, true
	_, err = cluster.Open(f.ctx(), c)
	require.ErrorContains(t, err, "no network")
}

// failingSecrets opens nothing.
type failingSecrets struct{ plainSecrets }

func (failingSecrets) Open(string, []byte) ([]byte, error) {
	return nil, errors.New("sealed under another key")
}

func TestInitialFolders(t *testing.T) {
	t.Parallel()
	three := func(change func([]member.InitialNode) []member.InitialNode) []member.InitialNode {
		dir := t.TempDir()
		var list []member.InitialNode
		for i := range 3 {
			name := fmt.Sprintf("n%d", i+1)
			list = append(list, member.InitialNode{Dir: filepath.Join(dir, name), Name: name, Address: name + ".example:8300"})
		}
		return change(list)
	}
	for name, row := range map[string]struct {
		change func([]member.InitialNode) []member.InitialNode
		want   string
	}{
		"one":          {func(l []member.InitialNode) []member.InitialNode { return l[:1] }, member.ErrInitialNodeCount.Error()},
		"two":          {func(l []member.InitialNode) []member.InitialNode { return l[:2] }, "even number"},
		"same name":    {func(l []member.InitialNode) []member.InitialNode { l[2].Name = "n1"; return l }, "two nodes have the name n1"},
		"same address": {func(l []member.InitialNode) []member.InitialNode { l[2].Address = l[0].Address; return l }, "two nodes have the address"},
		"no name":      {func(l []member.InitialNode) []member.InitialNode { l[0].Name = "../x"; return l }, "not a valid name"},
		"no port":      {func(l []member.InitialNode) []member.InitialNode { l[0].Address = "n1.example"; return l }, "not host:port"},
		"same folder":  {func(l []member.InitialNode) []member.InitialNode { l[1].Dir = l[0].Dir; return l }, "already has a node"},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, member.StaticBootstrap(three(row.change), plainSecrets{}, time.Now()), row.want)
		})
	}
	list := three(func(l []member.InitialNode) []member.InitialNode { return l })
	require.NoError(t, member.StaticBootstrap(list, plainSecrets{}, time.Now()))
	require.ErrorContains(t, member.StaticBootstrap(list, plainSecrets{}, time.Now()), "already has a node")
	for _, f := range list {
		for _, file := range []string{"node.key", "peers.json", "node.id"} {
			info, err := os.Stat(filepath.Join(f.Dir, file))
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), file)
		}
	}
}
