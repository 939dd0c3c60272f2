package limit

import (
	"hash/maphash"
	"sync"
	"time"
)

// Fixed allows each key a burst of events and then a steady rate, in memory of a
// fixed size. Unlike a [Limiter] it forgets no key: whoever sends very many would
// have others forgotten, and start anew with a full bucket. Instead keys share
// buckets, by a hash that nobody outside can foresee.
type Fixed struct {
	rate, burst float64
	seed        maphash.Seed

	mu    sync.Mutex // guards spent
	spent []spending
}

// spending is what was taken from a bucket, as of last. The zero value is a full
// bucket.
type spending struct {
	events float64
	last   time.Time
}

// fixedBuckets take 2 MiB. Two keys share one in 65,536 cases.
const fixedBuckets = 1 << 16

// NewFixed makes one.
func NewFixed(perSecond float64, burst int) *Fixed {
	return &Fixed{rate: perSecond, burst: float64(burst), seed: maphash.MakeSeed(), spent: make([]spending, fixedBuckets)}
}

// Try is Limiter.Try.
func (f *Fixed) Try(key string, now time.Time) (wait time.Duration, undo func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := &f.spent[maphash.String(f.seed, key)%fixedBuckets]
	if b.events > 0 { // a clock that was set back fills nothing, and goes on from there
		b.events = max(0, b.events-f.rate*max(0, now.Sub(b.last).Seconds()))
	}
	b.last = now
	if over := b.events + 1 - f.burst; over > rounding {
		return max(1, time.Duration(over/f.rate*float64(time.Second))), func() {}
	}
	b.events++
	return 0, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		b.events = max(0, b.events-1)
	}
}
