package cluster_test

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
)

// BenchmarkPropose64 is 64 callers that each write a register of their own, as
// fast as they are answered, with every entry synced to disk.
func BenchmarkPropose64(b *testing.B) { benchmarkPropose(b, 64) }

// BenchmarkPropose1 is the latency of one caller: an fsync and what is around it.
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
			c := &set{Name: fmt.Sprint("register-", i)}
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

// BenchmarkRefuse is a command that a view refuses: nothing is logged.
func BenchmarkRefuse(b *testing.B) {
	n := open(b, config(b, b.TempDir()))
	c := &raise{Name: "a", Known: 7}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := n.Propose(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

// snapshotOf returns a snapshot of rows registers of about 200 bytes.
func snapshotOf(tb testing.TB, rows int) []byte {
	m := cluster.NewMemory(toy(), fixedNow)
	require.NoError(tb, cluster.Fill(m, rows, func(i int) (string, any) {
		return "registers", &register{
			Name: fmt.Sprintf("%032x", uint64(i)*0x9e3779b97f4a7c15), Value: uint64(i),
			Pad: bytes.Repeat([]byte{byte(i)}, 128),
		}
	}))
	var buf bytes.Buffer
	require.NoError(tb, m.Save(&buf))
	return buf.Bytes()
}

// BenchmarkRestore is the restore of a million rows.
func BenchmarkRestore(b *testing.B) {
	const rows = 1_000_000
	data := snapshotOf(b, rows)
	b.ReportMetric(float64(len(data))/rows, "bytes/row")
	b.ResetTimer()
	for b.Loop() {
		m := cluster.NewMemory(toy(), fixedNow)
		require.NoError(b, m.Load(bytes.NewReader(data)))
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/restore")
}
