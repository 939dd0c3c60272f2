package authn

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/mintmark-auth/mintmark/issuer/limit"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// queueSlotsPerCPU is the length of the queue for each CPU: the number of hashes computed
// in some two seconds. Longer waits would time out.
const queueSlotsPerCPU = 100

// A hashQueue is where unauthenticated callers wait to have a password hashed. As many as
// there are CPUs hash concurrently, so that a known user waits for one hash at most,
// however many unknown senders there are. One subscriber may take at most half of the
// places.
type hashQueue struct {
	slots, workers chan struct{} // an element for each occupied one
	maxPerSite     int           // places for one site

	mu     sync.Mutex
	bySite map[string]int // occupied places, without zeros; guarded by mu
}

func newHashQueue() *hashQueue {
	n := max(1, runtime.NumCPU())
	return &hashQueue{
		slots: make(chan struct{}, n*queueSlotsPerCPU), workers: make(chan struct{}, n),
		maxPerSite: n * queueSlotsPerCPU / 2, bySite: map[string]int{},
	}
}

// acquire waits for a turn. The error is oauth.ErrUnavailable if the queue is full or too slow.
func (l *hashQueue) acquire(ctx context.Context, address string) (leave func(), err error) {
	site := limit.Site(address)
	if !l.reserve(site) {
		return nil, oauth.ErrUnavailable
	}
	defer l.release(site)
	ctx, cancel := context.WithTimeout(ctx, WaitPassword)
	defer cancel()
	select {
	case l.workers <- struct{}{}:
		return func() { <-l.workers }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", oauth.ErrUnavailable, ctx.Err())
	}
}

// reserve takes a place for a site, if there is one.
func (l *hashQueue) reserve(site string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bySite[site] >= l.maxPerSite {
		return false
	}
	select {
	case l.slots <- struct{}{}:
		l.bySite[site]++
		return true
	default:
		return false
	}
}

func (l *hashQueue) release(site string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	<-l.slots
	if l.bySite[site]--; l.bySite[site] == 0 {
		delete(l.bySite, site)
	}
}
