package transport_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// TestRefusalsAreSummedUp: for a peer that retries every second for a day, the first
// rejection is logged at once and later ones less and less often, with a complete count.
func TestRefusalsAreSummedUp(t *testing.T) {
	var r transport.Refusals
	begun := time.Unix(1_800_000_000, 0)
	var told []time.Duration
	counted := 0
	const day = 24 * time.Hour
	for at := time.Duration(0); at < day; at += time.Second {
		source, times, tell := r.Count(fmt.Sprintf("10.0.0.1:%d", 1024+int(at.Seconds())%60000), begun.Add(at))
		require.Equal(t, "10.0.0.1", source, "the source has no port")
		if tell {
			told = append(told, at)
			counted += times
		}
	}
	require.Equal(t, []time.Duration{0, 10 * time.Second, 30 * time.Second, 70 * time.Second, 150 * time.Second}, told[:5])
	require.Len(t, told, 1+9+22, "nine doubling intervals, then once an hour")
	require.Equal(t, int(told[len(told)-1].Seconds())+1, counted)

	_, times, tell := r.Count("10.0.0.2:1", begun.Add(day))
	require.True(t, tell, "another source is logged at once")
	require.Equal(t, 1, times)
	_, _, tell = r.Count("10.0.0.1:1", begun.Add(day+3*time.Hour))
	require.True(t, tell, "a source that was quiet for long counts as new")
	_, times, tell = r.Count("10.0.0.1:1", begun.Add(day+3*time.Hour+10*time.Second))
	require.True(t, tell)
	require.Equal(t, 1, times)
}

// TestRefusalsAreBounded: a peer with many addresses fills neither memory nor log, and
// hides no earlier source.
func TestRefusalsAreBounded(t *testing.T) {
	var r transport.Refusals
	now := time.Unix(1_800_000_000, 0)
	_, _, tell := r.Count("10.0.0.1:1", now)
	require.True(t, tell)
	sources := map[string]bool{}
	lines := 0
	for n := range 10_000 {
		source, _, tell := r.Count(fmt.Sprintf("[2001:db8::%x]:1", n), now)
		sources[source] = true
		if tell {
			lines++
		}
	}
	require.LessOrEqual(t, len(sources), 65)
	require.LessOrEqual(t, lines, 65)
	require.Contains(t, sources, "others")
	source, _, tell := r.Count("10.0.0.1:1", now.Add(10*time.Second))
	require.True(t, tell)
	require.Equal(t, "10.0.0.1", source)
	source, _, _ = r.Count("10.0.0.9:1", now.Add(3*time.Hour))
	require.Equal(t, "10.0.0.9", source, "there is room again")
}
