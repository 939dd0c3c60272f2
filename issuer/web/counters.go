package web

import (
	"context"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	maxCounters     = 100                    // number of clients
	maxCountedUsers = 1000                   // users listed for each client, those with the latest refreshes
	counterWait     = 150 * time.Millisecond // how long a page waits for a number
	counterFresh    = 15 * time.Second       // how long a number is shown without counting again
	// counterPauseFactor is the length of the pause after a walk, relative to the walk. It
	// limits counting to a fraction of one CPU.
	counterPauseFactor = 4
)

// counters has the number of users connected to each client. Counting walks a table with
// a row for each user, which takes seconds for a million: it runs in the background, one
// walk at a time, and the results are kept.
type counters struct {
	running chan struct{} // has an element during a walk and the pause after it

	mu       sync.Mutex // guards the fields below
	byClient map[string]*counter
}

// A counter is the number of one client. Except for done, its fields are guarded by counters.mu.
type counter struct {
	value ledger.Connected
	at    ledger.Time // time of the view
	known bool
	stale time.Time
	done  chan struct{} // closed when the walk ends; nil if there is none
}

func newCounters() *counters {
	return &counters{running: make(chan struct{}, 1), byClient: map[string]*counter{}}
}

// get returns the last number of a client, or false if there is none. If that number is
// old, get starts another count on the given view.
func (n *counters) get(ctx context.Context, client string, view ledger.View, now ledger.Time) (ledger.Connected, ledger.Time, bool) {
	if walking := n.startCount(client, view, now); walking != nil {
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
	if one := n.byClient[client]; one != nil {
		return one.value, one.at, one.known
	}
	return ledger.Connected{}, 0, false
}

// startCount starts a walk if one is needed. It returns a channel that is closed at the
// end of the walk, or nil if there is nothing to wait for.
func (n *counters) startCount(client string, view ledger.View, now ledger.Time) chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	one := n.byClient[client]
	switch {
	case one != nil && one.done != nil:
		return one.done
	case one != nil && time.Now().Before(one.stale):
		return nil
	case one == nil && !n.evict():
		return nil // walks for all kept counters are pending
	case one == nil:
		one = &counter{}
		n.byClient[client] = one
	}
	one.done = make(chan struct{})
	go n.count(client, one, view, now)
	return one.done
}

// evict removes a number for which nobody waits. mu must be held.
func (n *counters) evict() bool {
	if len(n.byClient) < maxCounters {
		return true
	}
	oldest := ""
	for client, one := range n.byClient {
		if one.done == nil && (oldest == "" || one.stale.Before(n.byClient[oldest].stale)) {
			oldest = client
		}
	}
	delete(n.byClient, oldest)
	return oldest != ""
}

func (n *counters) count(client string, one *counter, view ledger.View, now ledger.Time) {
	n.running <- struct{}{}
	began := time.Now()
	is := view.Connected(client, now, maxCountedUsers)
	took := time.Since(began)
	time.AfterFunc(counterPauseFactor*took, func() { <-n.running })

	n.mu.Lock()
	defer n.mu.Unlock()
	one.value, one.at, one.known = is, now, true
	one.stale = time.Now().Add(max(counterFresh, 30*took))
	close(one.done)
	one.done = nil
}
