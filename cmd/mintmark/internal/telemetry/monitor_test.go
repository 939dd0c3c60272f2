package telemetry

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	yamlv3 "go.yaml.in/yaml/v3"
)

// exported returns the names of all series that a node exports.
func exported(t *testing.T) map[string]bool {
	t.Helper()
	m := NewMetrics(leadingNode(), "dev")
	require.NoError(t, m.CollectRaft())
	m.route("GET", "/").served(200, 0)
	families, err := m.registry.Gather()
	require.NoError(t, err)
	names := map[string]bool{"up": true} // Prometheus adds it
	for _, f := range families {
		names[f.GetName()] = true
		if f.GetType().String() == "HISTOGRAM" {
			names[f.GetName()+"_bucket"] = true
		}
	}
	return names
}

var (
	quoted    = regexp.MustCompile(`"[^"]*"`)
	matchers  = regexp.MustCompile(`\{[^}]*\}`)
	grouping  = regexp.MustCompile(`\b(?:by|without) \([^)]*\)`)
	words     = regexp.MustCompile(`\b[a-z_][a-z0-9_]*\b`)
	durations = regexp.MustCompile(`\[[^\]]*\]`)
)

// metricsOf returns the names of metrics in an expression.
func metricsOf(expression string) (names []string) {
	for _, pattern := range []*regexp.Regexp{quoted, matchers, grouping, durations} {
		expression = pattern.ReplaceAllString(expression, "")
	}
	for _, word := range words.FindAllString(expression, -1) {
		if strings.Contains(word, "_") && word != "histogram_quantile" && word != "label_values" || word == "up" {
			names = append(names, word)
		}
	}
	return names
}

type ruleFile struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr, For    string
			Labels, Annotations map[string]string
		}
	}
}

func rules(t *testing.T) (f ruleFile) {
	t.Helper()
	d := yamlv3.NewDecoder(strings.NewReader(Rules))
	d.KnownFields(true)
	require.NoError(t, d.Decode(&f))
	return f
}

// TestRulesNameWhatExists: the rules use only metrics, severities and sections of
// documents that exist.
func TestRulesNameWhatExists(t *testing.T) {
	names, seen := exported(t), 0
	for _, r := range rules(t).Groups[0].Rules {
		all := metricsOf(r.Expr)
		require.NotEmpty(t, all, r.Alert)
		for _, name := range all {
			require.True(t, names[name], "%s: %s", r.Alert, name)
		}
		require.Contains(t, []string{"page", "ticket"}, r.Labels["severity"], r.Alert)
		require.Len(t, r.Annotations, 3, r.Alert)
		require.NotEmpty(t, r.Annotations["summary"], r.Alert)
		require.NotEmpty(t, r.Annotations["action"], r.Alert)
		file, anchor, _ := strings.Cut(r.Annotations["document"], "#")
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", file))
		require.NoError(t, err, r.Alert)
		heading := `(?mi)^#+ ` + strings.ReplaceAll(regexp.QuoteMeta(anchor), "-", " ") + `$`
		require.True(t, anchor == "" || regexp.MustCompile(heading).Match(text), "%s: %s", r.Alert, r.Annotations["document"])
		seen++
	}
	require.Greater(t, seen, 20)
}

// TestDashboardNamesWhatExists: the dashboard uses only metrics that exist, and shows
// nearly all metrics of Mintmark.
func TestDashboardNamesWhatExists(t *testing.T) {
	var d struct {
		Panels []struct {
			ID          int
			Type, Title string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ Expr, LegendFormat string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(Dashboard), &d))
	names, shown := exported(t), map[string]bool{}
	var rows []string
	var ids []int
	for _, p := range d.Panels {
		require.NotContains(t, ids, p.ID)
		ids = append(ids, p.ID)
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		if p.Type == "row" {
			rows = append(rows, p.Title)
			continue
		}
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			for _, name := range metricsOf(target.Expr) {
				require.True(t, names[name], "%s: %s", p.Title, name)
				shown[strings.TrimSuffix(name, "_bucket")] = true
			}
		}
	}
	require.Equal(t, []string{"Overview", "Traffic", "Latency by route", "Cluster", "Keys and certificates", "Storage", "Security", "Numbers"}, rows)
	for name := range names {
		if strings.HasPrefix(name, "mintmark_") && !strings.HasSuffix(name, "_bucket") &&
			!slices.Contains([]string{"mintmark_cluster_leader_known", "mintmark_cluster_term", "mintmark_cluster_commit_index", "mintmark_cluster_last_index", "mintmark_cluster_feature_level", "mintmark_in_flight_commands"}, name) {
			require.True(t, shown[name], "%s is on no panel", name)
		}
	}
}

// healthy has one hour of the series of a cluster in which no alert fires.
var healthy = map[string]string{
	`up{job="mintmark",instance="n1"}`:                                                             "1x120",
	`mintmark_ready{instance="n1"}`:                                                                "1x120",
	`mintmark_cluster_leader_known{instance="n1"}`:                                                 "1x120",
	`mintmark_cluster_members{instance="n1"}`:                                                      "3x120",
	`mintmark_cluster_members_reachable{instance="n1"}`:                                            "3x120",
	`mintmark_cluster_lag_entries{instance="n1"}`:                                                  "5x120",
	`mintmark_clock_offset_max_seconds{instance="n1"}`:                                             "0.01x120",
	`mintmark_state_time_ahead_seconds{instance="n1"}`:                                             "0x120",
	`mintmark_disk_hung{instance="n1"}`:                                                            "0x120",
	`mintmark_disk_free_bytes{instance="n1"}`:                                                      "5e10x120",
	`mintmark_backup_last_success_timestamp_seconds{instance="n1"}`:                                "0x120",
	`mintmark_backup_interval_seconds{instance="n1"}`:                                              "21600x120",
	`mintmark_backup_failures_total{instance="n1",reason="disk_full"}`:                             "0x120",
	`mintmark_queue_commands{instance="n1"}`:                                                       "1x120",
	`mintmark_queue_capacity_commands{instance="n1"}`:                                              "2048x120",
	`mintmark_keys{instance="n1",purpose="signing",state="active"}`:                                "1x120",
	`mintmark_certificate_expiry_timestamp_seconds{instance="n1"}`:                                 "2592000x120",
	`mintmark_tls_certificate_expiry_timestamp_seconds{instance="n1",listener="public"}`:           "2592000x240",
	`mintmark_later_than_due_total{instance="n1"}`:                                                 "0x120",
	`mintmark_reuse_detected_total{instance="n1",credential="code"}`:                               "0+0x120",
	`mintmark_refusals_total{instance="n1",cause="secret_wrong"}`:                                  "0+1x120",
	`mintmark_tokens_issued_total{instance="n1",grant_type="refresh_token"}`:                       "0+300x120",
	`raft_state_leader_total{instance="n1"}`:                                                       "1x120",
	`mintmark_authentication_failures_total{instance="n1",kind="sign_in",cause="password_wrong"}`:  "0+1x120",
	`mintmark_authentication_failures_total{instance="n1",kind="sign_in",cause="throttled"}`:       "0x120",
	`mintmark_http_requests_total{instance="n1",status="2xx"}`:                                     "0+300x120",
	`mintmark_http_requests_total{instance="n1",status="5xx"}`:                                     "0+1x120",
	`mintmark_commit_duration_seconds_bucket{instance="n1",le="0.005"}`:                            "0+300x120",
	`mintmark_commit_duration_seconds_bucket{instance="n1",le="2.5"}`:                              "0+300x120",
	`mintmark_commit_duration_seconds_bucket{instance="n1",le="+Inf"}`:                             "0+300x120",
	`mintmark_http_request_duration_seconds_bucket{instance="n1",` + tokenRoute + `,le="0.01"}`:    "0+300x120",
	`mintmark_http_request_duration_seconds_bucket{instance="n1",` + tokenRoute + `,le="2.5"}`:     "0+300x120",
	`mintmark_http_request_duration_seconds_bucket{instance="n1",` + tokenRoute + `,le="+Inf"}`:    "0+300x120",
	`mintmark_authentication_failures_total{instance="n1",kind="client_authentication",cause="x"}`: "0+1x120",
}

const tokenRoute = `method="POST",route="/v2/auth/oauth2/token"`

// broken has, for each alert, the series that differs from a healthy cluster when the
// alert fires, and the labels of the alert apart from its severity. There is one case for
// each operand of "or" in the expression.
var broken = map[string][]struct{ series, values, labels string }{
	"MintmarkOutage":                     {{`mintmark_ready{instance="n1"}`, "0x120", ""}, {`mintmark_ready{instance="n1"}`, "_x120", ""}},
	"MintmarkNodeDown":                   {{`up{job="mintmark",instance="n1"}`, "0x120", "job=mintmark instance=n1"}},
	"MintmarkNotReady":                   {{`mintmark_ready{instance="n1"}`, "0x120", "instance=n1"}},
	"MintmarkNoLeader":                   {{`mintmark_cluster_leader_known{instance="n1"}`, "0x120", ""}},
	"MintmarkMemberUnreachable":          {{`mintmark_cluster_members_reachable{instance="n1"}`, "2x120", "instance=n1"}},
	"MintmarkFollowerLags":               {{`mintmark_cluster_lag_entries{instance="n1"}`, "20000x120", "instance=n1"}},
	"MintmarkLeadershipChanges":          {{`raft_state_leader_total{instance="n1"}`, "0+1x120", ""}},
	"MintmarkClockOff":                   {{`mintmark_state_time_ahead_seconds{instance="n1"}`, "6x120", "instance=n1"}, {`mintmark_clock_offset_max_seconds{instance="n1"}`, "6x120", "instance=n1"}},
	"MintmarkDiskHung":                   {{`mintmark_disk_hung{instance="n1"}`, "1x120", "instance=n1"}},
	"MintmarkDiskLow":                    {{`mintmark_disk_free_bytes{instance="n1"}`, "5e8x120", "instance=n1"}},
	"MintmarkBackupOld":                  {{`mintmark_backup_interval_seconds{instance="n1"}`, "600x120", ""}},
	"MintmarkBackupMissing":              {{`mintmark_backup_last_success_timestamp_seconds{instance="n1"}`, "_x120", ""}},
	"MintmarkBackupFails":                {{`mintmark_backup_failures_total{instance="n1",reason="disk_full"}`, "0x90 1x30", "instance=n1 reason=disk_full"}},
	"MintmarkCommitsSlow":                {{`mintmark_commit_duration_seconds_bucket{instance="n1",le="0.005"}`, "0x120", "instance=n1"}},
	"MintmarkQueueFull":                  {{`mintmark_queue_commands{instance="n1"}`, "2000x120", "instance=n1"}},
	"MintmarkErrors":                     {{`mintmark_http_requests_total{instance="n1",status="5xx"}`, "0+30x120", "instance=n1"}},
	"MintmarkTokenEndpointSlow":          {{`mintmark_http_request_duration_seconds_bucket{instance="n1",` + tokenRoute + `,le="0.01"}`, "0x120", "instance=n1"}},
	"MintmarkRefusals":                   {{`mintmark_refusals_total{instance="n1",cause="secret_wrong"}`, "0+200x120", "instance=n1"}},
	"MintmarkSignInsFail":                {{`mintmark_authentication_failures_total{instance="n1",kind="sign_in",cause="password_wrong"}`, "0+30x120", ""}},
	"MintmarkClientsFail":                {{`mintmark_authentication_failures_total{instance="n1",kind="client_authentication",cause="x"}`, "0+60x120", ""}},
	"MintmarkThrottles":                  {{`mintmark_authentication_failures_total{instance="n1",kind="sign_in",cause="throttled"}`, "0+5x120", "kind=sign_in"}},
	"MintmarkReuse":                      {{`mintmark_reuse_detected_total{instance="n1",credential="code"}`, "0+1x120", ""}},
	"MintmarkLaterThanDue":               {{`mintmark_later_than_due_total{instance="n1"}`, "0x105 1x15", "instance=n1"}},
	"MintmarkSigningKeys":                {{`mintmark_keys{instance="n1",purpose="signing",state="active"}`, "0x120", "instance=n1 purpose=signing state=active"}},
	"MintmarkListenerCertificateExpires": {{`mintmark_tls_certificate_expiry_timestamp_seconds{instance="n1",listener="public"}`, "90000x240", "instance=n1 listener=public"}},
	"MintmarkCertificateExpires":         {{`mintmark_certificate_expiry_timestamp_seconds{instance="n1"}`, "90000x240", "instance=n1"}},
}

// promtoolTests returns tests of the rules for promtool: one of a healthy cluster, and
// one for each case in broken. Annotations are left out, since promtool would compare
// them.
func promtoolTests(t *testing.T) []byte {
	t.Helper()
	type object = map[string]any
	series := func(differs, values string) (all []object) {
		for s, v := range healthy {
			if s == differs {
				v = values
			}
			all = append(all, object{"series": s, "values": v})
		}
		return all
	}
	var quiet, tests []object
	for _, r := range rules(t).Groups[0].Rules {
		quiet = append(quiet, object{"eval_time": "55m", "alertname": r.Alert, "exp_alerts": []object{}})
		cases := broken[r.Alert]
		require.Len(t, cases, 1+strings.Count(r.Expr, " or "), "%s: cases in which it fires", r.Alert)
		for _, b := range cases {
			require.Contains(t, healthy, b.series)
			labels, at := object{"severity": r.Labels["severity"]}, "55m"
			for _, pair := range strings.Fields(b.labels) {
				name, value, _ := strings.Cut(pair, "=")
				labels[name] = value
			}
			if r.For == "1h" {
				at = "70m"
			}
			tests = append(tests, object{"interval": "30s", "input_series": series(b.series, b.values), "alert_rule_test": []object{
				{"eval_time": at, "alertname": r.Alert, "exp_alerts": []object{{"exp_labels": labels}}},
			}})
		}
	}
	require.Len(t, broken, len(quiet))
	tests = append(tests, object{"interval": "30s", "input_series": series("", ""), "alert_rule_test": quiet})
	text, err := yamlv3.Marshal(object{"rule_files": []string{"bare.yaml"}, "evaluation_interval": "30s", "tests": tests})
	require.NoError(t, err)
	return text
}

// TestRulesByPromtool: Prometheus accepts the rules. Each alert fires in a cluster that
// has its fault. No alert fires in a healthy cluster.
func TestRulesByPromtool(t *testing.T) {
	tests := promtoolTests(t)
	promtool, err := exec.LookPath("promtool")
	require.NoError(t, err, "make deps installs promtool")
	dir := t.TempDir()
	for name, text := range map[string][]byte{
		"rules.yaml": []byte(Rules), "tests.yaml": tests,
		"bare.yaml": regexp.MustCompile(`(?m)^        annotations:\n(?:          .*\n)+`).ReplaceAll([]byte(Rules), nil),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	for _, arguments := range [][]string{{"check", "rules", "rules.yaml"}, {"test", "rules", "tests.yaml"}} {
		c := exec.CommandContext(t.Context(), promtool, arguments...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}
