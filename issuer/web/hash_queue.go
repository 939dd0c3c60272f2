package web

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/mintmark-auth/mintmark/issuer/limit"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// queueSlotsPerCPU is how long the line is: what is done in some two seconds. More
// would not be served in time.
const queueSlotsPerCPU = 100

// A hashQueue is where unauthenticated callers wait to have a password hashed. As many as
// there are CPUs have their turn at once, so that whom this service knows waits for one
// hash at most, however many strangers come. Half of the places are as many as one
// subscriber may take, of all that they may send at once.
type hashQueue struct {
	slots, workers chan struct{} // an element for each who has one
	maxPerSite     int           // places of one site

	mu     sync.Mutex
	bySite map[string]int // places taken, of who has any; guarded by mu
}

func newHashQueue() *hashQueue {
	n := max(1, runtime.NumCPU())
	return &hashQueue{
		slots: make(chan struct{}, n*queueSlotsPerCPU), workers: make(chan struct{}, n),
		maxPerSite: n * queueSlotsPerCPU / 2, bySite: map[string]int{},
	}
}

// acquire waits for a turn. The error is oauth.ErrUnavailable where the line is
// full, or too slow.
func (l *hashQueue) acquire(ctx context.Context, address string) (leave func(), err error) {
	site := limit.Site(address)
	if !l.reserve(site) {
		return nil, oauth.ErrUnavailable
	}
	defer l.release(site)
	ctx, cancel := context.WithTimeout(ctx, waitPassword)
	defer cancel()
	select {
	case l.workers <- struct{}{}:
		return func() { <-l.workers }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", oauth.ErrUnavailable, ctx.Err())
	}
}

// reserve is a place for somebody of a site, if there is one.
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
