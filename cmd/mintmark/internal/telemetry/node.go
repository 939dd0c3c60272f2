package telemetry

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A Source supplies the data of a scrape.
type Source interface {
	// Sample returns the current state of the node. It must not block, in particular not
	// on a disk, which may be what is broken.
	Sample() NodeSample
}

// A NodeSample is the state of one node.
type NodeSample struct {
	Ready bool // /readyz answers 200
	Open  bool // the state is open; if it is not, its other fields but TLSExpires are not exported

	status.Stats

	TLSExpires  map[string]time.Time // of the certificate of each listener with TLS, by the setting of its address
	BackupAt    time.Time            // of the cluster's last verified backup; zero: there is none
	BackupEvery time.Duration        // between two scheduled backups; 0: none are scheduled

	Keys map[KeyKind]int // how many of each kind are in the keyring

	Numbers *ledger.Numbers // of rows, counted in the background; nil until they are
}

// A KeyKind counts keys of one purpose and state.
type KeyKind struct {
	Purpose ledger.Purpose
	State   ledger.KeyState
}

// nodeGauges are the metrics of a sample that have no labels. A value is omitted if known
// returns false.
var nodeGauges = []struct {
	name, help string
	value      func(NodeSample) float64
	known      func(NodeSample) bool // nil: always
}{
	{"mintmark_cluster_is_leader", "1 if this node leads.", func(s NodeSample) float64 { return zeroOrOne(s.Leading) }, nil},
	{"mintmark_cluster_leader_known", "1 if this node knows the leader.", func(s NodeSample) float64 { return zeroOrOne(s.LeaderKnown) }, nil},
	{"mintmark_cluster_term", "Latest term that this node knows.", func(s NodeSample) float64 { return float64(s.Term) }, nil},
	{"mintmark_cluster_applied_index", "Index of the last log entry in this node's state.", func(s NodeSample) float64 { return float64(s.Applied) }, nil},
	{"mintmark_cluster_commit_index", "Index of the last log entry that this node knows to be committed.", func(s NodeSample) float64 { return float64(s.Commit) }, nil},
	{"mintmark_cluster_last_index", "Index of the last entry in this node's log.", func(s NodeSample) float64 { return float64(s.Last) }, nil},
	{"mintmark_cluster_lag_entries", "Log entries that the leader has committed and this node has not applied.", func(s NodeSample) float64 { return float64(s.Lag) }, nil},
	{"mintmark_cluster_members", "Members of the cluster.", func(s NodeSample) float64 { return float64(s.Members) }, nil},
	{
		"mintmark_cluster_members_reachable", "Members that answer this node, including itself.",
		func(s NodeSample) float64 { return float64(s.Reachable) },
		nil,
	},
	{"mintmark_cluster_feature_level", "Feature level that all voters support.", func(s NodeSample) float64 { return float64(s.Level) }, nil},
	{"mintmark_queue_commands", "Commands that wait for the log.", func(s NodeSample) float64 { return float64(s.Queue) }, nil},
	{"mintmark_queue_capacity_commands", "Commands that may wait; further ones are answered 503.", func(s NodeSample) float64 { return float64(s.QueueSize) }, nil},
	{"mintmark_in_flight_commands", "Commands that were proposed on this node and are not answered yet.", func(s NodeSample) float64 { return float64(s.InFlight) }, nil},
	{"mintmark_disk_free_bytes", "Free space on the disk of the log.", func(s NodeSample) float64 { return float64(s.DiskFree) }, nil},
	{"mintmark_disk_hung", "1 if a write to the disk of the log has not returned.", func(s NodeSample) float64 { return zeroOrOne(s.DiskHung) }, nil},
	{"mintmark_clock_offset_max_seconds", "Greatest difference between this node's clock and another's.", func(s NodeSample) float64 { return s.ClockOffset.Abs().Seconds() }, nil},
	{"mintmark_state_time_ahead_seconds", "How far the time of the last decision is ahead of the clocks of a majority; 0 if it is not. Above 10 nothing is decided.", func(s NodeSample) float64 { return s.StateAhead.Seconds() }, nil},
	{
		"mintmark_certificate_expiry_timestamp_seconds", "When this node's certificate for the other nodes expires, in Unix time.",
		func(s NodeSample) float64 { return float64(s.CertificateExpires.Unix()) },
		func(s NodeSample) bool { return !s.CertificateExpires.IsZero() },
	},
	{
		"mintmark_backup_last_success_timestamp_seconds", "When the cluster's last scheduled backup that was read back and verified was begun, in Unix time. Absent before the first.",
		func(s NodeSample) float64 { return float64(s.BackupAt.UnixMilli()) / 1000 },
		func(s NodeSample) bool { return !s.BackupAt.IsZero() },
	},
	{
		"mintmark_backup_interval_seconds", "Time between two scheduled backups. Absent if none are scheduled.",
		func(s NodeSample) float64 { return s.BackupEvery.Seconds() },
		func(s NodeSample) bool { return s.BackupEvery > 0 },
	},
}

// numberGauges are the metrics of a sample's numbers that have no labels.
var numberGauges = []struct {
	name, help string
	value      func(*ledger.Numbers) int
}{
	{"mintmark_users", "Users, counted at least once a minute, like clients, sessions and grants; less often if there are very many.", func(n *ledger.Numbers) int { return n.Users }},
	{"mintmark_sessions", "Sessions of users.", func(n *ledger.Numbers) int { return n.Sessions }},
	{"mintmark_grants", "Grants that were not ended.", func(n *ledger.Numbers) int { return n.Grants }},
}

var clientStates = []ledger.ClientState{ledger.Pending, ledger.Approved, ledger.Rejected, ledger.Suspended}

// The kinds of keys are exported even with the count zero, for an alarm on "no active
// key".
var (
	keyPurposes = []ledger.Purpose{ledger.ForSigning, ledger.ForCredentials}
	keyStates   = []ledger.KeyState{ledger.KeyAnnounced, ledger.KeyActive, ledger.KeyRetiring}
)

// A nodeCollector converts one sample of a scrape to metrics, so that the values of a
// scrape belong together.
type nodeCollector struct {
	src    Source
	build  prometheus.Metric
	ready  *prometheus.Desc
	gauges []*prometheus.Desc
	keys   *prometheus.Desc
	tls    *prometheus.Desc

	numbers []*prometheus.Desc // of numberGauges
	clients *prometheus.Desc
}

func newNodeCollector(src Source, version string) *nodeCollector {
	build := prometheus.NewDesc("mintmark_build_info", "The version of this program; always 1.", nil, prometheus.Labels{"version": version})
	c := &nodeCollector{
		src:     src,
		build:   prometheus.MustNewConstMetric(build, prometheus.GaugeValue, 1),
		ready:   prometheus.NewDesc("mintmark_ready", "1 if /readyz answers 200.", nil, nil),
		tls:     prometheus.NewDesc("mintmark_tls_certificate_expiry_timestamp_seconds", "When the certificate of a listener, or another one of its chain, expires, in Unix time.", []string{"listener"}, nil),
		keys:    prometheus.NewDesc("mintmark_keys", "Keys of the keyring by purpose and state.", []string{"purpose", "state"}, nil),
		clients: prometheus.NewDesc("mintmark_clients", "Clients by state, without the deleted ones.", []string{"state"}, nil),
	}
	for _, g := range numberGauges {
		c.numbers = append(c.numbers, prometheus.NewDesc(g.name, g.help, nil, nil))
	}
	for _, g := range nodeGauges {
		c.gauges = append(c.gauges, prometheus.NewDesc(g.name, g.help, nil, nil))
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *nodeCollector) Describe(out chan<- *prometheus.Desc) {
	out <- c.build.Desc()
	out <- c.ready
	out <- c.keys
	out <- c.tls
	out <- c.clients
	for _, d := range slices.Concat(c.gauges, c.numbers) {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *nodeCollector) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	s := c.src.Sample()
	out <- c.build
	gauge(c.ready, zeroOrOne(s.Ready))
	for listener, at := range s.TLSExpires {
		gauge(c.tls, float64(at.Unix()), listener)
	}
	if !s.Open {
		return
	}
	for i, g := range nodeGauges {
		if g.known == nil || g.known(s) {
			gauge(c.gauges[i], g.value(s))
		}
	}
	for _, purpose := range keyPurposes {
		for _, state := range keyStates {
			gauge(c.keys, float64(s.Keys[KeyKind{purpose, state}]), string(purpose), string(state))
		}
	}
	if s.Numbers == nil {
		return
	}
	for i, g := range numberGauges {
		gauge(c.numbers[i], float64(g.value(s.Numbers)))
	}
	for _, state := range clientStates {
		gauge(c.clients, float64(s.Numbers.Clients[state]), string(state))
	}
}

func zeroOrOne(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
