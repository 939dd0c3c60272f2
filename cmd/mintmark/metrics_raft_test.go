package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
)

// TestRaftReports: two nodes of raft in memory, whose metrics are in a scrape
// beside ours.
func TestRaftReports(t *testing.T) {
	m := newMetrics(leadingNode())
	require.NoError(t, m.collectRaft())
	declared := scrape(t, m)
	require.Contains(t, declared, "\nraft_transition_heartbeat_timeout 0\n", "told before it happens")
	require.Contains(t, declared, "mintmark_ready 1")

	leader := raftPair(t)
	require.NoError(t, leader.Apply([]byte("entry"), time.Second).Error())
	var text string
	require.Eventually(t, func() bool {
		text = scrape(t, m)
		return strings.Contains(text, "raft_replication_appendEntries_rpc_count{")
	}, 10*time.Second, 10*time.Millisecond)
	require.Contains(t, text, "raft_commitTime_count ")
	require.NotContains(t, text, "\nraft_apply 0\n")
	require.Contains(t, text, `peer_id="`)

	// Every label has few values: names of members, kinds of calls, quantiles.
	for line := range strings.Lines(text) {
		_, labels, ok := strings.Cut(line, "{")
		if !ok || !strings.HasPrefix(line, "raft_") {
			continue
		}
		for label := range strings.SplitSeq(labels[:strings.Index(labels, "}")], ",") {
			name, _, _ := strings.Cut(label, "=")
			require.Contains(t, []string{"peer_id", "rpcType", "quantile"}, name, line)
		}
	}
}

// TestRaftReportsToTheLastCaller: a second collection of the same registry is
// a mistake, one of another takes over.
func TestRaftReportsToTheLastCaller(t *testing.T) {
	first := newMetrics(leadingNode())
	require.NoError(t, first.collectRaft())
	require.Error(t, first.collectRaft())
	require.NoError(t, newMetrics(leadingNode()).collectRaft())
}

// raftPair starts two nodes and returns the one that leads.
func raftPair(t *testing.T) *raft.Raft {
	t.Helper()
	var members []raft.Server
	transports := make([]*raft.InmemTransport, 2)
	for i := range transports {
		address, transport := raft.NewInmemTransport("")
		transports[i] = transport
		members = append(members, raft.Server{ID: raft.ServerID("n" + string(rune('1'+i))), Address: address})
	}
	transports[0].Connect(members[1].Address, transports[1])
	transports[1].Connect(members[0].Address, transports[0])
	nodes := make([]*raft.Raft, len(members))
	for i := range nodes {
		c := raft.DefaultConfig()
		c.LocalID, c.LogOutput, c.NoLegacyTelemetry = members[i].ID, io.Discard, true
		c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = 200*time.Millisecond, 200*time.Millisecond, 100*time.Millisecond
		store := raft.NewInmemStore()
		require.NoError(t, raft.BootstrapCluster(c, store, store, raft.NewDiscardSnapshotStore(), transports[i], raft.Configuration{Servers: members}))
		var err error
		nodes[i], err = raft.NewRaft(c, nothing{}, store, store, raft.NewDiscardSnapshotStore(), transports[i])
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, nodes[i].Shutdown().Error()) })
	}
	var leader *raft.Raft
	require.Eventually(t, func() bool {
		for _, n := range nodes {
			if n.State() == raft.Leader {
				leader = n
				return true
			}
		}
		return false
	}, 20*time.Second, 10*time.Millisecond)
	return leader
}

// nothing is a state machine without a state.
type nothing struct{}

func (nothing) Apply(*raft.Log) any                 { return nil }
func (nothing) Snapshot() (raft.FSMSnapshot, error) { return nothing{}, nil }
func (nothing) Restore(r io.ReadCloser) error       { return r.Close() }
func (nothing) Persist(s raft.SnapshotSink) error   { return s.Close() }
func (nothing) Release()                            {}
