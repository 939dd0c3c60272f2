package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// securityLines returns the lines of the security log.
func securityLines(t testing.TB, log *testkit.Buffer) (lines []map[string]any) {
	t.Helper()
	for text := range strings.Lines(log.String()) {
		var line struct{ Security map[string]any }
		require.NoError(t, json.Unmarshal([]byte(text), &line), text)
		if line.Security != nil {
			lines = append(lines, line.Security)
		}
	}
	return lines
}

// TestFailuresLeaveTraces: failures are in the node's log with a bounded number of lines,
// in its metrics, and once an hour in the audit trail. A typed user name is recorded only
// if such a user exists, since it may be a password.
func TestFailuresLeaveTraces(t *testing.T) {
	t.Parallel()
	var log testkit.Buffer
	var ahead atomic.Int64
	ts := startTestServer(t, t.TempDir(), fixtureText, func(c *server.Config) {
		c.Log = slog.New(slog.NewJSONHandler(&log, nil))
		c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		c.Proxies = proxy.Trusted{}
	})
	// Wrong secrets until the client is limited, and a client that does not exist.
	const secret = "not-the-secret-of-this-client"
	statuses := map[int]int{}
	var id string
	for range 600 {
		a := ts.form("grant_type", "refresh_token", "refresh_token", "x", "client_id", "cal-app", "client_secret", secret)
		statuses[a.Status]++
		id = a.Header.Get("X-Request-Id")
		require.NotEmpty(t, id)
	}
	require.NotZero(t, statuses[http.StatusUnauthorized])
	require.NotZero(t, statuses[http.StatusTooManyRequests])
	ts.form("grant_type", "refresh_token", "refresh_token", "x", "client_id", "a-stranger", "client_secret", secret)

	// Wrong passwords, and a password typed into the name field.
	const typed = "hunter2-in-the-wrong-field"
	signIn := func(name string) int {
		b := ts.browser()
		page := b.get(ts.App + "/auth/sign-in")
		a := b.submit(page, "password", "username", name, "password", "wrong password")
		require.NotEmpty(t, a.Header.Get("X-Request-Id"))
		return a.Status
	}
	for range 4 {
		require.Equal(t, http.StatusUnprocessableEntity, signIn("alice"))
	}
	require.Equal(t, http.StatusUnprocessableEntity, signIn(typed))
	for signIn("bob") != http.StatusTooManyRequests {
	}

	lines := securityLines(t, &log)
	require.Less(t, len(lines), 20)
	find := func(cause string, also string) map[string]any {
		for _, l := range lines {
			if l["cause"] == cause && (l["client"] == also || l["name"] == also || also == "") {
				return l
			}
		}
		require.Fail(t, "no such line", "%s %s in %v", cause, also, lines)
		return nil
	}
	for _, cause := range []string{"secret_wrong", "throttled"} {
		l := find(cause, "cal-app")
		require.Equal(t, "client_authentication", l["kind"])
		require.Equal(t, "127.0.0.1", l["address"])
		require.NotEmpty(t, l["request_id"])
	}
	require.NotContains(t, find("unknown_client", ""), "client")
	require.Equal(t, "u-alice", find("password_wrong", "alice")["user"])
	require.Equal(t, "127.0.0.1", find("password_wrong", "alice")["address"])
	require.NotContains(t, find("no_such_user", ""), "name")
	require.Equal(t, "sign_in", find("throttled", "bob")["kind"])
	all := log.String()
	require.NotContains(t, all, typed)
	require.NotContains(t, all, secret)
	require.NotContains(t, all, "a-stranger")

	scraped := ts.scrape()
	for _, series := range []string{
		`mintmark_authentication_failures_total{cause="password_wrong",kind="sign_in"} `,
		`mintmark_authentication_failures_total{cause="throttled",kind="sign_in"} 1`,
		`mintmark_authentication_failures_total{cause="throttled",kind="client_authentication"} `,
		`mintmark_authentication_failures_total{cause="no_such_user",kind="sign_in"} 1`,
	} {
		require.Contains(t, scraped, series)
	}

	// The audit trail has one event for the hour.
	require.NoError(t, ts.s.Issuer.ReportFailures(t.Context()))
	ahead.Store(int64(65 * time.Minute))
	var event *ledger.Event
	require.Eventually(t, func() bool {
		for e := range ts.s.Issuer.View().Events() {
			if e.Kind == ledger.EventFailures {
				event = e
			}
		}
		return event != nil
	}, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, 1, ts.eventsOf(ledger.EventFailures))
	require.Regexp(t, `^\d+ failed sign-ins on 2 accounts: u-bob \d+, u-alice 4; 601 failed client authentications on 1 application: cal-app 600$`, event.Detail)
}
