package limit

import (
	"container/list"
	"sync"
	"time"
)

// Recent records which keys were marked within a time. If there are too many, it drops the
// keys with the oldest marks. Its methods are safe for concurrent use.
type Recent struct {
	within time.Duration
	most   int

	mu     sync.Mutex // guards the fields below
	recent *list.List // of *mark, the most recent first
	byKey  map[string]*list.Element
}

type mark struct {
	key string
	at  time.Time
}

// NewRecent returns a Recent for at most that many keys, each for the time within after
// its last mark.
func NewRecent(within time.Duration, keys int) *Recent {
	return &Recent{within: within, most: keys, recent: list.New(), byKey: map[string]*list.Element{}}
}

// Mark marks a key.
func (l *Recent) Mark(key string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.byKey[key]; ok {
		e.Value.(*mark).at = now
		l.recent.MoveToFront(e)
		return
	}
	if len(l.byKey) >= l.most {
		delete(l.byKey, l.recent.Remove(l.recent.Back()).(*mark).key)
	}
	l.byKey[key] = l.recent.PushFront(&mark{key, now})
}

// Has reports whether a key was marked within the time and not dropped.
func (l *Recent) Has(key string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.byKey[key]
	return ok && now.Sub(e.Value.(*mark).at) < l.within
}

// Len returns the number of keys in memory.
func (l *Recent) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byKey)
}
