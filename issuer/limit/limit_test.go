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
	l := limit.New(2, 3, 10)
	for range 3 {
		require.Zero(t, l.Take("a", now), "the burst")
	}
	require.InDelta(t, 500*time.Millisecond, l.Take("a", now), float64(time.Millisecond))
	require.InDelta(t, 500*time.Millisecond, l.Take("a", now), float64(time.Millisecond), "asking in vain costs nothing")
	require.Zero(t, l.Take("b", now), "another key has a bucket of its own")
	require.Zero(t, l.Take("a", now.Add(500*time.Millisecond)), "one comes back in half a second")

	l.Forget("a")
	l.Forget("nobody")
	require.Zero(t, l.Take("a", now))
	require.Zero(t, l.Take("a", now.Add(-time.Hour)), "a clock that is set back")
}

func TestUndo(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := limit.New(1, 2, 10)
	for range 100 {
		wait, undo := l.Try("a", now)
		require.Zero(t, wait, "what is given back costs nothing")
		undo()
	}
	l.Take("a", now)
	l.Take("a", now)
	require.NotZero(t, l.Take("a", now))
}

// What is given back late is given back whole: many right passwords at once, each
// of which takes a while to check, are not limited.
func TestUndoWhileOthersCome(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := limit.New(1, 60, 10)
	var undo []func()
	for i := range 1000 {
		wait, back := l.Try("office", now)
		require.Zero(t, wait, "the person number %d", i)
		if undo = append(undo, back); len(undo) > 40 {
			undo[0]() // two seconds later
			undo = undo[1:]
		}
		now = now.Add(50 * time.Millisecond)
	}
}

func TestLimiterIsBounded(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := limit.New(1, 1, 2)
	l.Take("old", now)
	for i := range 1000 {
		l.Take(fmt.Sprint(i), now)
		if i >= 500 {
			l.Take("used", now)
		}
	}
	require.NotZero(t, l.Take("999", now), "the latest keys are remembered")
	require.NotZero(t, l.Take("used", now), "so is one that is used all the time")
	require.Zero(t, l.Take("old", now), "the oldest is forgotten")
}

func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.1":          "192.0.2.1",
		"::ffff:192.0.2.1":   "192.0.2.1",
		"2001:db8:1:2:3::4":  "2001:db8:1:2::/64",
		"fe80::1%eth0":       "fe80::/64",
		"not an address":     "not an address",
		"2001:db8:1:2:ff::9": "2001:db8:1:2::/64",
	} {
		require.Equal(t, want, limit.Network(address), address)
	}
}
