package main

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/bench"
)

// connections is the number of concurrent clients, each with its own connection.
const connections = 64

// A wire is one keep-alive connection.
type wire struct{ conn *bench.Conn }

func dial(address string) (*wire, error) {
	c, err := bench.Dial(context.Background(), &url.URL{Scheme: "http", Host: address})
	return &wire{c}, err
}

// post sends a form and returns the status and the body. The next call overwrites the
// body.
func (w *wire) post(path, form string) (status int, body []byte, err error) {
	return w.conn.Post(path, form)
}

// load refreshes for a while on all connections, each with its own share of the tokens,
// and returns the number of answered requests.
func load(t testing.TB, address string, tokens []string, d time.Duration) int64 {
	t.Helper()
	n, _ := loadAll(t, []string{address}, tokens, connections, d, 0)
	return n
}

// loadAll refreshes on all connections, spread over several servers. It returns the
// number of answered requests and the latency of each. With a pace, each connection
// starts a request at that interval, however long the previous one took.
func loadAll(t testing.TB, addresses, tokens []string, conns int, d, pace time.Duration) (int64, []time.Duration) {
	t.Helper()
	r, err := tryLoad(addresses, tokens, conns, d, pace)
	require.NoError(t, err)
	require.Empty(t, r.Failures)
	return r.Requests, r.Took
}

// tryLoad is loadAll for servers that may stop meanwhile.
func tryLoad(addresses, tokens []string, conns int, d, pace time.Duration) (bench.Result, error) {
	l := bench.Load{Request: bench.Refresh, Connections: conns, Duration: d, Clients: benchClients(tokens)}
	for _, a := range addresses {
		l.URLs = append(l.URLs, "http://"+a)
	}
	if pace > 0 {
		l.Rate = float64(conns) / pace.Seconds()
	}
	r, err := l.Run(context.Background())
	for i := range l.Clients {
		tokens[i] = l.Clients[i].RefreshToken
	}
	return r, err
}

// benchClients returns the client of the benchmarks once for each token.
func benchClients(tokens []string) []bench.Client {
	clients := make([]bench.Client, len(tokens))
	for i, token := range tokens {
		clients[i] = bench.Client{ID: "bench-app", Secret: "bench-secret", RefreshToken: token}
	}
	return clients
}

// cpuOf returns the processor time of a process so far (proc(5), stat, fields 14 and 15).
func cpuOf(t testing.TB, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, err := strconv.ParseInt(fields[11], 10, 64)
	require.NoError(t, err)
	system, err := strconv.ParseInt(fields[12], 10, 64)
	require.NoError(t, err)
	const ticks = 100 // a second, on every Linux that Go runs on
	return time.Duration(user+system) * time.Second / ticks
}

// residentOf returns the resident memory of a process in bytes.
func residentOf(t testing.TB, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "VmRSS:")
	require.True(t, ok)
	kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	require.NoError(t, err)
	return kb << 10
}
