package parts

import (
	"context"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	maxCounters     = 100                    // numbers that are kept
	MaxCountedUsers = 1000                   // users listed for each client, those with the latest refreshes
	counterWait     = 150 * time.Millisecond // how long a page waits for a number
	// counterFreshFactor is how long a number is shown without counting again, relative to the
	// walk: numbers of a small table are always new.
	counterFreshFactor = 30
	// counterPauseFactor is the length of the pause after a walk, relative to the walk. It
	// limits counting to a fraction of one CPU.
	counterPauseFactor = 4
	// counterPatience is how long after a number was last asked for a walk may begin. So numbers
	// that nobody waits for any more don't delay those of others.
	counterPatience = 30 * time.Second
)

// Counters has numbers by name, such as that of the users connected to each client. Counting
// walks a table with a row for each user, which takes seconds for a million: it runs in the
// background, one walk at a time, and the results are kept.
type Counters[T any] struct {
	running chan struct{} // has an element during a walk and the pause after it

	mu     sync.Mutex // guards the fields below
	byName map[string]*counter[T]
}

// A counter is one number. Except for done, its fields are guarded by Counters.mu.
type counter[T any] struct {
	value T
	at    ledger.Time // time of the view
	known bool
	stale time.Time
	asked time.Time     // when a walk was last asked for
	done  chan struct{} // closed when the walk ends or is given up; nil if there is none
}

// NewCounters returns counters without numbers.
func NewCounters[T any]() *Counters[T] {
	return &Counters[T]{running: make(chan struct{}, 1), byName: map[string]*counter[T]{}}
}

// Get returns the last number with a name, or false if there is none. If that number is
// old, Get starts another walk, on a view of the given time.
func (n *Counters[T]) Get(ctx context.Context, name string, now ledger.Time, walk func() T) (value T, at ledger.Time, known bool) {
	if walking := n.startCount(name, now, walk); walking != nil {
		wait := time.NewTimer(counterWait)
		defer wait.Stop()
		select {
		case <-walking:
		case <-wait.C:
		case <-ctx.Done():
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if one := n.byName[name]; one != nil {
		return one.value, one.at, one.known
	}
	return value, 0, false
}

// waitNewer is how long Last waits for a newer number than the last one.
const waitNewer = 5 * time.Millisecond

// Last is Get for a page of which the number is a small part: it hardly waits if there is one.
func (n *Counters[T]) Last(ctx context.Context, name string, now ledger.Time, walk func() T) (value T, known bool) {
	n.mu.Lock()
	one := n.byName[name]
	counted := one != nil && one.known
	n.mu.Unlock()
	if counted {
		short, cancel := context.WithTimeout(ctx, waitNewer)
		defer cancel()
		ctx = short
	}
	value, _, known = n.Get(ctx, name, now, walk)
	return value, known
}

// startCount starts a walk if one is needed. It returns a channel that is closed at the
// end of the walk, or nil if there is nothing to wait for.
func (n *Counters[T]) startCount(name string, now ledger.Time, walk func() T) chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	one := n.byName[name]
	switch {
	case one != nil && one.done != nil:
		one.asked = time.Now()
		return one.done
	case one != nil && time.Now().Before(one.stale):
		return nil
	case one == nil && !n.evict():
		return nil // walks for all kept numbers are pending
	case one == nil:
		one = &counter[T]{}
		n.byName[name] = one
	}
	one.asked, one.done = time.Now(), make(chan struct{})
	go n.count(one, now, walk)
	return one.done
}

// evict removes a number for which nobody waits. mu must be held.
func (n *Counters[T]) evict() bool {
	if len(n.byName) < maxCounters {
		return true
	}
	oldest := ""
	for name, one := range n.byName {
		if one.done == nil && (oldest == "" || one.stale.Before(n.byName[oldest].stale)) {
			oldest = name
		}
	}
	delete(n.byName, oldest)
	return oldest != ""
}

func (n *Counters[T]) count(one *counter[T], now ledger.Time, walk func() T) {
	n.running <- struct{}{}
	began := time.Now()
	if n.giveUp(one, began) {
		<-n.running
		return
	}
	is := walk()
	took := time.Since(began)
	time.AfterFunc(counterPauseFactor*took, func() { <-n.running })

	n.mu.Lock()
	defer n.mu.Unlock()
	one.value, one.at, one.known = is, now, true
	one.stale = time.Now().Add(counterFreshFactor * took)
	close(one.done)
	one.done = nil
}

// giveUp ends a walk that nobody has asked for lately, before it begins, and reports whether it
// did. The last number stays, and is evicted before others.
func (n *Counters[T]) giveUp(one *counter[T], now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now.Sub(one.asked) <= counterPatience {
		return false
	}
	close(one.done)
	one.done = nil
	return true
}
