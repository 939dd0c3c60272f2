package web

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/mintmark-auth/mintmark/issuer/limit"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// placesPerCPU is how long the line is: what is done in some two seconds. More
// would not be served in time.
const placesPerCPU = 100

// A line is where strangers wait to have a password hashed. As many as there are
// CPUs have their turn at once, so that whom this service knows waits for one
// hash at most, however many strangers come. Half of the places are as many as
// one subscriber may take, of all that they may send at once.
type line struct {
	places, turns chan struct{} // an element for each who has one
	most          int           // places of one site

	mu     sync.Mutex
	bySite map[string]int // places taken, of who has any; guarded by mu
}

func newLine() *line {
	n := max(1, runtime.NumCPU())
	return &line{
		places: make(chan struct{}, n*placesPerCPU), turns: make(chan struct{}, n),
		most: n * placesPerCPU / 2, bySite: map[string]int{},
	}
}

// enter waits for a turn. The error is oauth.ErrUnavailable where the line is
// full, or too slow.
func (l *line) enter(ctx context.Context, address string) (leave func(), err error) {
	site := limit.Site(address)
	if !l.take(site) {
		return nil, oauth.ErrUnavailable
	}
	defer l.free(site)
	ctx, cancel := context.WithTimeout(ctx, waitPassword)
	defer cancel()
	select {
	case l.turns <- struct{}{}:
		return func() { <-l.turns }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", oauth.ErrUnavailable, ctx.Err())
	}
}

// take is a place for somebody of a site, if there is one.
func (l *line) take(site string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bySite[site] >= l.most {
		return false
	}
	select {
	case l.places <- struct{}{}:
		l.bySite[site]++
		return true
	default:
		return false
	}
}

func (l *line) free(site string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	<-l.places
	if l.bySite[site]--; l.bySite[site] == 0 {
		delete(l.bySite, site)
	}
}
