package telemetry

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// fakeNode is a source with a sample that the test sets.
type fakeNode NodeSample

func (n *fakeNode) Sample() NodeSample { return NodeSample(*n) }

func leadingNode() *fakeNode {
	return &fakeNode{
		Ready: true, Open: true,
		Stats: status.Stats{
			Leading: true, LeaderKnown: true,
			Term: 7, Applied: 1199, Commit: 1200, Last: 1201, Lag: 1,
			Members: 3, Reachable: 2, Level: 1,
			Queue: 5, QueueSize: 2048, InFlight: 6,
			DiskFree: 1 << 30, DiskHung: true, ClockOffset: -1500 * time.Millisecond, StateAhead: 2500 * time.Millisecond,
			CertificateExpires: time.Unix(1_800_000_000, 0),
		},
		TLSExpires: map[string]time.Time{"listen": time.Unix(1_800_000_000, 0)},
		BackupAt:   time.UnixMilli(1_700_000_000_500), BackupEvery: 6 * time.Hour,
		Keys: map[KeyKind]int{
			{ledger.ForSigning, ledger.KeyActive}:     1,
			{ledger.ForSigning, ledger.KeyRetiring}:   2,
			{ledger.ForCredentials, ledger.KeyActive}: 1,
			{"of-a-later-version", "whatever"}:        9,
		},
		Numbers: &ledger.Numbers{Clients: map[ledger.ClientState]int{ledger.Approved: 12, ledger.Pending: 1, ledger.Deleted: 99}, Users: 7, Sessions: 3, Grants: 40},
	}
}

// scrape returns the response of /metrics, without the metrics of Go, of the process and
// of the handler itself.
func scrape(t testing.TB, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	var ours strings.Builder
	for line := range strings.Lines(w.Body.String()) {
		name := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		if strings.HasPrefix(name, "mintmark_") || strings.HasPrefix(name, "raft_") {
			ours.WriteString(line)
		}
	}
	return ours.String()
}

// TestMetricsScrape compares a scrape with testdata/metrics.txt, so that changes of names
// and help texts are reviewed. MINTMARK_TEST_UPDATE=1 rewrites the file.
func TestMetricsScrape(t *testing.T) {
	m := NewMetrics(leadingNode(), "dev")
	m.Refused(ledger.SecretWrong)
	m.Refused(ledger.SecretWrong)
	m.Refused(ledger.CodeReused)
	m.Refused(ledger.RefreshReused)
	m.Refused(ledger.LaterThanDue)
	m.Refused(ledger.NoCause)
	m.Refused(ledger.Cause(60000))
	m.Issued(oauth.AuthorizationCode, false, false)
	m.Issued(oauth.RefreshToken, false, false)
	m.Issued(oauth.RefreshToken, true, true)
	m.Issued("made up by a stranger", false, false)
	m.Committed(700 * time.Microsecond)
	m.Committed(20 * time.Second)
	m.BackupFailed(ledger.BackupDiskFull)
	token := m.route(http.MethodPost, oauth.PathToken)
	token.served(200, 3*time.Millisecond)
	token.served(503, 2*time.Second)
	token.served(0, time.Second)
	// Causes are left out here: TestMetricsNameEveryCause tests them.
	got := regexp.MustCompile(`mintmark_refusals_total\{.*\} 0\n`).ReplaceAllString(scrape(t, m), "")

	file := filepath.Join("testdata", "metrics.txt")
	if os.Getenv("MINTMARK_TEST_UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// TestMetricsOfANodeThatWaits: a node without a cluster reports that it is not ready, and
// omits numbers that it doesn't know.
func TestMetricsOfANodeThatWaits(t *testing.T) {
	got := scrape(t, NewMetrics(&fakeNode{Stats: status.Stats{Term: 7}}, "dev"))
	require.Contains(t, got, "mintmark_ready 0\n")
	require.Contains(t, got, `mintmark_build_info{version="`)
	for _, name := range []string{"mintmark_cluster_", "mintmark_disk_", "mintmark_keys", "mintmark_queue_", "mintmark_grants", "mintmark_clients"} {
		require.NotContains(t, got, name)
	}
}

func TestMetricsLeaveOutWhatIsUnknown(t *testing.T) {
	got := scrape(t, NewMetrics(&fakeNode{Open: true}, "dev"))
	require.NotContains(t, got, "mintmark_certificate_expiry")
	require.NotContains(t, got, "mintmark_backup_last_success")
	require.NotContains(t, got, "mintmark_backup_interval")
	require.Contains(t, got, `mintmark_keys{purpose="signing",state="active"} 0`)
}

// TestMetricsAreLinted checks the names and types of all metrics by promtool's rules,
// including those that raft's source reports.
func TestMetricsAreLinted(t *testing.T) {
	m := NewMetrics(leadingNode(), "dev")
	m.route(http.MethodGet, "/")
	require.NoError(t, m.CollectRaft())
	reportAsRaft(t)
	problems, err := testutil.GatherAndLint(m.registry)
	require.NoError(t, err)
	require.Empty(t, problems)
	families, err := m.registry.Gather()
	require.NoError(t, err)
	raft := 0
	for _, f := range families {
		name := f.GetName()
		if strings.HasPrefix(name, "raft_") {
			raft++
			continue
		}
		require.True(t, strings.HasPrefix(name, "mintmark_") || strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_"), name)
	}
	require.Greater(t, raft, 35)
}

// TestMetricsDoNotAllocate: recording a metric allocates nothing, since every request
// does it.
func TestMetricsDoNotAllocate(t *testing.T) {
	m := NewMetrics(leadingNode(), "dev")
	route := m.route(http.MethodPost, oauth.PathToken)
	for name, f := range pushes(m, route) {
		require.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}

func BenchmarkMetrics(b *testing.B) {
	m := NewMetrics(leadingNode(), "dev")
	for name, f := range pushes(m, m.route(http.MethodPost, oauth.PathToken)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}

func pushes(m *Metrics, route *Route) map[string]func() {
	return map[string]func(){
		"refused":   func() { m.Refused(ledger.SecretWrong) },
		"reused":    func() { m.Refused(ledger.RefreshReused) },
		"issued":    func() { m.Issued(oauth.RefreshToken, false, false) },
		"committed": func() { m.Committed(time.Millisecond) },
		"served":    func() { route.served(200, time.Millisecond) },
	}
}
