package chaos

import (
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// TestTwoStaticBootstraps creates two clusters instead of one: two operators on one node,
// and a third on another node. The two clusters never mix, and the mistake can be
// corrected.
func TestTwoStaticBootstraps(t *testing.T) {
	c := newSingle(t, build(t), false)
	one, two, three := c.add("n1"), c.add("n2"), c.add("n3")
	for _, n := range c.all() {
		require.NoError(t, n.start())
		require.True(t, testkit.Until(eventually, n.Alive), "%s is not alive", n.Name)
	}
	var made [3]int
	var all sync.WaitGroup
	for i, n := range []*node{one, one, two} {
		all.Go(func() { made[i] = n.run("cluster", "init", "--public-url", c.base).Code })
	}
	all.Wait()
	require.Contains(t, made[:2], exitOK, "one of two commands on one node succeeds: %v", made)
	require.Equal(t, exitOK, made[2])
	c.requireReady(one, two)
	require.Equal(t, []string{"n1"}, one.memberNames(t), "two operators created one cluster")
	require.Equal(t, []string{"n2"}, two.memberNames(t))

	// The second cluster is configured to join the first. It can't, since it has a state.
	require.NoError(t, two.Process().Stop(syscall.SIGTERM, 2*maxRequestTime))
	token := one.Must("", "cluster", "invite", "--name", "n2")
	two.invitation = c.dir + "/n2.token"
	require.NoError(t, os.WriteFile(two.invitation, []byte(token), 0o600))
	require.NoError(t, two.start())
	// It either stays a separate cluster or refuses to start; the first cluster does not
	// accept it as a member.
	testkit.Until(time.Second, func() bool { return !two.Running() || two.Ready() })
	require.Equal(t, []string{"n1"}, one.memberNames(t))
	two.Release()

	// With an empty folder it can join, and so can a new third node.
	require.NoError(t, os.RemoveAll(two.Dir))
	three.Release()
	three.invitation = c.dir + "/n3.token"
	require.NoError(t, os.WriteFile(three.invitation, []byte(one.Must("", "cluster", "invite", "--name", "n3")), 0o600))
	for _, n := range []*node{two, three} {
		require.NoError(t, n.start())
		c.requireReady(n)
	}
	require.True(t, testkit.Until(eventually, func() bool { return len(c.voters()) == nodes }), "all are voters")
	w := newEnv(t, c)
	require.NoError(t, w.requireSameState())
}

// memberNames returns the names of the members, as known by a node.
func (n *node) memberNames(t *testing.T) (names []string) {
	t.Helper()
	s, err := n.Status()
	require.NoError(t, err)
	for _, m := range s.Nodes {
		names = append(names, m.Name)
	}
	return names
}

// TestStaticBootstrap starts generated nodes concurrently, and kills each of them once
// before the cluster is formed.
func TestStaticBootstrap(t *testing.T) {
	c := newSingle(t, build(t), false)
	arguments := []string{"cluster", "generate", "--public-url", "", "--out", c.dir + "/made"}
	for _, name := range []string{"n1", "n2", "n3"} {
		n := c.add(name)
		arguments = append(arguments, "--node", name+"="+n.Raft)
	}
	arguments[3] = c.base
	c.nodes[0].Must("", arguments...)
	for _, n := range c.all() {
		require.NoError(t, os.Rename(c.dir+"/made/"+n.Name, n.Dir))
		n.Flags = []string{"--public-url", c.base}
	}
	for _, n := range c.all() {
		require.NoError(t, n.start())
	}
	for _, n := range c.all() {
		require.True(t, testkit.Until(eventually, n.Alive), "%s is not alive", n.Name)
		n.Process().Kill()
		require.NoError(t, n.start())
	}
	c.requireReady(c.all()...)
	require.Len(t, c.voters(), nodes)
	w := newEnv(t, c)
	require.NoError(t, w.requireSameState())
}
