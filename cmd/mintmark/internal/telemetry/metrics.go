package telemetry

import (
	"cmp"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/security"
)

// Metrics are what operators read at /metrics. The node's state is sampled at each
// scrape; events are counted as they happen, by methods that any goroutine may call,
// that allocate nothing and do not block.
//
// The values of every label are known in advance: a client, a user, an unknown path or
// a secret never becomes one.
type Metrics struct {
	registry *prometheus.Registry

	refusals      []prometheus.Counter // by ledger.Cause; nil for a number without a cause
	otherRefusals prometheus.Counter   // refusals with an unknown cause
	reused        map[ledger.Cause]prometheus.Counter
	laterThanDue  prometheus.Counter
	retries       prometheus.Counter
	shared        prometheus.Counter
	tokens        map[oauth.GrantType]prometheus.Counter
	failures      *prometheus.CounterVec // failed authentications, by kind and cause
	backups       *prometheus.CounterVec // failed scheduled backups of this node, by reason
	commits       prometheus.Histogram
	requests      *prometheus.CounterVec
	durations     *prometheus.HistogramVec
	unrouted      *Route // requests that match no route

	Routes []*Route // every route, in the order of registration
}

// requestBuckets reach from a refresh on an idle node to the timeout of clients, in
// seconds.
var requestBuckets = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5}

// commitBuckets begin below one fsync of a good disk, in seconds.
var commitBuckets = []float64{0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5}

// NewMetrics returns metrics of the node src, which runs this version of the program.
// They have a registry of their own, so that two nodes can run in one process.
func NewMetrics(src Source, version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		laterThanDue: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "mintmark_later_than_due_total",
			Help: "Presented refresh tokens of a later generation than the one due. Each means that data were lost or keys leaked.",
		}),
		retries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "mintmark_refresh_retries_total",
			Help: "Refreshes that were answered again because the response may have been lost. The audit trail has one a day for each grant.",
		}),
		shared: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "mintmark_shared_generations_total",
			Help: "Refresh tokens that were used twice, like at least the two before them: two copies of an application share one grant, or a thief refreshes as often as the owner.",
		}),
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "mintmark_commit_duration_seconds", Buckets: commitBuckets,
			Help: "Time from a command's proposal on this node to its outcome.",
		}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mintmark_http_requests_total",
			Help: "Requests by the route's pattern and the class of the status; aborted: the connection was cut, or the client hung up before a failure.",
		}, []string{"method", "route", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mintmark_http_request_duration_seconds", Buckets: requestBuckets,
			Help: "Time to answer a request, by the route's pattern.",
		}, []string{"method", "route"}),
	}
	m.failures = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mintmark_authentication_failures_total",
		Help: "Failed sign-ins, and failed authentications of clients, of readers of revocations and of operators on other machines, by cause; with the cause throttled, the credentials were not checked.",
	}, []string{"kind", "cause"})
	for kind, causes := range map[security.Kind][]ledger.Cause{
		security.SignIn: {ledger.PasswordWrong, ledger.NoSuchUser, ledger.Throttled},
		security.Client: {ledger.SecretWrong, ledger.UnknownClient, ledger.Throttled},
		security.Reader: {ledger.SecretWrong, ledger.Throttled},

		security.Operator: {
			ledger.OperatorUnauthenticated, ledger.OperatorTokenUnknown, ledger.OperatorTokenExpired, ledger.OperatorTokenRevoked,
			ledger.OperatorCertificateRefused, ledger.OperatorCrossOrigin, ledger.OperatorScopeMissing, ledger.LocalOnly,
		},
	} {
		for _, cause := range causes { // an alert needs a value before the first failure
			m.failures.WithLabelValues(string(kind), cmp.Or(cause.Name(), otherLabel))
		}
	}
	m.backups = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mintmark_backup_failures_total", Help: "Scheduled backups of this node that failed, by reason.",
	}, []string{"reason"})
	for _, reason := range ledger.BackupFailures { // an alert needs a value before the first failure
		m.backups.WithLabelValues(string(reason))
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		newNodeCollector(src, version), m.laterThanDue, m.retries, m.shared, m.commits, m.requests, m.durations, m.failures, m.backups,
	)
	m.countRefusals()
	m.countTokens()
	m.unrouted = m.route(otherLabel, otherLabel)
	m.unrouted.once.Do(m.unrouted.init) // an alert on 5xx needs a value before the first request
	return m
}

// otherLabel is the value of a label for everything that has no value of its own.
const otherLabel = "other"

// Handler answers a scrape. If a collector fails, only its own metrics are missing.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, Registry: m.registry, MaxRequestsInFlight: 4,
	})
}

func (m *Metrics) countRefusals() {
	refusals := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mintmark_refusals_total", Help: "Refusals by the rule that refused.",
	}, []string{"cause"})
	reused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mintmark_reuse_detected_total",
		Help: "Grants that ended because a used credential was presented again.",
	}, []string{"credential"})
	m.registry.MustRegister(refusals, reused)
	m.otherRefusals = refusals.WithLabelValues(otherLabel)
	causes := ledger.Causes()
	m.refusals = make([]prometheus.Counter, causes[len(causes)-1]+1)
	for _, cause := range causes {
		m.refusals[cause] = refusals.WithLabelValues(cause.Name())
	}
	m.reused = map[ledger.Cause]prometheus.Counter{
		ledger.CodeReused:    reused.WithLabelValues("code"),
		ledger.RefreshReused: reused.WithLabelValues("refresh_token"),
	}
}

func (m *Metrics) countTokens() {
	tokens := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mintmark_tokens_issued_total", Help: "Access tokens issued by the type of the grant.",
	}, []string{"grant_type"})
	m.registry.MustRegister(tokens)
	m.tokens = map[oauth.GrantType]prometheus.Counter{}
	for _, g := range []oauth.GrantType{oauth.AuthorizationCode, oauth.RefreshToken} {
		m.tokens[g] = tokens.WithLabelValues(string(g))
	}
}

// Refused counts a refusal that was answered, and in addition reuse and a credential
// that is later than due.
func (m *Metrics) Refused(c ledger.Cause) {
	counter := m.otherRefusals
	if int(c) < len(m.refusals) && m.refusals[c] != nil {
		counter = m.refusals[c]
	}
	counter.Inc()
	switch c {
	case ledger.CodeReused, ledger.RefreshReused:
		m.reused[c].Inc()
	case ledger.LaterThanDue:
		m.laterThanDue.Inc()
	}
}

// Failed counts a failed sign-in or client authentication.
func (m *Metrics) Failed(kind security.Kind, cause ledger.Cause) {
	m.failures.WithLabelValues(string(kind), cmp.Or(cause.Name(), otherLabel)).Inc()
}

// BackupFailed counts a failed backup of this node.
func (m *Metrics) BackupFailed(reason ledger.BackupFailure) {
	m.backups.WithLabelValues(string(reason)).Inc()
}

// Issued counts a token response. retry: it repeats an earlier response; shared: two
// copies of an application use one grant.
func (m *Metrics) Issued(g oauth.GrantType, retry, shared bool) {
	if c, ok := m.tokens[g]; ok {
		c.Inc()
	}
	if retry {
		m.retries.Inc()
	}
	if shared {
		m.shared.Inc()
	}
}

// Committed records how long the decision of a command took.
func (m *Metrics) Committed(d time.Duration) { m.commits.Observe(d.Seconds()) }
