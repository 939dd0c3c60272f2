package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/bench"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func percentile(list []time.Duration, p float64) time.Duration {
	s := slices.Sorted(slices.Values(list))
	return s[min(int(float64(len(s))*p), len(s)-1)]
}

// BenchmarkThree compares refreshes through three nodes in three processes with the
// ceiling of one process, alternately. It then measures the latency at half of the rate
// reached.
func BenchmarkThree(b *testing.B) {
	dir := b.TempDir()
	_, tokens, _ := seed(b, dir, 100_000)
	_, top := startProcess(b, self(b, "ceiling", dir))
	c := startCluster3(b, dir, filepath.Join(dir, "data"))
	var addresses []string
	for _, n := range c.nodes {
		addresses = append(addresses, n.Public)
	}
	dummy := slices.Repeat([]string{strings.Repeat("x", 80)}, connections)
	const round = 3 * time.Second
	var rates, topRates, ratios []float64
	for b.Loop() {
		for range 5 {
			n, _ := loadAll(b, []string{top}, dummy, connections, round, 0)
			topRates = append(topRates, float64(n)/round.Seconds())
			n, _ = loadAll(b, addresses, tokens, connections, round, 0)
			rates = append(rates, float64(n)/round.Seconds())
			ratios = append(ratios, rates[len(rates)-1]/topRates[len(topRates)-1])
		}
	}
	half := time.Duration(float64(connections) / (median(rates) / 2) * float64(time.Second))
	_, took := loadAll(b, addresses, tokens, connections, 5*time.Second, half)
	b.ReportMetric(median(rates), "refreshes/s")
	b.ReportMetric(median(topRates), "ceiling/s")
	b.ReportMetric(median(ratios), "of-ceiling")
	b.ReportMetric(float64(percentile(took, 0.5).Microseconds())/1e3, "ms-p50-half-load")
	b.ReportMetric(float64(percentile(took, 0.99).Microseconds())/1e3, "ms-p99-half-load")
}

// BenchmarkLeaderLoss measures how long no write succeeds after the leader is killed, and
// after an operator stops it.
func BenchmarkLeaderLoss(b *testing.B) {
	dir := b.TempDir()
	_, tokens, _ := seed(b, dir, 6400)
	c := startCluster3(b, dir, filepath.Join(dir, "data"))
	var killed, stopped []float64
	for b.Loop() {
		for round := range 20 {
			i := c.Leader()
			others := []string{c.nodes[(i+1)%3].Public, c.nodes[(i+2)%3].Public}
			gap := make(chan time.Duration)
			begun, stop := make(chan struct{}), make(chan struct{})
			go func() { gap <- widestGap(others, tokens[round*100:], begun, stop) }()
			<-begun
			if round%2 == 0 {
				c.nodes[i].Kill()
			} else {
				require.NoError(b, c.nodes[i].Process().Signal(syscall.SIGTERM))
				require.NoError(b, c.nodes[i].Process().Wait())
			}
			time.Sleep(4 * time.Second)
			close(stop)
			g := (<-gap).Seconds()
			if round%2 == 0 {
				killed = append(killed, g)
			} else {
				stopped = append(stopped, g)
			}
			c.nodes[i].start(b)
			c.Settle()
		}
	}
	b.ReportMetric(median(killed), "s-gap-after-kill")
	b.ReportMetric(slices.Max(killed), "s-gap-after-kill-max")
	b.ReportMetric(median(stopped)*1e3, "ms-gap-after-stop")
	b.ReportMetric(slices.Max(stopped)*1e3, "ms-gap-after-stop-max")
}

// widestGap refreshes continuously on two connections to each address, and returns the
// longest time without a success.
func widestGap(addresses, tokens []string, begun, stop chan struct{}) time.Duration {
	var mu sync.Mutex
	var last time.Time
	var widest time.Duration
	var once sync.Once
	var wait sync.WaitGroup
	for k := range 4 {
		token := tokens[k]
		wait.Go(func() {
			for {
				w, err := dial(addresses[k%2])
				if err != nil {
					return
				}
				for err == nil {
					select {
					case <-stop:
						_ = w.conn.Close()
						return
					default:
					}
					var status int
					var body []byte
					status, body, err = w.post("/v2/auth/oauth2/token",
						"grant_type=refresh_token&client_id=bench-app&client_secret=bench-secret&refresh_token="+token)
					next, ok := bench.RefreshTokenIn(body)
					if err != nil || status != 200 || !ok {
						continue
					}
					token = next
					mu.Lock()
					if !last.IsZero() {
						widest = max(widest, time.Since(last))
					}
					last = time.Now()
					mu.Unlock()
					once.Do(func() { close(begun) })
				}
				_ = w.conn.Close()
			}
		})
	}
	wait.Wait()
	return widest
}

// BenchmarkThreeMillion measures the cost of a large state for three nodes: the latency
// while a snapshot is written, and how long a node that lost its data takes to return.
func BenchmarkThreeMillion(b *testing.B) {
	grants := benchGrants(b)
	for b.Loop() {
		dir := b.TempDir()
		_, tokens, _ := seed(b, dir, grants)
		c := startCluster3(b, dir, filepath.Join(dir, "data"))
		var addresses []string
		for _, n := range c.nodes {
			addresses = append(addresses, n.Public)
		}
		n, _ := loadAll(b, addresses, tokens, connections, 3*time.Second, 0)
		pace := time.Duration(float64(connections) / (float64(n) / 3 / 2) * float64(time.Second))
		calm, busy := c.loadAndWatch(b, addresses, tokens, pace)
		b.ReportMetric(float64(percentile(calm, 0.99).Microseconds())/1e3, "ms-p99")
		b.ReportMetric(float64(percentile(busy, 0.99).Microseconds())/1e3, "ms-p99-while-snapshot")
		b.ReportMetric(float64(percentile(busy, 0.99))/float64(percentile(calm, 0.99)), "p99-ratio")

		lost := c.nodes[(c.Leader()+1)%3]
		lost.Kill()
		began := time.Now()
		token := filepath.Join(dir, "again.token")
		asked := c.nodes[c.Leader()]
		invited, err := admin.ReplaceNode.Call(b.Context(), asked.operator(b), admin.Replacement{
			Old: lost.Name, Name: "again", Lifetime: time.Hour,
		})
		require.NoError(b, err)
		require.NoError(b, os.WriteFile(token, []byte(invited.Token.Reveal()), 0o600))
		lost.Name, lost.Dir = "again", filepath.Join(dir, "again")
		lost.start(b, "--join", asked.Raft, "--token-file", token)
		c.Settle()
		b.ReportMetric(time.Since(began).Seconds(), "s-wiped-node-back")
	}
}

// loadAndWatch applies load until each node has probably written a snapshot. It returns
// the latencies of requests without and with a snapshot in progress.
func (c *cluster3) loadAndWatch(t testing.TB, addresses, tokens []string, pace time.Duration) (calm, busy []time.Duration) {
	t.Helper()
	var seen atomic.Bool // a snapshot was in progress since the last check
	stop := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for {
			for _, n := range c.nodes {
				if left, _ := filepath.Glob(filepath.Join(n.Dir, "raft", "snapshots", "*.tmp")); len(left) > 0 {
					seen.Store(true)
				}
			}
			select {
			case <-time.After(5 * time.Millisecond):
			case <-stop:
				return
			}
		}
	})
	const enough = 3000
	for end := time.Now().Add(5 * time.Minute); len(busy) < enough && time.Now().Before(end); {
		seen.Store(false)
		_, took := loadAll(t, addresses, tokens, connections, 250*time.Millisecond, pace)
		if seen.Load() {
			busy = append(busy, took...)
		} else {
			calm = append(calm, took...)
		}
	}
	close(stop)
	watcher.Wait()
	require.Greater(t, len(busy), enough/10, "too few requests overlapped with a snapshot")
	return calm, busy
}
