// Package limit limits the rate of events by key. It owns the bound on the number of keys
// in memory, and which prefix of an address identifies one subscriber. Callers choose the
// keys, and what to respond beyond the limit.
package limit

import (
	"container/list"
	"net/netip"
	"sync"
	"time"
)

// A Limiter allows each key a burst of events and then a steady rate: a token bucket for
// each of the most recently used keys. A dropped key starts again with a full bucket,
// since memory is bounded.
//
// It is not golang.org/x/time/rate because Try must return an event completely:
// rate.Reservation.Cancel returns less the more events were counted since, and users who
// sign in correctly at the same time would limit each other.
type Limiter struct {
	rate  float64 // events per second
	burst float64
	most  int

	mu     sync.Mutex // guards the fields below
	recent *list.List // of *bucket, the most recently used first
	byKey  map[string]*list.Element
}

type bucket struct {
	key  string
	left float64 // events left, as of last
	last time.Time
}

// New returns a Limiter for at most that many keys.
func New(perSecond float64, burst, keys int) *Limiter {
	return &Limiter{
		rate: perSecond, burst: float64(burst), most: keys,
		recent: list.New(), byKey: map[string]*list.Element{},
	}
}

// Take counts one event of key and returns 0, or counts none and returns how long to wait
// for the next.
func (l *Limiter) Take(key string, now time.Time) (wait time.Duration) {
	wait, _ = l.Try(key, now)
	return wait
}

// rounding prevents a caller who has waited for the returned time from having to wait
// again.
const rounding = 1e-6

// Try is Take for an event that may turn out not to be limited: undo then returns it
// completely, however many other events came in between.
func (l *Limiter) Try(key string, now time.Time) (wait time.Duration, undo func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(key, now)
	// If the clock was set back, the bucket gains nothing and fills from that time on.
	b.left = min(l.burst, b.left+l.rate*max(0, now.Sub(b.last).Seconds()))
	b.last = now
	if b.left < 1-rounding {
		return max(1, time.Duration((1-b.left)/l.rate*float64(time.Second))), func() {}
	}
	b.left = max(0, b.left-1)
	return 0, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		b.left = min(l.burst, b.left+1)
	}
}

// Forget resets key to a full bucket.
func (l *Limiter) Forget(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.byKey[key]; ok {
		l.drop(e)
	}
}

func (l *Limiter) bucket(key string, now time.Time) *bucket {
	if e, ok := l.byKey[key]; ok {
		l.recent.MoveToFront(e)
		return e.Value.(*bucket)
	}
	if len(l.byKey) >= l.most {
		l.drop(l.recent.Back())
	}
	b := &bucket{key: key, left: l.burst, last: now}
	l.byKey[key] = l.recent.PushFront(b)
	return b
}

func (l *Limiter) drop(e *list.Element) {
	delete(l.byKey, l.recent.Remove(e).(*bucket).key)
}

// narrow is the length in bits of the narrowest IPv6 prefix of a subscriber.
const narrow = 64

// Network returns the part of an address that certainly belongs to one subscriber, for
// IPv6 the /64.
func Network(address string) string { return prefix(address, narrow) }

// Site returns the widest part of an address that may belong to one subscriber, for IPv6
// the /48.
func Site(address string) string { return prefix(address, 48) }

// Prefixes returns the prefixes of an address that may belong to one subscriber, the
// widest first: for IPv6 the /48, the /56 and the /64.
func Prefixes(address string) []string {
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Unmap().Is4() {
		return []string{prefix(address, narrow)}
	}
	return []string{prefix(address, 48), prefix(address, 56), prefix(address, narrow)}
}

// prefix returns that many bits of an IPv6 address, or any other address unchanged.
func prefix(address string, bits int) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	ip = ip.Unmap()
	if ip.Is4() {
		return ip.String()
	}
	network, err := ip.WithZone("").Prefix(bits)
	if err != nil {
		return address
	}
	return network.String()
}
