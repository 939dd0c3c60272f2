package bench

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPercentile(t *testing.T) {
	var took []time.Duration
	for ms := range 100 {
		took = append(took, time.Duration(ms+1)*time.Millisecond)
	}
	for p, want := range map[float64]float64{0: 1, 0.5: 50, 0.9: 90, 0.99: 99, 0.999: 100, 1: 100} {
		require.InDelta(t, want, percentile(took, p), 0, "%v", p)
	}
	require.InDelta(t, 1, percentile(took[:2], 0.5), 0)
	require.Zero(t, percentile(nil, 0.5))
}
