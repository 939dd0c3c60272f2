package cluster_test

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

// links are the network links between the nodes of a cluster of three. Each direction can
// be cut.
type links struct {
	mu   sync.Mutex // guards the fields below
	to   map[string]string
	cut  map[[2]string]bool
	open map[net.Conn][2]string

	swallows  map[[2]string]bool
	swallowed chan struct{} // receives an element when a connection is swallowed
	gaveUp    chan struct{} // receives an element when a swallowed connection ends
}

func newLinks() *links {
	return &links{
		to: map[string]string{}, cut: map[[2]string]bool{}, open: map[net.Conn][2]string{},
		swallows: map[[2]string]bool{}, swallowed: make(chan struct{}, 100), gaveUp: make(chan struct{}, 100),
	}
}

// redirect routes a node's connections to the others through links.
func (l *links) redirect(t *testing.T, c *cluster.Config) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to[c.Name] = c.Network.Advertise
	c.Network.Peers = map[string]string{}
	for _, other := range []string{"n1", "n2", "n3"} {
		if other == c.Name {
			continue
		}
		way, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { _ = way.Close() })
		c.Network.Peers[other] = way.Addr().String()
		go l.proxy(way, [2]string{c.Name, other})
	}
}

func (l *links) proxy(way net.Listener, link [2]string) {
	for {
		from, err := way.Accept()
		if err != nil {
			return
		}
		go func() {
			defer l.drop(from)
			if !l.track(from, link) {
				return
			}
			if l.isSwallowed(link) {
				l.swallowed <- struct{}{}
				_, _ = io.Copy(io.Discard, from)
				l.gaveUp <- struct{}{}
				return
			}
			to, err := net.Dial("tcp", l.to[link[1]])
			if err != nil || !l.track(to, link) {
				return
			}
			defer l.drop(to)
			go func() { _, _ = io.Copy(from, to); l.drop(from) }()
			_, _ = io.Copy(to, from)
		}()
	}
}

// track records a connection and reports whether its link is open.
func (l *links) track(c net.Conn, link [2]string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = link
	return !l.cut[link]
}

func (l *links) drop(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
	_ = c.Close()
}

func (l *links) isSwallowed(link [2]string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.swallows[link]
}

// swallow closes the connections of a link and accepts new ones without ever answering.
// It returns once there is a new one.
func (l *links) swallow(link [2]string) {
	l.mu.Lock()
	l.swallows[link] = true
	l.mu.Unlock()
	l.setCut(true, link)
	l.setCut(false, link)
	<-l.swallowed
}

// setCut cuts or restores links.
func (l *links) setCut(cut bool, all ...[2]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, link := range all {
		l.cut[link] = cut
		for c, of := range l.open {
			if cut && of == link {
				_ = c.Close()
			}
		}
	}
}

// TestNobodyVotesBeforeTheLogHandshake: the folder of n3 was rolled back. Only n1
// remembers the entry that n3 lacks, and n1 is slow to be reached. Meanwhile n2, which
// lacks the same entry, asks n3 for its vote.
func TestNobodyVotesBeforeTheLogHandshake(t *testing.T) {
	t.Parallel()
	l := newLinks()
	r := newRollbackCluster(t, func(c *cluster.Config) { l.redirect(t, c) })
	l.setCut(true, [2]string{"n1", "n2"}, [2]string{"n2", "n1"}, [2]string{"n2", "n3"}, [2]string{"n3", "n2"})
	r.older = t.TempDir() // contains everything that n2 knows of
	shut(t, r.nodes[2])
	copyFolder(t, r.older, r.confs[2].Dir)
	r.start(2)
	require.Eventually(t, func() bool {
		_, _, err := r.nodes[0].Propose(t.Context(), &machinetest.Set{Name: "suspended", Value: 99})
		return err == nil
	}, time.Minute, time.Millisecond)
	r.rollBack()
	l.setCut(true, [2]string{"n1", "n3"}, [2]string{"n3", "n1"})
	l.setCut(false, [2]string{"n2", "n3"}, [2]string{"n3", "n2"})

	release := make(chan struct{})
	r.confs[2] = cluster.WithHooks(r.confs[2], cluster.Hooks{LogHandshake: func() { <-release }})
	r.start(2)
	require.Eventually(t, func() bool { return r.nodes[1].Raft().State() == raft.Candidate }, 20*time.Second, time.Millisecond)
	require.Never(t, func() bool { return r.nodes[1].Raft().State() == raft.Leader }, 3*time.Second, time.Millisecond)
	l.setCut(false, [2]string{"n3", "n1"})
	close(release)
	r.requireEnded()
	require.NotEqual(t, raft.Leader, r.nodes[1].Raft().State())
	require.Equal(t, uint64(99), machinetest.Find(r.nodes[0].View(), "suspended").Value)
}

// TestDeposedLeaderIsRecorded: the new leader, a former follower, has recorded the
// position of the old leader.
func TestDeposedLeaderIsRecorded(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	_, index, err := tr.nodes[i].Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
	id := tr.nodes[i].ID()
	shut(t, tr.nodes[i])
	require.Eventually(t, func() bool {
		for _, n := range []*cluster.Node{tr.nodes[(i+1)%3], tr.nodes[(i+2)%3]} {
			if leading, _ := n.Leading(); leading {
				return n.Log().KnownPosition(id).Index >= index
			}
		}
		return false
	}, 20*time.Second, 5*time.Millisecond)
}

// TestLaterTermsReplace: a node with an entry of a later term counts as having the
// uncommitted entries of an earlier term, since the later term replaced them.
func TestLaterTermsReplace(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	n := tr.nodes[i]
	last, term := n.Raft().LastIndex(), n.Raft().CurrentTerm()
	require.True(t, n.Folder().HasEntry(integrity.Position{Index: last, Term: term}))
	require.True(t, n.Folder().HasEntry(integrity.Position{Index: last + 5, Term: term - 1}))
	require.False(t, n.Folder().HasEntry(integrity.Position{Index: last + 5, Term: term}))
	require.False(t, n.Folder().HasEntry(integrity.Position{Index: last + 5, Term: term + 1}))
}
