package cluster_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/status"
)

// logBuffer is a log that can be read while it is written.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *logBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *logBuffer) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Count(s.text.String(), what)
}

// TestReachabilityIsLoggedOnce: it is logged once that a node became unreachable and once
// that it is reachable again. Raft's own messages about it are not logged.
func TestReachabilityIsLoggedOnce(t *testing.T) {
	t.Parallel()
	var logs []*logBuffer
	tr := newCluster3(t, func(c *cluster.Config) {
		logs = append(logs, new(logBuffer))
		c.Logger = slog.New(slog.NewTextHandler(logs[len(logs)-1], nil))
	})
	tr.waitClocksKnown()
	i := tr.leader()
	follower, other := (i+1)%3, (i+2)%3
	shut(t, tr.nodes[follower])
	gone := func(n int) bool {
		return logs[i].count(`node unreachable" name=`+tr.confs[follower].Name) == n && logs[other].count("node unreachable") == n
	}
	require.Eventually(t, func() bool { return gone(1) }, 20*time.Second, 10*time.Millisecond)
	require.NoError(t, tr.nodes[i].TransferLeadership(t.Context(), tr.confs[other].Name))
	require.Eventually(t, func() bool { return logs[other].count("leadership acquired") == 1 }, 10*time.Second, 10*time.Millisecond)
	require.Eventually(t, func() bool { return logs[i].count("leadership lost") == 1 }, 10*time.Second, 10*time.Millisecond)
	tr.relisten(follower)
	tr.nodes[follower] = open(t, tr.confs[follower])
	require.Eventually(t, func() bool { return logs[i].count("node reachable again") == 1 }, 20*time.Second, 10*time.Millisecond)
	require.True(t, gone(1))
	for _, l := range logs {
		require.Zero(t, l.count("raft: "), l.text.String())
	}
}

// TestOverviewOfAnElection: during a transfer of leadership, an overview that names a
// leader reports no node without one.
func TestOverviewOfAnElection(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	tr.waitClocksKnown()
	for range 8 {
		i := tr.leader()
		next := tr.confs[(i+1)%3].Name
		require.NoError(t, tr.nodes[i].TransferLeadership(t.Context(), next))
		for led := false; !led; {
			led = true
			for _, n := range tr.nodes {
				o := n.Overview(t.Context())
				for _, s := range o.Nodes {
					if o.Leader != "" && s.State != status.StateLeader {
						require.NotEmpty(t, s.Follows, "%s by %s", s.Name, o.Name)
					}
				}
				led = led && o.Leader == next
			}
		}
	}
}

// TestFollowedElsewhere: a node that can't reach the leader learns from the other nodes
// who leads.
func TestFollowedElsewhere(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	names := []string{"n1", "n2", "n3"}
	cut, other := (i+1)%3, (i+2)%3
	forgetPeer(t, tr.nodes[i], names[cut])
	forgetPeer(t, tr.nodes[cut], names[i])
	cluster.Isolate(tr.nodes[cut], true) // closes the open connections
	cluster.Isolate(tr.nodes[cut], false)
	require.Eventually(t, func() bool {
		for _, s := range tr.nodes[other].Overview(t.Context()).Nodes {
			if s.Name == names[cut] && (s.State == status.StateUnreachable || s.Follows != "") {
				return false // the third node reaches it and learns that it knows no leader
			}
		}
		o := tr.nodes[cut].Overview(t.Context())
		if o.Leader != "" {
			return false
		}
		for _, s := range o.Nodes {
			if s.Name == names[other] {
				return s.Follows == names[i]
			}
		}
		return false
	}, 20*time.Second, 10*time.Millisecond)
}
