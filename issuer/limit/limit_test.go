package limit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/limit"
)

func TestLimiter(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := limit.New(2, 3, 10, func() time.Time { return now })
	for range 3 {
		ok, _ := l.Take("a")
		require.True(t, ok, "the burst")
	}
	ok, wait := l.Take("a")
	require.False(t, ok)
	require.InDelta(t, 500*time.Millisecond, wait, float64(time.Millisecond))

	ok, _ = l.Take("b")
	require.True(t, ok, "another key has a bucket of its own")

	now = now.Add(500 * time.Millisecond)
	ok, _ = l.Take("a")
	require.True(t, ok, "one comes back in half a second")
}

func TestLimiterIsBounded(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := limit.New(1, 1, 2, func() time.Time { return now })
	l.Take("old")
	for i := range 1000 {
		l.Take(fmt.Sprint(i))
	}
	ok, _ := l.Take("999")
	require.False(t, ok, "the latest keys are remembered")
	ok, _ = l.Take("old")
	require.True(t, ok, "the oldest is forgotten")
}
