package limit

import (
	"container/list"
	"sync"
	"time"
)

// Recent records which keys were marked within a time, each with the value of its last mark. If
// there are too many, it drops the keys with the oldest marks. Its methods are safe for
// concurrent use.
type Recent[V any] struct {
	within time.Duration
	most   int

	mu     sync.Mutex // guards the fields below
	recent *list.List // of *mark[V], the most recent first
	byKey  map[string]*list.Element
}

type mark[V any] struct {
	key   string
	value V
	at    time.Time
}

// NewRecent returns a Recent for at most that many keys, each for the time within after
// its last mark.
func NewRecent[V any](within time.Duration, keys int) *Recent[V] {
	return &Recent[V]{within: within, most: keys, recent: list.New(), byKey: map[string]*list.Element{}}
}

// Mark marks a key with a value.
func (l *Recent[V]) Mark(key string, value V, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.byKey[key]; ok {
		*e.Value.(*mark[V]) = mark[V]{key, value, now}
		l.recent.MoveToFront(e)
		return
	}
	if len(l.byKey) >= l.most {
		delete(l.byKey, l.recent.Remove(l.recent.Back()).(*mark[V]).key)
	}
	l.byKey[key] = l.recent.PushFront(&mark[V]{key, value, now})
}

// Get returns the value of a key, and whether the key was marked within the time and not dropped.
func (l *Recent[V]) Get(key string, now time.Time) (value V, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.byKey[key]; ok {
		if m := e.Value.(*mark[V]); now.Sub(m.at) < l.within {
			return m.value, true
		}
	}
	return value, false
}

// Has reports whether Get has a value.
func (l *Recent[V]) Has(key string, now time.Time) bool {
	_, ok := l.Get(key, now)
	return ok
}

// Len returns the number of keys in memory.
func (l *Recent[V]) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byKey)
}
