package web

import (
	"context"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	maxCounters     = 100                    // clients
	maxCountedUsers = 1000                   // people of each, those refreshed last
	counterWait     = 150 * time.Millisecond // that a page waits for a number
	counterFresh    = 15 * time.Second       // that a number is shown as it is
	// counterPauseFactor is how many times as long as a walk took no other begins, so
	// that they have no more than a part of one processor.
	counterPauseFactor = 4
)

// counters are how many people are connected to clients. To count walks a table
// with a row for each person, which takes seconds where there are a million:
// it is done beside requests, one at a time, and kept.
type counters struct {
	running chan struct{} // holds an element while somebody walks, and rests

	mu       sync.Mutex // guards all below
	byClient map[string]*counter
}

// A counted is the number of one client. Its fields but done are guarded by
// the mutex of counts.
type counter struct {
	value ledger.Connected
	at    ledger.Time // of the view it was counted on
	known bool
	stale time.Time
	done  chan struct{} // closed when the walk ends; nil for none
}

func newCounters() *counters {
	return &counters{running: make(chan struct{}, 1), byClient: map[string]*counter{}}
}

// get is the last number of a client, and false where there is none yet. It has
// another counted on the view given where that one is old.
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

// startCount starts a walk where one is needed. What comes back is closed when it
// has ended; nil where nothing is to be waited for.
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
		return nil // all that are kept are waiting for a walk
	case one == nil:
		one = &counter{}
		n.byClient[client] = one
	}
	one.done = make(chan struct{})
	go n.count(client, one, view, now)
	return one.done
}

// evict forgets a number that nobody waits for. mu is held.
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
