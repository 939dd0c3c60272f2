//go:build long

package chaos

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// smallSegments seals a segment after a second or two.
var smallSegments = patch{file: "cluster/config.go", old: "&c.SegmentSize, 16<<20", new: "&c.SegmentSize, 32<<10"}

// TestDamagedLog: silent corruption of the log is seen before it is served.
func TestDamagedLog(t *testing.T) {
	s := newSummary()
	s.run(t, newCluster3(t, build(t, smallSegments)), flippedBit())
	s.print(t)
	require.Zero(t, s.voids, "%v", s.voidReasons)
}

// TestPlantedDamage: without a checksum of each entry a changed one is applied,
// and the states differ.
func TestPlantedDamage(t *testing.T) {
	binary := build(t, smallSegments, patch{
		file: "cluster/checksum_store.go",
		old:  "log.Index != index || binary.BigEndian.Uint32(ext[at+8:]) != entrySum(log)",
		new:  "log.Index != index",
	})
	find(t, newCluster3(t, binary), "S8", 2, flippedBit())
}
