package limit

import (
	"container/list"
	"sync"
	"time"
)

// Lately remembers which keys were marked within some time: of them, those that
// were marked last, as many as it has room for.
type Lately struct {
	within time.Duration
	most   int

	mu     sync.Mutex // guards all below
	recent *list.List // of *mark, the latest first
	byKey  map[string]*list.Element
}

type mark struct {
	key string
	at  time.Time
}

// NewLately makes one for at most that many keys.
func NewLately(within time.Duration, keys int) *Lately {
	return &Lately{within: within, most: keys, recent: list.New(), byKey: map[string]*list.Element{}}
}

// Mark remembers a key.
func (l *Lately) Mark(key string, now time.Time) {
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

// Has reports whether a key was marked.
func (l *Lately) Has(key string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.byKey[key]
	return ok && now.Sub(e.Value.(*mark).at) < l.within
}
