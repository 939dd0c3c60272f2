package web

import (
	"container/list"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// attempts bounds guessing at passwords: by user name and address together, so
// that nobody elsewhere can lock a person out, and by address alone, so that
// one address can't try one password on everybody. A node counts what it sees.
type attempts struct{ account, address *limiter }

func newAttempts() *attempts {
	return &attempts{
		account: newLimiter(rate.Every(10*time.Second), 10, 10_000),
		address: newLimiter(rate.Every(time.Second), 60, 10_000),
	}
}

// take counts one attempt, or says how long to wait. The name is folded as the
// ledger does.
func (a *attempts) take(username, address string, now time.Time) (wait time.Duration) {
	address = network(address)
	if wait := a.address.take(address, now); wait > 0 {
		return wait
	}
	return a.account.take(accountKey(username, address), now)
}

// forgive is called after a right password.
func (a *attempts) forgive(username, address string) {
	a.account.forget(accountKey(username, network(address)))
}

func accountKey(username, network string) string { return network + "\x00" + strings.ToLower(username) }

// network is the part of an address that belongs to one subscriber: with IPv6
// each has a /64 at least.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	ip = ip.Unmap()
	if ip.Is4() {
		return ip.String()
	}
	prefix, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return address
	}
	return prefix.String()
}

// A limiter is a token bucket for each of the keys used last. A key that was
// dropped starts with a full bucket.
type limiter struct {
	limit rate.Limit
	burst int
	most  int // keys

	mu    sync.Mutex // guards the rest
	order *list.List // of *bucket, the one used last in front
	byKey map[string]*list.Element
}

type bucket struct {
	key string
	*rate.Limiter
}

func newLimiter(limit rate.Limit, burst, most int) *limiter {
	return &limiter{limit: limit, burst: burst, most: most, order: list.New(), byKey: map[string]*list.Element{}}
}

// take takes one token, or takes none and says when there will be one.
func (l *limiter) take(key string, now time.Time) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.byKey[key]
	if ok {
		l.order.MoveToFront(e)
	} else {
		e = l.order.PushFront(&bucket{key, rate.NewLimiter(l.limit, l.burst)})
		l.byKey[key] = e
		if l.order.Len() > l.most {
			l.drop(l.order.Back())
		}
	}
	r := e.Value.(*bucket).ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

func (l *limiter) forget(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.byKey[key]; ok {
		l.drop(e)
	}
}

// drop is called with mu held.
func (l *limiter) drop(e *list.Element) {
	delete(l.byKey, l.order.Remove(e).(*bucket).key)
}
