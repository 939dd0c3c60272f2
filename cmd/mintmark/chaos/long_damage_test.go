//go:build long

package chaos

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDamagedLog: silent corruption of the log is detected before it is served.
func TestDamagedLog(t *testing.T) {
	s := newSummary()
	s.run(t, newCluster3(t, build(t, smallSegments)), flippedBit())
	s.print(t)
	require.Zero(t, s.voids, "%v", s.voidReasons)
}
