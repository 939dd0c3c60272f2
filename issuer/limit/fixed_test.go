package limit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/limit"
)

// TestFixed verifies that a flood of other keys does not reset the limit of a key.
func TestFixed(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	f := limit.NewFixed(2, 3)
	take := func(key string) time.Duration {
		wait, _ := f.Try(key, now)
		return wait
	}
	for range 3 {
		require.Zero(t, take("a"), "within the burst")
	}
	require.InDelta(t, 500*time.Millisecond, take("a"), float64(time.Millisecond))
	for i := range 200_000 {
		take(fmt.Sprint("flood ", i))
	}
	require.NotZero(t, take("a"), "other keys reset the limit")
	now = now.Add(500 * time.Millisecond)
	require.Zero(t, take("a"), "after half a second")
	require.NotZero(t, take("a"))
	now = now.Add(-time.Hour)
	require.NotZero(t, take("a"), "after the clock was set back")

	now = now.Add(2 * time.Hour)
	for range 100 {
		wait, undo := f.Try("a", now)
		require.Zero(t, wait, "an undone event was counted")
		undo()
	}
}

func TestRecent(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := limit.NewRecent[int](time.Hour, 2)
	require.False(t, l.Has("a", now))
	l.Mark("a", 1, now)
	l.Mark("b", 2, now)
	l.Mark("a", 3, now)
	l.Mark("c", 4, now)
	require.True(t, l.Has("a", now))
	require.False(t, l.Has("b", now), "more keys than the limit were kept")
	require.True(t, l.Has("c", now))
	require.False(t, l.Has("c", now.Add(time.Hour)))
	last, ok := l.Get("a", now)
	require.True(t, ok)
	require.Equal(t, 3, last, "the value of the last mark counts")
}
