package chaos

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestOneNode injects the faults of a single node. It uses the whole test kit except the
// links.
func TestOneNode(t *testing.T) {
	s := newSummary()
	c := newDev(t, build(t))
	s.run(t, c,
		killed(allNodes),
		paused(allNodes, 500*time.Millisecond),
		powerCut(),
		disk(allNodes, "slow 20ms", time.Second),
		disk(allNodes, "fail", 0),
		clock(allNodes, days400, 2*time.Second),
		startedWrong(allNodes, days400, 2*time.Second),
		startStays(allNodes, time.Hour),
		beyondWindow(downFor(2*time.Minute)),
		killed(allNodes),
	)
	s.print(t)
	require.Zero(t, s.voids, "%v", s.voidReasons)
}
