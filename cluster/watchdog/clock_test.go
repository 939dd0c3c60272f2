package watchdog

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeClocks is a machine with a wall clock and an elapsed clock.
type fakeClocks struct {
	start   time.Time
	wall    time.Duration
	elapsed time.Duration
	pause   func() // called between any two readings
}

func newFakeClocks() *fakeClocks {
	return &fakeClocks{start: time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC), elapsed: 5 * time.Hour, pause: func() {}}
}

func (m *fakeClocks) readWall() time.Time        { m.pause(); return m.start.Add(m.wall) }
func (m *fakeClocks) readElapsed() time.Duration { m.pause(); return m.elapsed }
func (m *fakeClocks) advance(d time.Duration)    { m.wall += d; m.elapsed += d }
func (m *fakeClocks) clock() *Clock {
	c := NewClock(m.readWall, m.readElapsed)
	c.Accept()
	return c
}

func (m *fakeClocks) requireRead(t *testing.T, c *Clock) {
	t.Helper()
	ms, err := c.Read()
	require.NoError(t, err)
	require.Equal(t, m.start.Add(m.wall).UnixMilli(), ms)
}

func upTo(r *rand.Rand, d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }

func requireJump(t *testing.T, c *Clock) *ClockJumpError {
	t.Helper()
	_, err := c.Read()
	var jump *ClockJumpError
	require.ErrorAs(t, err, &jump)
	return jump
}

// A wall clock that steps by more than the tolerance stamps nothing.
func TestStampClockRefusesJumps(t *testing.T) {
	for _, tc := range []struct {
		name    string
		step    time.Duration
		refused bool
	}{
		{"none", 0, false},
		{"leap second", -time.Second, false},
		{"forward to the tolerance", 10 * time.Second, false},
		{"back to the tolerance", -10 * time.Second, false},
		{"forward beyond", 12 * time.Second, true},
		{"back beyond", -12 * time.Second, true},
		{"an hour of summer time", time.Hour, true},
		{"to 1970", -500000 * time.Hour, true},
		{"to the end of days", 1 << 62, true},
		{"before the Christian era", -1 << 63, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newFakeClocks()
			c := m.clock()
			for range 100 {
				m.advance(time.Second)
				m.requireRead(t, c)
			}
			m.wall += tc.step
			m.advance(time.Second)
			if !tc.refused {
				m.requireRead(t, c)
				return
			}
			jump := requireJump(t, c)
			require.InDelta(t, tc.step, jump.By, float64(2*time.Millisecond))
		})
	}
}

// A jump ends when the clock is back at its expected time, however long that takes and
// however often the clock moves meanwhile.
func TestStampClockComesBack(t *testing.T) {
	m := newFakeClocks()
	c := m.clock()
	m.wall += time.Hour
	first := requireJump(t, c)
	require.ErrorContains(t, first, "jumped forward by 1h0m0s")
	m.advance(time.Minute)
	require.Same(t, first, requireJump(t, c), "the same jump")
	m.wall -= 2 * time.Hour
	require.ErrorContains(t, requireJump(t, c), "jumped back by 1h0m0s")
	m.wall += time.Hour - 11*time.Second
	requireJump(t, c)
	m.advance(48 * time.Hour)
	requireJump(t, c) // drift is not followed while the clock has jumped
	m.wall += 2 * time.Second
	m.requireRead(t, c)
	m.wall -= 2 * time.Second
	requireJump(t, c)
	m.wall += 11 * time.Second
	m.requireRead(t, c)
}

// Unconfirmed jumps add up: see resolveClockJump.
func TestStampClockRemembersJumps(t *testing.T) {
	m := newFakeClocks()
	c := m.clock()
	step := func(by time.Duration) (total, lasts time.Duration) {
		t.Helper()
		m.wall += by
		requireJump(t, c)
		m.advance(3 * time.Second)
		total, lasts, ok := c.Jump()
		require.True(t, ok)
		return total, lasts
	}
	total, lasts := step(2 * time.Minute)
	require.InDelta(t, 2*time.Minute, total, float64(2*time.Millisecond))
	require.Equal(t, 3*time.Second, lasts)
	m.advance(20 * time.Second)
	_, lasts, _ = c.Jump()
	require.Equal(t, 23*time.Second, lasts)
	total, lasts = step(30 * time.Second)
	require.Equal(t, 3*time.Second, lasts, "the clock jumped again")
	require.True(t, c.AcceptReading(c.TakeReading(), total))
	m.requireRead(t, c)
	_, _, jumped := c.Jump()
	require.False(t, jumped)
	total, _ = step(3 * time.Minute)
	require.InDelta(t, 5*time.Minute+30*time.Second, total, float64(time.Second))
	require.True(t, c.AcceptReading(c.TakeReading(), 0))
	total, _ = step(time.Minute)
	require.InDelta(t, time.Minute, total, float64(time.Second), "the other jumps were confirmed")
}

// A clock that moves after its reading is not accepted.
func TestStampClockIsAcceptedAsItWasJudged(t *testing.T) {
	m := newFakeClocks()
	c := m.clock()
	m.wall += time.Hour
	requireJump(t, c)
	seen := c.TakeReading()
	m.advance(20 * time.Second)
	m.wall -= time.Hour
	require.False(t, c.AcceptReading(seen, 0))
	m.requireRead(t, c)
	m.wall += time.Hour
	requireJump(t, c)
	m.advance(20 * time.Second)
	require.True(t, c.AcceptReading(seen, 0))
	m.requireRead(t, c)
	m.wall -= time.Hour
	require.ErrorContains(t, requireJump(t, c), "jumped back by 1h0m0s")
}

// A clock that was never accepted stamps nothing, and has no jump.
func TestStampClockBegins(t *testing.T) {
	m := newFakeClocks()
	c := NewClock(m.readWall, m.readElapsed)
	require.True(t, c.IsStarting())
	_, err := c.Read()
	require.Equal(t, errClockDataNotLoaded, err)
	c.SetStartError(&ClockStartError{Reason: "it is early"}, c.TakeReading())
	_, err = c.Read()
	require.EqualError(t, err, "it is early")
	m.wall += 50000 * time.Hour
	require.True(t, c.AcceptReading(c.TakeReading(), 0))
	require.False(t, c.IsStarting())
	c.SetStartError(&ClockStartError{Reason: "it is late"}, c.TakeReading())
	m.requireRead(t, c)
}

// Suspended time elapses on both clocks, and is no jump.
func TestStampClockAfterSuspension(t *testing.T) {
	m := newFakeClocks()
	c := m.clock()
	m.advance(30 * 24 * time.Hour)
	m.requireRead(t, c)
}

// NTP's slewing and a bad crystal together, in both directions, with idle weeks in
// between, are never refused in three years.
func TestStampClockFollowsDriftForYears(t *testing.T) {
	const year = 365 * 24 * time.Hour
	random := rand.New(rand.NewPCG(1, 2))
	for _, tc := range []struct {
		name string
		ppm  func(at time.Duration) time.Duration
		idle func() time.Duration
	}{
		{"ahead", func(time.Duration) time.Duration { return 700 }, func() time.Duration { return 10 * time.Minute }},
		{"behind", func(time.Duration) time.Duration { return -700 }, func() time.Duration { return 10 * time.Minute }},
		{"ahead, read all the time", func(at time.Duration) time.Duration {
			return 700
		}, func() time.Duration { return 1300 * time.Millisecond }},
		{"to and fro", func(at time.Duration) time.Duration {
			return 700 - 1400*(at/(30*24*time.Hour)%2)
		}, func() time.Duration { return time.Second + upTo(random, 10*time.Minute) }},
		{"idle for weeks", func(time.Duration) time.Duration { return 700 }, func() time.Duration {
			return upTo(random, 14*24*time.Hour)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newFakeClocks()
			c := m.clock()
			for n := 0; m.elapsed < 3*year && n < 200_000; n++ {
				d := tc.idle()
				m.advance(d)
				m.wall += d / 1_000_000 * tc.ppm(m.elapsed)
				if _, err := c.Read(); err != nil {
					t.Fatalf("after %s: %v", m.elapsed, err)
				}
			}
		})
	}
}

// However a clock steps and whenever it is read, stamps stay within the limit and a
// thousandth of the elapsed time.
func TestStampClockBoundsEveryStamp(t *testing.T) {
	stamped, refused := 0, 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 7))
		const limit = ClockTolerance
		m := newFakeClocks()
		c := m.clock()
		start, from := m.start, m.elapsed
		for range 2000 {
			switch random.IntN(4) {
			case 0:
				m.wall += upTo(random, limit/4) - limit/8
			case 1:
				m.wall += upTo(random, 2*time.Millisecond) - time.Millisecond // around clockCheckTTL
			default:
				m.advance(upTo(random, 20*time.Second))
			}
			ms, err := c.Read()
			if err != nil {
				refused++
				break
			}
			stamped++
			elapsed := m.elapsed - from
			off := (time.UnixMilli(ms).Sub(start) - elapsed).Abs()
			require.LessOrEqual(t, off, limit+elapsed/clockDriftDivisor+clockCheckTTL+time.Millisecond, "seed %d", seed)
		}
	}
	require.Positive(t, refused)
	require.Greater(t, stamped, 5_000)
}

// Drift is followed as exactly when the clock is read every millisecond as when it is
// read once a week.
func TestStampClockFollowsDriftClosely(t *testing.T) {
	m := newFakeClocks()
	c := m.clock()
	for range 1_000_000 {
		m.advance(1900 * time.Microsecond)
		m.wall += 1900 * 950 * time.Nanosecond / 1000
		if _, err := c.Read(); err != nil {
			t.Fatalf("after %s: %v", m.elapsed, err)
		}
	}
	require.Greater(t, m.wall-m.elapsed+5*time.Hour, time.Second, "the clock drifted")
}

// Small steps add up to a large one.
func TestStampClockAddsUpSteps(t *testing.T) {
	for _, step := range []time.Duration{time.Second, -time.Second} {
		m := newFakeClocks()
		c := m.clock()
		steps := 0
		for ; steps < 100; steps++ {
			m.advance(10 * time.Second)
			m.wall += step
			if _, err := c.Read(); err != nil {
				break
			}
		}
		require.InDelta(t, 10, steps, 1)
	}
}

// A process that is stopped between two readings of the clocks (SIGSTOP, a starved
// machine) reports no jump, and finds a real jump afterwards.
func TestStampClockOfStoppedProcess(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	m := newFakeClocks()
	stops := 0
	m.pause = func() {
		if random.IntN(4) == 0 {
			m.advance(upTo(random, 20*time.Second))
			stops++
		}
	}
	c := m.clock()
	for range 10_000 {
		m.advance(time.Second)
		_, err := c.Read()
		require.NoError(t, err)
	}
	require.Greater(t, stops, 5_000)
	m.wall += 3 * time.Hour
	require.Eventually(t, func() bool { _, err := c.Read(); return err != nil }, 10*time.Second, time.Millisecond)
}

// Of several readings the narrowest counts, and one that is narrow enough ends the
// attempts.
func TestStampClockTakesReadings(t *testing.T) {
	for _, tc := range []struct {
		name  string
		waits []time.Duration // between the readings, ms
		early time.Duration
		late  time.Duration
		looks int
	}{
		{"at once", []time.Duration{0, 0, 0}, 0, 0, 1},
		{"the second", []time.Duration{0, 0, 9, 0, 0, 0}, 9, 9, 2},
		{"none: the narrowest", []time.Duration{0, 9, 0, 0, 3, 0, 0, 0, 2, 0, 4, 0, 0, 5, 0}, 12, 14, clockReadAttempts},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newFakeClocks()
			c := m.clock()
			from, reads := m.elapsed, 0
			m.pause = func() { m.advance(tc.waits[reads] * time.Millisecond); reads++ }
			l := c.takeReadingLocked()
			require.Equal(t, tc.looks*3, reads)
			require.Equal(t, tc.early*time.Millisecond, l.before-from)
			require.Equal(t, tc.late*time.Millisecond, l.After-from)
		})
	}
}

// A reading is trusted only right after a check. (A test can't separate the two parts of
// a time.Time, as a suspended machine does.)
func TestWithinCheckTTL(t *testing.T) {
	for d, want := range map[time.Duration]bool{
		0: true, clockCheckTTL - 1: true, clockCheckTTL: false, time.Hour: false, -1: false, -time.Hour: false,
	} {
		require.Equal(t, want, withinCheckTTL(d), "%s", d)
	}
	now := time.Now()
	k := clockCheck{at: now}
	require.True(t, k.covers(now.Add(time.Microsecond)))
	require.False(t, k.covers(now.Add(clockCheckTTL)), "later in both parts")
	require.False(t, k.covers(now.Add(-1)), "before the check")
}

// The elapsed clock is read at most once a millisecond of the wall clock, and again at
// once when a reading is not right after a checked one.
func TestStampClockSparesTheElapsedClock(t *testing.T) {
	m := newFakeClocks()
	c := m.clock()
	asked := 0
	count := c.elapsed
	c.elapsed = func() time.Duration { asked++; return count() }
	for range 1000 {
		m.advance(time.Microsecond)
		m.requireRead(t, c)
	}
	require.Equal(t, 2, asked)
	for _, step := range []time.Duration{-time.Microsecond, time.Millisecond, -time.Hour} {
		asked = 0
		m.wall += step
		_, _ = c.Read()
		require.Positive(t, asked, "%s", step)
	}
}

// A time before the epoch is stamped as 0.
func TestStampIsNeverNegative(t *testing.T) {
	require.Zero(t, StampOf(time.Unix(-5, 0)))
	require.Equal(t, int64(5000), StampOf(time.Unix(5, 0)))
}

// Many readers of a real clock, which then jumps.
func TestStampClockConcurrently(t *testing.T) {
	var step atomic.Int64
	wall := func() time.Time { return time.Now().Add(time.Duration(step.Load())) }
	c := NewClock(wall, clockElapsed())
	c.Accept()
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 10_000 {
				if _, err := c.Read(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	readers.Go(func() {
		for range 100 {
			c.AcceptReading(c.TakeReading(), 0)
			c.Jump()
		}
	})
	readers.Wait()
	step.Store(int64(time.Hour))
	require.InDelta(t, time.Hour, requireJump(t, c).By, float64(time.Second))
}

// The elapsed clock advances like Go's monotonic clock.
func TestClockElapsed(t *testing.T) {
	for name, clock := range map[string]func() time.Duration{"best": clockElapsed(), "running": monotonicClock()} {
		start, from := time.Now(), clock()
		for time.Since(start) < 5*time.Millisecond {
		}
		d, by := clock()-from, time.Since(start)
		require.GreaterOrEqual(t, d, 4*time.Millisecond, name)
		require.LessOrEqual(t, d, by+time.Millisecond, name)
	}
}

func BenchmarkStampClock(b *testing.B) {
	c := NewClock(time.Now, clockElapsed())
	c.Accept()
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = c.Read()
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				_, _ = c.Read()
			}
		})
	})
	elapsed := clockElapsed()
	b.Run("elapsed", func(b *testing.B) {
		for b.Loop() {
			elapsed()
		}
	})
	b.Run("now", func(b *testing.B) {
		for b.Loop() {
			time.Now()
		}
	})
}

// The kernel confirms its own clock only.
func TestKernelConfirmsItsOwnClock(t *testing.T) {
	require.Error(t, ClockSynchronised(time.Now().Add(time.Hour)))
	require.Error(t, ClockSynchronised(time.Now().Add(-time.Hour)))
}
