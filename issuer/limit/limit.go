// Package limit counts failures by key and says when there were too many. It
// owns the bound on how many keys are remembered; it does not own what a key
// is made of, nor what a caller over the limit is answered.
package limit

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Limiter allows each key a burst of events and then a steady rate. It
// remembers the keys that were used last; a key that was forgotten starts
// with a full burst, which is what a limit of bounded memory can promise.
type Limiter struct {
	rate  rate.Limit
	burst int
	most  int
	now   func() time.Time

	mu     sync.Mutex // guards all below
	recent *list.List // of *entry, the latest first
	byKey  map[string]*list.Element
}

type entry struct {
	key    string
	bucket *rate.Limiter
}

// New makes a limiter of at most that many keys.
func New(perSecond float64, burst, keys int, now func() time.Time) *Limiter {
	return &Limiter{
		rate: rate.Limit(perSecond), burst: burst, most: keys, now: now,
		recent: list.New(), byKey: map[string]*list.Element{},
	}
}

// Take counts one event of key. Where that was too many it says how long to
// wait for the next.
func (l *Limiter) Take(key string) (ok bool, wait time.Duration) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(key)
	if b.AllowN(now, 1) {
		return true, 0
	}
	missing := 1 - b.TokensAt(now)
	return false, time.Duration(missing / float64(l.rate) * float64(time.Second))
}

func (l *Limiter) bucket(key string) *rate.Limiter {
	if e, ok := l.byKey[key]; ok {
		l.recent.MoveToFront(e)
		return e.Value.(*entry).bucket
	}
	if len(l.byKey) >= l.most {
		oldest := l.recent.Back()
		l.recent.Remove(oldest)
		delete(l.byKey, oldest.Value.(*entry).key)
	}
	b := rate.NewLimiter(l.rate, l.burst)
	l.byKey[key] = l.recent.PushFront(&entry{key, b})
	return b
}
