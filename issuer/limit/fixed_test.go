package limit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/limit"
)

// TestFixed: whoever sends very many keys has none forgotten.
func TestFixed(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	f := limit.NewFixed(2, 3)
	take := func(key string) time.Duration {
		wait, _ := f.Try(key, now)
		return wait
	}
	for range 3 {
		require.Zero(t, take("a"), "the burst")
	}
	require.InDelta(t, 500*time.Millisecond, take("a"), float64(time.Millisecond))
	for i := range 200_000 {
		take(fmt.Sprint("flood ", i))
	}
	require.NotZero(t, take("a"), "a key that others flooded out")
	now = now.Add(500 * time.Millisecond)
	require.Zero(t, take("a"), "one comes back in half a second")
	require.NotZero(t, take("a"))
	now = now.Add(-time.Hour)
	require.NotZero(t, take("a"), "a clock that is set back")

	now = now.Add(2 * time.Hour)
	for range 100 {
		wait, undo := f.Try("a", now)
		require.Zero(t, wait, "what is given back costs nothing")
		undo()
	}
}

func TestRecent(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := limit.NewRecent(time.Hour, 2)
	require.False(t, l.Has("a", now))
	l.Mark("a", now)
	l.Mark("b", now)
	l.Mark("a", now)
	l.Mark("c", now)
	require.True(t, l.Has("a", now))
	require.False(t, l.Has("b", now), "there is room for two")
	require.True(t, l.Has("c", now))
	require.False(t, l.Has("c", now.Add(time.Hour)))
}
