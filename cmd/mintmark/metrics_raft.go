package main

import (
	"fmt"
	"time"

	gometrics "github.com/armon/go-metrics"
	"github.com/armon/go-metrics/prometheus"
)

// peerMetricsExpire is how long the metrics of a peer are told after the last
// one: those of a node that was removed go away.
const peerMetricsExpire = 10 * time.Minute

// collectRaft has raft's own metrics told beside ours, under the names that
// raft gives them, as raft_commitTime. Times are in milliseconds.
//
// Raft reports to one place of the process, so the last caller gets them: it
// is called once, by main and not by what makes a server.
func (m *metrics) collectRaft() error {
	sink, err := prometheus.NewPrometheusSinkFrom(prometheus.PrometheusOpts{
		Name: "raft", Registerer: m.registry, Expiration: peerMetricsExpire,
		CounterDefinitions: raftCounters, GaugeDefinitions: raftGauges,
	})
	if err != nil {
		return fmt.Errorf("register the metrics of raft: %w", err)
	}
	c := gometrics.DefaultConfig("")
	c.EnableHostname, c.EnableRuntimeMetrics = false, false // the first changes names, the second is Go's collector's
	c.FilterDefault, c.AllowedPrefixes = false, []string{"raft"}
	c.AllowedLabels = []string{"peer_id", "rpcType"} // members and kinds of calls
	if _, err := gometrics.NewGlobal(c, sink); err != nil {
		return fmt.Errorf("collect the metrics of raft: %w", err)
	}
	return nil
}

// What is declared is told from the start and does not expire: a count of
// elections that begins with its first can't be seen to rise.
var (
	raftCounters = []prometheus.CounterDefinition{
		{Name: []string{"raft", "apply"}, Help: "Log entries proposed by this node as leader."},
		{Name: []string{"raft", "barrier"}, Help: "Barriers of this node as leader."},
		{Name: []string{"raft", "state", "follower"}, Help: "Times that this node became a follower."},
		{Name: []string{"raft", "state", "candidate"}, Help: "Times that this node stood for election."},
		{Name: []string{"raft", "state", "leader"}, Help: "Times that this node was elected."},
		{Name: []string{"raft", "transition", "heartbeat_timeout"}, Help: "Times that this node heard too long nothing of a leader."},
		{Name: []string{"raft", "transition", "leader_lease_timeout"}, Help: "Times that this node as leader lost its majority."},
	}
	raftGauges = []prometheus.GaugeDefinition{
		{Name: []string{"raft", "commitNumLogs"}, Help: "Log entries committed together last."},
		{Name: []string{"raft", "leader", "dispatchNumLogs"}, Help: "Log entries stored together last by this node as leader."},
	}
)
