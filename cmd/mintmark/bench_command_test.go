package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/bench"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestBenchSeeds: the command makes a user and a client, loads the node over HTTP, and
// deletes both.
func TestBenchSeeds(t *testing.T) {
	ts := newTestServer(t)
	var r bench.Result
	out := operatorOf(t, filepath.Join(ts.dir, "data")).OK("", "bench", "refresh", "--yes", "--connections", "3", "--grants", "5",
		"--duration", "500ms", "--warmup", "100ms", "-o", "json")
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Positive(t, r.Requests)
	require.Positive(t, r.PerSecond)
	require.Positive(t, r.Latency.P50)
	require.Empty(t, r.Failures)
	require.Equal(t, []string{ts.Base}, r.URLs)
	require.Equal(t, 5, r.Clients)
	requireNothingLeft(t, ts)

	text := operatorOf(t, filepath.Join(ts.dir, "data")).OK("", "bench", "refresh", "--yes", "--connections", "2", "--rate", "20", "--duration", "300ms", "--warmup", "0s")
	require.Contains(t, text, "Latency p99.9")
	require.Contains(t, text, "20 requests/s begun")
	requireNothingLeft(t, ts)

	// Each code is exchanged once, and the run then ends.
	out = operatorOf(t, filepath.Join(ts.dir, "data")).OK("", "bench", "exchange", "--yes", "--connections", "3", "--grants", "10", "--duration", "1m", "-o", "json")
	r = bench.Result{}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.EqualValues(t, 10, r.Requests)
	require.Empty(t, r.Failures)
	requireNothingLeft(t, ts)

	// A resource server introspects the tokens, which stay active.
	out = operatorOf(t, filepath.Join(ts.dir, "data")).OK("", "bench", "introspect", "--yes", "--connections", "2", "--grants", "3",
		"--duration", "300ms", "--warmup", "0s", "-o", "json")
	r = bench.Result{}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Positive(t, r.Requests)
	require.Empty(t, r.Failures)
	require.Equal(t, 3, r.Clients)
	requireNothingLeft(t, ts)

	// If the server can't be loaded, the command still deletes what it made.
	operatorOf(t, filepath.Join(ts.dir, "data")).Fails(1, "seed: exchange code", "bench", "refresh", "--yes", "--connections", "1", "--url", "http://127.0.0.1:1")
	requireNothingLeft(t, ts)
}

// requireNothingLeft requires that every row that a seed made is deleted.
func requireNothingLeft(t *testing.T, ts *testServer) {
	t.Helper()
	v := ts.s.Issuer.View()
	seeded := 0
	for u := range v.Users() {
		if strings.HasPrefix(u.Username, "bench-") {
			require.Fail(t, "a seeded user was not deleted", u.Username)
		}
		if u.Deleted {
			seeded++
		}
	}
	require.Positive(t, seeded)
	for s := range v.ResourceServers() {
		require.Fail(t, "a seeded resource server was not deleted", s.Name)
	}
	for c := range v.Clients() {
		require.True(t, c.State == ledger.Deleted || !strings.HasPrefix(c.Name, "bench-"), c.Name)
	}
}

// TestBenchUsesClients: the command uses the tokens of a file and writes their successors
// to it.
func TestBenchUsesClients(t *testing.T) {
	ts := newTestServer(t)
	first := ts.tokens("cal-app").Refresh
	file := filepath.Join(t.TempDir(), "clients.jsonl")
	require.NoError(t, bench.WriteClients(file, []bench.Client{{ID: "cal-app", Secret: "cal-app-secret", RefreshToken: first}}))
	args := []string{"bench", "refresh", "--url", ts.Base, "--clients", file, "--duration", "300ms", "--warmup", "0s"}
	operatorOf(t, filepath.Join(ts.dir, "data")).OK("", args...)
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	after, err := bench.ReadClients(f)
	require.NoError(t, err)
	require.Len(t, after, 1)
	require.NotEqual(t, first, after[0].RefreshToken)
	require.Equal(t, http.StatusOK, ts.refresh("cal-app", after[0].RefreshToken).Status)

	require.NoError(t, os.Chmod(file, 0o644))
	operatorOf(t, filepath.Join(ts.dir, "data")).Fails(1, "others can read", args...)
}

func TestBenchUsage(t *testing.T) {
	ts := newTestServer(t)
	users := fmt.Sprint(slices.Collect(ts.s.Issuer.View().Users()))
	for text, args := range map[string][]string{
		"not confirmed":         {},
		"exclude each other":    {"--yes", "--clients", "x"},
		"--clients needs --url": {"--clients", "x"},
		"--connections must":    {"--yes", "--connections", "0"},
		"--grants must":         {"--yes", "--grants", "2001"},
		"--rate must":           {"--yes", "--rate", "-1"},
		"--duration must":       {"--yes", "--duration", "0s"},
		"no such file":          {"--url", ts.Base, "--clients", filepath.Join(t.TempDir(), "none")},
	} {
		operatorOf(t, filepath.Join(ts.dir, "data")).Fails(1, text, append([]string{"bench", "refresh"}, args...)...)
	}
	require.Equal(t, users, fmt.Sprint(slices.Collect(ts.s.Issuer.View().Users())), "nothing was made")
}
