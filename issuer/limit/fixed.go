package limit

import (
	"hash/maphash"
	"sync"
	"time"
)

// Fixed allows each key a burst of events and then a steady rate, in a fixed amount of
// memory. A [Limiter] drops keys if it has too many, so an attacker who sends many keys
// could reset the limit of one. Fixed drops no key; instead, keys share buckets, by a hash
// with a random seed.
type Fixed struct {
	rate, burst float64
	seed        maphash.Seed

	mu    sync.Mutex // guards spent
	spent []spending
}

// spending is the number of events taken from a bucket, as of the time last. The zero
// value is a full bucket.
type spending struct {
	events float64
	last   time.Time
}

// fixedBuckets is the number of buckets, which take 2 MiB. The probability that two keys
// share a bucket is 1 in 65,536.
const fixedBuckets = 1 << 16

// NewFixed returns a Fixed for events at a rate of perSecond, after a burst.
func NewFixed(perSecond float64, burst int) *Fixed {
	return &Fixed{rate: perSecond, burst: float64(burst), seed: maphash.MakeSeed(), spent: make([]spending, fixedBuckets)}
}

// Try is like [Limiter.Try].
func (f *Fixed) Try(key string, now time.Time) (wait time.Duration, undo func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := &f.spent[maphash.String(f.seed, key)%fixedBuckets]
	if b.events > 0 { // if the clock was set back, the bucket fills from that time on
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
