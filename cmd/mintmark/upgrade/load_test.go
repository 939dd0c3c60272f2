package upgrade

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// A load sends requests to the ready nodes, as clients behind a load balancer that polls
// /readyz do. Any failure would be visible to such a client.
type load struct {
	c      *cluster
	stop   chan struct{}
	wait   sync.WaitGroup
	paused sync.RWMutex // locked for writing while no client may send requests

	done   atomic.Int64
	mu     sync.Mutex
	failed []error // guarded by mu
}

const (
	clients = 6
	// pollInterval is how often a load balancer polls /readyz. A node that stops still
	// answers for a second.
	pollInterval = 100 * time.Millisecond
)

func startLoad(c *cluster, app string, standing bool) *load {
	l := &load{c: c, stop: make(chan struct{})}
	for _, n := range c.nodes {
		n.ready.Store(n.Ready())
		l.wait.Go(func() { l.watch(n) })
	}
	for i := range clients {
		client := newClient(c.t, user(i), app, l.pick, standing)
		l.wait.Go(func() { l.ask(client) })
	}
	return l
}

func (l *load) watch(n *node) {
	for {
		n.ready.Store(n.Ready())
		select {
		case <-time.After(pollInterval):
		case <-l.stop:
			return
		}
	}
}

// pick returns a node that was ready at the last poll.
func (l *load) pick() *node {
	for {
		n := l.c.nodes[rand.IntN(len(l.c.nodes))]
		if n.ready.Load() {
			return n
		}
		time.Sleep(time.Millisecond)
	}
}

func (l *load) stopping() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// ask makes a grant, uses it for a while, and starts again.
func (l *load) ask(c *client) {
	for !l.stopping() {
		var code, token string
		var err error
		l.track(func() error { code, err = c.allow(); return err })
		if err != nil {
			continue
		}
		l.track(func() error { token, err = c.exchange(l.pick(), code); return err })
		for i := 0; err == nil && i < 40 && !l.stopping(); i++ {
			l.track(func() error { token, err = c.refresh(l.pick(), token); return err })
			time.Sleep(5 * time.Millisecond) // leave processor time for the three nodes
		}
	}
}

func (l *load) track(request func() error) {
	l.paused.RLock()
	defer l.paused.RUnlock()
	if err := request(); err != nil {
		l.mu.Lock()
		l.failed = append(l.failed, err)
		l.mu.Unlock()
		return
	}
	l.done.Add(1)
}

// pauseDuring pauses the clients while f runs.
func (l *load) pauseDuring(f func()) {
	l.paused.Lock()
	defer l.paused.Unlock()
	f()
}

// requireProgress waits until the clients have made progress, so that a step was under
// load.
func (l *load) requireProgress(t testing.TB) {
	t.Helper()
	from := l.done.Load()
	require.True(t, testkit.Until(testkit.Limit, func() bool { return l.done.Load() > from+200 }), "the load makes no progress")
}

// end stops the clients; none of them may have failed.
func (l *load) end(t testing.TB) {
	t.Helper()
	close(l.stop)
	l.wait.Wait()
	t.Logf("%d requests were answered", l.done.Load())
	for i, err := range l.failed {
		if i == 20 {
			break
		}
		t.Errorf("a request failed: %v", err)
	}
	require.Empty(t, l.failed, "requests that failed")
}
