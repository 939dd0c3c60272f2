// Package limit counts events by key and says when there were too many. It
// owns the bound on how many keys are remembered, and what part of an address
// stands for one subscriber; it does not own what else a key is made of, nor
// what a caller over the limit is answered.
package limit

import (
	"container/list"
	"net/netip"
	"sync"
	"time"
)

// A Limiter allows each key a burst of events and then a steady rate: a token
// bucket for each of the keys used last. A key that was forgotten starts with
// a full bucket, which is what a limit of bounded memory can promise.
type Limiter struct {
	rate  float64 // events a second
	burst float64
	most  int

	mu     sync.Mutex // guards all below
	recent *list.List // of *bucket, the latest first
	byKey  map[string]*list.Element
}

type bucket struct {
	key  string
	left float64 // events, as of last
	last time.Time
}

// New makes a limiter of at most that many keys.
func New(perSecond float64, burst, keys int) *Limiter {
	return &Limiter{
		rate: perSecond, burst: float64(burst), most: keys,
		recent: list.New(), byKey: map[string]*list.Element{},
	}
}

// Take counts one event of key and returns 0, or counts none and says how
// long to wait for the next.
func (l *Limiter) Take(key string, now time.Time) (wait time.Duration) {
	wait, _ = l.Try(key, now)
	return wait
}

// rounding keeps a caller who has waited as long as told from waiting once more.
const rounding = 1e-6

// Try is Take for an event that may turn out to be none of those that are
// limited: undo then gives it back, whole, however many others came meanwhile.
func (l *Limiter) Try(key string, now time.Time) (wait time.Duration, undo func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(key, now)
	// A clock that was set back fills nothing, and goes on from there.
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

// Forget gives key a full bucket again.
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

// narrow is the least that a subscriber has with IPv6, in bits.
const narrow = 64

// Network is the part of an address that belongs to one subscriber: with IPv6
// each has a /64 at least.
func Network(address string) string { return prefix(address, narrow) }

// Site is the widest part of an address that one subscriber may have: with IPv6
// a /48.
func Site(address string) string { return prefix(address, 48) }

// Prefixes returns the prefixes of an address that one subscriber may have, the widest
// first: for IPv6 the /48, the /56 and the /64.
func Prefixes(address string) []string {
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Unmap().Is4() {
		return []string{prefix(address, narrow)}
	}
	return []string{prefix(address, 48), prefix(address, 56), prefix(address, narrow)}
}

// prefix is so many bits of an IPv6 address, and the whole of any other.
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
