package telemetry

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	gometrics "github.com/armon/go-metrics"
	"github.com/armon/go-metrics/prometheus"
)

// peerMetricsExpire is how long the metrics of a peer are exported after their last
// update, so that those of a removed node disappear.
const peerMetricsExpire = 10 * time.Minute

// CollectRaft exports raft's own metrics beside ours. It converts raft's names and units
// to those of Prometheus: raft.commitTime, in milliseconds, becomes
// raft_commit_time_seconds.
//
// Raft reports to one sink of the process, so the last caller receives the metrics:
// only "mintmark serve", which runs one node in a process, calls it.
func (m *Metrics) CollectRaft() error {
	sink, err := prometheus.NewPrometheusSinkFrom(prometheus.PrometheusOpts{
		Name: "raft", Registerer: m.registry, Expiration: peerMetricsExpire,
		CounterDefinitions: raftCounters, GaugeDefinitions: raftGauges,
	})
	if err != nil {
		return fmt.Errorf("register raft metrics: %w", err)
	}
	c := gometrics.DefaultConfig("")
	c.EnableHostname, c.EnableRuntimeMetrics = false, false // the first changes names; Go's collector covers the second
	c.FilterDefault, c.AllowedPrefixes = false, []string{"raft"}
	c.AllowedLabels = []string{"peer_id", "rpcType"} // members and kinds of calls
	if _, err := gometrics.NewGlobal(c, raftSink{sink}); err != nil {
		return fmt.Errorf("collect raft metrics: %w", err)
	}
	return nil
}

// raftSink converts names, labels and units to the conventions of Prometheus.
type raftSink struct{ *prometheus.PrometheusSink }

func (s raftSink) IncrCounterWithLabels(key []string, value float32, labels []gometrics.Label) {
	s.PrometheusSink.IncrCounterWithLabels(append(snakes(key), "total"), value, snakeLabels(labels))
}

func (s raftSink) SetGaugeWithLabels(key []string, value float32, labels []gometrics.Label) {
	name := snakes(key)
	switch name[len(name)-1] {
	case "last_restore_duration", "oldest_log_age":
		name, value = append(name, "seconds"), value/1000
	}
	s.PrometheusSink.SetGaugeWithLabels(name, value, snakeLabels(labels))
}

// AddSampleWithLabels implements the sink. Samples are durations in milliseconds, except
// those in the switch.
func (s raftSink) AddSampleWithLabels(key []string, value float32, labels []gometrics.Label) {
	name := snakes(key)
	switch name[len(name)-1] {
	case "apply_batch_num", "saturation":
	default:
		name, value = append(name, "seconds"), value/1000
	}
	s.PrometheusSink.AddSampleWithLabels(name, value, snakeLabels(labels))
}

func snakes(key []string) []string {
	name := make([]string, len(key), len(key)+1)
	for i, part := range key {
		name[i] = snake(part)
	}
	return name
}

func snakeLabels(labels []gometrics.Label) []gometrics.Label {
	renamed := make([]gometrics.Label, len(labels))
	for i, l := range labels {
		renamed[i] = gometrics.Label{Name: snake(l.Name), Value: l.Value}
	}
	return renamed
}

// snake converts camel case to snake case: getRPCType becomes get_rpc_type.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		last := i == 0 || i+1 == len(name)
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(rune(name[i-1])) || !last && unicode.IsLower(rune(name[i+1]))) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Declared metrics are exported from the start and do not expire: the rise of a counter
// that appears with its first event can't be seen.
var (
	raftCounters = []prometheus.CounterDefinition{
		{Name: []string{"raft", "apply", "total"}, Help: "Log entries proposed by this node as leader."},
		{Name: []string{"raft", "barrier", "total"}, Help: "Barriers that this node started as leader."},
		{Name: []string{"raft", "state", "follower", "total"}, Help: "Times that this node became a follower."},
		{Name: []string{"raft", "state", "candidate", "total"}, Help: "Times that this node was a candidate."},
		{Name: []string{"raft", "state", "leader", "total"}, Help: "Times that this node was elected."},
		{Name: []string{"raft", "transition", "heartbeat_timeout", "total"}, Help: "Times that this node did not hear from a leader within the heartbeat timeout."},
		{Name: []string{"raft", "transition", "leader_lease_timeout", "total"}, Help: "Times that this node as leader lost its majority."},
	}
	raftGauges = []prometheus.GaugeDefinition{
		{Name: []string{"raft", "commit_num_logs"}, Help: "Log entries in the last commit."},
		{Name: []string{"raft", "leader", "dispatch_num_logs"}, Help: "Log entries that this node, as leader, stored in its last write."},
	}
)
