package telemetry

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gometrics "github.com/armon/go-metrics"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
)

// TestRaftReports: a scrape includes the metrics of two raft nodes in memory.
func TestRaftReports(t *testing.T) {
	m := NewMetrics(leadingNode(), "dev")
	require.NoError(t, m.CollectRaft())
	declared := scrape(t, m)
	require.Contains(t, declared, "\nraft_transition_heartbeat_timeout_total 0\n", "exported before the first event")
	require.Contains(t, declared, "mintmark_ready 1")

	leader := raftPair(t)
	require.NoError(t, leader.Apply([]byte("entry"), time.Second).Error())
	var text string
	require.Eventually(t, func() bool {
		text = scrape(t, m)
		return strings.Contains(text, "raft_replication_append_entries_rpc_seconds_count{")
	}, 10*time.Second, 10*time.Millisecond)
	require.Contains(t, text, "raft_commit_time_seconds_count ")
	require.NotContains(t, text, "\nraft_apply_total 0\n")
	require.Contains(t, text, `peer_id="`)

	// Every label has few values: names of members, types of calls, quantiles.
	for line := range strings.Lines(text) {
		_, labels, ok := strings.Cut(line, "{")
		if !ok || !strings.HasPrefix(line, "raft_") {
			continue
		}
		for label := range strings.SplitSeq(labels[:strings.Index(labels, "}")], ",") {
			name, _, _ := strings.Cut(label, "=")
			require.Contains(t, []string{"peer_id", "rpc_type", "quantile"}, name, line)
		}
	}
}

// TestRaftReportsToTheLastCaller: a second collection into the same registry is an error;
// one into another registry replaces the first.
func TestRaftReportsToTheLastCaller(t *testing.T) {
	first := NewMetrics(leadingNode(), "dev")
	require.NoError(t, first.CollectRaft())
	require.Error(t, first.CollectRaft())
	require.NoError(t, NewMetrics(leadingNode(), "dev").CollectRaft())
}

// TestRaftReportsSeconds: raft's milliseconds are converted to seconds, and other values
// are not.
func TestRaftReportsSeconds(t *testing.T) {
	m := NewMetrics(leadingNode(), "dev")
	require.NoError(t, m.CollectRaft())
	gometrics.AddSample([]string{"raft", "leader", "lastContact"}, 2500)
	gometrics.AddSampleWithLabels([]string{"raft", "net", "rpcDecode"}, 500, []gometrics.Label{{Name: "rpcType", Value: "AppendEntries"}})
	gometrics.AddSample([]string{"raft", "thread", "main", "saturation"}, 0.25)
	gometrics.AddSample([]string{"raft", "fsm", "applyBatchNum"}, 64)
	gometrics.SetGauge([]string{"raft", "fsm", "lastRestoreDuration"}, 1500)
	gometrics.SetGauge([]string{"raft", "oldestLogAge"}, 1500)
	gometrics.SetGauge([]string{"raft", "peers"}, 3)
	text := scrape(t, m)
	for _, line := range []string{
		"raft_leader_last_contact_seconds_sum 2.5",
		`raft_net_rpc_decode_seconds_sum{rpc_type="AppendEntries"} 0.5`,
		"raft_thread_main_saturation_sum 0.25",
		"raft_fsm_apply_batch_num_sum 64",
		"raft_fsm_last_restore_duration_seconds 1.5",
		"raft_oldest_log_age_seconds 1.5",
		"raft_peers 3",
	} {
		require.Contains(t, text, "\n"+line+"\n")
	}
}

// reportAsRaft reports each metric of raft's source once, since a test can't cause all of
// them reliably.
func reportAsRaft(t *testing.T) {
	labels := []gometrics.Label{{Name: "peer_id", Value: "n2"}, {Name: "rpcType", Value: "RequestVote"}}
	reports := map[string]func(key []string){
		"IncrCounter":            func(key []string) { gometrics.IncrCounter(key, 1) },
		"IncrCounterWithLabels":  func(key []string) { gometrics.IncrCounterWithLabels(key, 1, labels) },
		"SetGauge":               func(key []string) { gometrics.SetGauge(key, 1) },
		"AddSample":              func(key []string) { gometrics.AddSample(key, 1) },
		"MeasureSince":           func(key []string) { gometrics.MeasureSince(key, time.Now()) },
		"MeasureSinceWithLabels": func(key []string) { gometrics.MeasureSinceWithLabels(key, time.Now(), labels) },
		"newSaturationMetric":    func(key []string) { gometrics.AddSample(key, 1) },
	}
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/hashicorp/raft").Output()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			name := types.ExprString(call.Fun)
			report := reports[strings.TrimPrefix(name, "metrics.")]
			key, ok := call.Args[0].(*ast.CompositeLit)
			if report == nil || !ok {
				require.False(t, strings.HasPrefix(name, "metrics.") && report == nil, name)
				return true
			}
			var parts []string
			for _, e := range key.Elts {
				part, ok := e.(*ast.BasicLit)
				if !ok {
					return true // the key has the name of a peer: the cluster disables such metrics
				}
				parts = append(parts, strings.Trim(part.Value, `"`))
			}
			report(parts)
			return true
		})
	}
	gometrics.SetGauge([]string{"raft", "oldestLogAge"}, 1) // its key is not a literal
}

// raftPair starts two nodes and returns the leader.
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
		nodes[i], err = raft.NewRaft(c, emptyFSM{}, store, store, raft.NewDiscardSnapshotStore(), transports[i])
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

// emptyFSM is a state machine without a state.
type emptyFSM struct{}

func (emptyFSM) Apply(*raft.Log) any                 { return nil }
func (emptyFSM) Snapshot() (raft.FSMSnapshot, error) { return emptyFSM{}, nil }
func (emptyFSM) Restore(r io.ReadCloser) error       { return r.Close() }
func (emptyFSM) Persist(s raft.SnapshotSink) error   { return s.Close() }
func (emptyFSM) Release()                            {}
