package machine_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

// snapshotOf returns a snapshot of rows registers of about 200 bytes.
func snapshotOf(tb testing.TB, rows int) []byte {
	m := machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
	require.NoError(tb, machine.Fill(m, rows, func(i int) (string, any) {
		return "registers", &machinetest.Register{
			Name: fmt.Sprintf("%032x", uint64(i)*0x9e3779b97f4a7c15), Value: uint64(i),
			Pad: bytes.Repeat([]byte{byte(i)}, 128),
		}
	}))
	var buf bytes.Buffer
	require.NoError(tb, m.Save(&buf))
	return buf.Bytes()
}

// BenchmarkRestore measures the restore of a million rows.
func BenchmarkRestore(b *testing.B) {
	const rows = 1_000_000
	data := snapshotOf(b, rows)
	b.ReportMetric(float64(len(data))/rows, "bytes/row")
	b.ResetTimer()
	for b.Loop() {
		m := machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
		require.NoError(b, m.Load(bytes.NewReader(data)))
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/restore")
}
