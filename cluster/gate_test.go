package cluster_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// gate blocks the callers of pass while it is shut.
type gate struct {
	mu      sync.Mutex
	opened  chan struct{} // closed while the gate is open
	arrived chan struct{}
}

func newGate() *gate {
	g := &gate{opened: make(chan struct{}), arrived: make(chan struct{}, 1)}
	close(g.opened)
	return g
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened = make(chan struct{})
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.opened)
}

func (g *gate) pass() {
	g.mu.Lock()
	way := g.opened
	g.mu.Unlock()
	select {
	case <-way:
		return
	default:
	}
	select {
	case g.arrived <- struct{}{}:
	default:
	}
	<-way
}

// waitBlocked waits until a caller of pass is blocked.
func (g *gate) waitBlocked(t testing.TB) {
	t.Helper()
	select {
	case <-g.arrived:
	case <-time.After(10 * time.Second):
		require.Fail(t, "no caller reached the gate")
	}
}
