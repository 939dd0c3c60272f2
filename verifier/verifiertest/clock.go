package verifiertest

import (
	"sync"
	"time"
)

// Clock is a clock that moves only by Advance. It is safe for use by many goroutines.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock set to at.
func NewClock(at time.Time) *Clock { return &Clock{now: at} }

// Now returns the time. It can be the Now of verifier.Config and verifier.JWKSConfig.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock by d.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
