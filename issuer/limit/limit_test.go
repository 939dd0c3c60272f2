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
		require.Zero(t, l.Take("a", now), "within the burst")
	}
	require.InDelta(t, 500*time.Millisecond, l.Take("a", now), float64(time.Millisecond))
	require.InDelta(t, 500*time.Millisecond, l.Take("a", now), float64(time.Millisecond), "a refused event was counted")
	require.Zero(t, l.Take("b", now), "another key has its own bucket")
	require.Zero(t, l.Take("a", now.Add(500*time.Millisecond)), "after half a second")

	l.Forget("a")
	l.Forget("nobody")
	require.Zero(t, l.Take("a", now))
	require.Zero(t, l.Take("a", now.Add(-time.Hour)), "after the clock was set back")
}

func TestUndo(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := limit.New(1, 2, 10)
	for range 100 {
		wait, undo := l.Try("a", now)
		require.Zero(t, wait, "an undone event was counted")
		undo()
	}
	l.Take("a", now)
	l.Take("a", now)
	require.NotZero(t, l.Take("a", now))
}

// TestUndoWhileOthersCome verifies that a late undo returns the whole event: many correct
// passwords at once, each of which takes a while to verify, are not limited.
func TestUndoWhileOthersCome(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := limit.New(1, 60, 10)
	var undo []func()
	for i := range 1000 {
		wait, back := l.Try("office", now)
		require.Zero(t, wait, "user number %d", i)
		if undo = append(undo, back); len(undo) > 40 {
			undo[0]() // after two seconds
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
	require.NotZero(t, l.Take("999", now), "a recent key was dropped")
	require.NotZero(t, l.Take("used", now), "a key in constant use was dropped")
	require.Zero(t, l.Take("old", now), "the oldest key was not dropped")
}

// TestNetworks verifies that every network of an address must allow an event.
func TestNetworks(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for name, test := range map[string]struct {
		address func(i int) string
		allowed int
		other   string // an address that is still allowed an event
		wait    time.Duration
	}{
		"one IPv4 address":  {func(int) string { return "192.0.2.1" }, 10, "192.0.2.2", time.Second},
		"as IPv6":           {func(int) string { return "::ffff:192.0.2.1" }, 10, "::ffff:192.0.2.2", time.Second},
		"many addresses":    {func(i int) string { return fmt.Sprintf("192.0.2.%d", i) }, 200, "192.0.2.201", 0},
		"a /64":             {func(i int) string { return fmt.Sprintf("2001:db8::%x", i) }, 10, "2001:db8:0:1::1", time.Second},
		"a /56":             {func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i) }, 40, "2001:db8:0:100::1", time.Second / 4},
		"a /48":             {func(i int) string { return fmt.Sprintf("2001:db8:0:%x00::1", i) }, 160, "2001:db8:1::1", time.Second / 16},
		"many /48":          {func(i int) string { return fmt.Sprintf("2001:db8:%x::1", i) }, 200, "2001:db8:ffff::1", 0},
		"with a zone":       {func(i int) string { return fmt.Sprintf("fe80::%x%%eth%d", i, i) }, 10, "fe81::1", time.Second},
		"not an address":    {func(int) string { return "unknown" }, 10, "another", time.Second},
		"two /64 of a /56":  {func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i%2) }, 20, "2001:db8:0:2::1", time.Second},
		"five /64 of a /56": {func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i%5) }, 40, "2001:db8:0:100::1", time.Second / 4},
	} {
		t.Run(name, func(t *testing.T) {
			n := limit.NewNetworks(1, 10, 1000)
			allowed := 0
			for i := range 200 {
				wait, _ := n.Try(test.address(i), now)
				if wait == 0 {
					allowed++
					continue
				}
				require.InDelta(t, test.wait, wait, float64(time.Millisecond))
			}
			require.Equal(t, test.allowed, allowed)
			wait, undo := n.Try(test.other, now)
			require.Zero(t, wait)
			undo()
			wait, _ = n.Try(test.address(0), now.Add(time.Second))
			require.Zero(t, wait, "after a while")
		})
	}
}

// TestNetworksUndo verifies that undone and refused events are counted in no network.
func TestNetworksUndo(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	n := limit.NewNetworks(1, 10, 1000)
	for range 500 {
		wait, undo := n.Try("2001:db8::1", now)
		require.Zero(t, wait)
		undo()
	}
	for range 500 {
		n.Try("2001:db8::1", now) // all but ten events are refused
	}
	for i := range 30 {
		wait, _ := n.Try(fmt.Sprintf("2001:db8:0:%x::1", i+1), now)
		require.Zero(t, wait)
	}
	wait, _ := n.Try("2001:db8:0:ff::1", now)
	require.NotZero(t, wait)
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
	require.Equal(t, "2001:db8:1::/48", limit.Site("2001:db8:1:2:3::4"))
	require.Equal(t, "192.0.2.1", limit.Site("::ffff:192.0.2.1"))
}
