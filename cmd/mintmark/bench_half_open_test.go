package main

import (
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// BenchmarkHalfOpen measures the latency of refreshes without and with 2,000 unfinished
// requests beside them: six rounds of ten seconds of each, in turn. The unfinished requests
// come from four addresses, since a node closes connections of an address beyond 1,024. One
// that the node closes is opened again.
func BenchmarkHalfOpen(b *testing.B) {
	const (
		halfOpen, addresses  = 2000, 4
		rounds, round        = 6, 10 * time.Second
		goodConnections      = 8
		pace                 = 40 * time.Millisecond // 200 requests a second
		requestWithoutAnyEnd = "POST " + oauth.PathToken + " HTTP/1.1\r\nHost: x\r\n"
	)
	dir := b.TempDir()
	fixtures, tokens, _ := seed(b, dir, 200)
	process, r := startDev(b, filepath.Join(dir, "data"), fixtures)
	address := hostOf(r.BaseURL)
	p99 := func() float64 {
		_, took := loadAll(b, []string{address}, tokens, goodConnections, round, pace)
		return percentile(took, 0.99).Seconds() * 1e3
	}
	var idle, attacked, ratio []float64
	var resident int64
	for b.Loop() {
		for range rounds {
			idle = append(idle, p99())
			before := residentOf(b, process.PID())
			stop := openHalf(b, address, halfOpen, addresses, requestWithoutAnyEnd)
			attacked = append(attacked, p99())
			resident = max(resident, residentOf(b, process.PID())-before)
			stop()
			ratio = append(ratio, attacked[len(attacked)-1]/idle[len(idle)-1])
		}
	}
	b.ReportMetric(median(idle), "idle-p99-ms")
	b.ReportMetric(median(attacked), "half-open-p99-ms")
	b.ReportMetric(median(ratio), "of-idle")
	b.ReportMetric(float64(resident)/halfOpen/1e3, "kB/half-open")
	b.Logf("rounds: %.2f", ratio)
}

// spread is the time over which the half-open requests begin. A node closes each after a few
// seconds, so those that begin together would begin together again and again.
const spread = 6 * time.Second

// openHalf keeps connections with the beginning of a request, from some addresses of the
// loopback, until stop is called. It returns when all are open.
func openHalf(b *testing.B, address string, count, addresses int, text string) (stop func()) {
	b.Helper()
	var mu sync.Mutex // guards open and stopped
	open, stopped := map[net.Conn]bool{}, false
	var all, begun sync.WaitGroup
	begun.Add(count)
	for i := range count {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%addresses))}}
		all.Go(func() {
			first := sync.OnceFunc(begun.Done)
			defer first()
			time.Sleep(time.Duration(i) * spread / time.Duration(count))
			for {
				c, err := dialer.Dial("tcp", address)
				if err != nil {
					b.Errorf("open a connection: %v", err)
					return
				}
				mu.Lock()
				open[c] = true
				end := stopped
				mu.Unlock()
				if !end {
					_, _ = io.WriteString(c, text)
					first()
					_, _ = io.Copy(io.Discard, c) // until the node gives it up
				}
				mu.Lock()
				delete(open, c)
				end = stopped
				mu.Unlock()
				_ = c.Close()
				if end {
					return
				}
			}
		})
	}
	begun.Wait()
	require.False(b, b.Failed())
	return func() {
		mu.Lock()
		stopped = true
		for c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	}
}
