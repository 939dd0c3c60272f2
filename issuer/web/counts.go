package web

import (
	"context"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	countsKept  = 100                    // clients
	countsUsers = 1000                   // people of each, those refreshed last
	countsWait  = 150 * time.Millisecond // that a page waits for a number
	countsFresh = 15 * time.Second       // that a number is shown as it is
	// countsRest is how many times as long as a walk took no other begins, so
	// that they have no more than a part of one processor.
	countsRest = 4
)

// counts are how many people are connected to clients. To count walks a table
// with a row for each person, which takes seconds where there are a million:
// it is done beside requests, one at a time, and kept.
type counts struct {
	walking chan struct{} // holds an element while somebody walks, and rests

	mu       sync.Mutex // guards all below
	byClient map[string]*counted
}

// A counted is the number of one client. Its fields but done are guarded by
// the mutex of counts.
type counted struct {
	is      ledger.Connected
	at      ledger.Time // of the view it was counted on
	known   bool
	stale   time.Time
	walking chan struct{} // closed when the walk ends; nil for none
}

func newCounts() *counts {
	return &counts{walking: make(chan struct{}, 1), byClient: map[string]*counted{}}
}

// of is the last number of a client, and false where there is none yet. It has
// another counted on the view given where that one is old.
func (n *counts) of(ctx context.Context, client string, view ledger.View, now ledger.Time) (ledger.Connected, ledger.Time, bool) {
	if walking := n.begin(client, view, now); walking != nil {
		wait := time.NewTimer(countsWait)
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
		return one.is, one.at, one.known
	}
	return ledger.Connected{}, 0, false
}

// begin starts a walk where one is needed. What comes back is closed when it
// has ended; nil where nothing is to be waited for.
func (n *counts) begin(client string, view ledger.View, now ledger.Time) chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	one := n.byClient[client]
	switch {
	case one != nil && one.walking != nil:
		return one.walking
	case one != nil && time.Now().Before(one.stale):
		return nil
	case one == nil && !n.makeRoom():
		return nil // all that are kept are waiting for a walk
	case one == nil:
		one = &counted{}
		n.byClient[client] = one
	}
	one.walking = make(chan struct{})
	go n.walk(client, one, view, now)
	return one.walking
}

// makeRoom forgets a number that nobody waits for. mu is held.
func (n *counts) makeRoom() bool {
	if len(n.byClient) < countsKept {
		return true
	}
	oldest := ""
	for client, one := range n.byClient {
		if one.walking == nil && (oldest == "" || one.stale.Before(n.byClient[oldest].stale)) {
			oldest = client
		}
	}
	delete(n.byClient, oldest)
	return oldest != ""
}

func (n *counts) walk(client string, one *counted, view ledger.View, now ledger.Time) {
	n.walking <- struct{}{}
	began := time.Now()
	is := view.Connected(client, now, countsUsers)
	took := time.Since(began)
	time.AfterFunc(countsRest*took, func() { <-n.walking })

	n.mu.Lock()
	defer n.mu.Unlock()
	one.is, one.at, one.known = is, now, true
	one.stale = time.Now().Add(max(countsFresh, 30*took))
	close(one.walking)
	one.walking = nil
}
