package cluster_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

// BenchmarkPropose64 measures 64 concurrent callers. Each writes its own register in a
// loop, and every entry is synced to disk.
func BenchmarkPropose64(b *testing.B) { benchmarkPropose(b, 64) }

// BenchmarkPropose1 measures the latency of one caller, mostly one fsync.
func BenchmarkPropose1(b *testing.B) { benchmarkPropose(b, 1) }

func benchmarkPropose(b *testing.B, callers int) {
	n := open(b, config(b, b.TempDir()))
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			c := &machinetest.Set{Name: fmt.Sprint("register-", i)}
			for left.Add(-1) >= 0 {
				c.Value++
				if _, _, err := n.Propose(b.Context(), c); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commands/s")
}

// BenchmarkRefuse measures a command that is refused on a view, without a log entry.
func BenchmarkRefuse(b *testing.B) {
	n := open(b, config(b, b.TempDir()))
	c := &machinetest.Raise{Name: "a", Known: 7}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := n.Propose(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}
