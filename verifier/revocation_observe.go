package verifier

import (
	"sync"
	"time"
)

// feedReporter is what the observer was told of the feed.
type feedReporter struct {
	observer Observer

	mu     sync.Mutex
	fresh  bool        // mu
	closed bool        // mu
	timer  *time.Timer // mu; until what is known is stale
}

// reportRead tells the observer of an attempt, and what comes of it.
func (r *revocations) reportRead(read RevocationsRead, now time.Time) {
	if told := r.reporter.observer.RevocationsRead; told != nil {
		read.Behind, _ = r.behind(now)
		told(read)
	}
	r.reportFresh()
}

// reportFresh tells the observer whether that has changed. Nobody may hear of the
// feed for long, so it comes back by itself when the time is up.
func (r *revocations) reportFresh() {
	t := &r.reporter
	if t.observer.RevocationsFresh == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := r.now()
	fresh := r.isFresh(now)
	if t.closed {
		return
	}
	if fresh != t.fresh {
		t.fresh = fresh
		t.observer.RevocationsFresh(fresh, r.state(now))
	}
	if t.timer != nil {
		t.timer.Stop()
	}
	if fresh {
		behind, _ := r.behind(now)
		t.timer = time.AfterFunc(r.stale-behind+time.Millisecond, r.reportFresh)
	}
}

// close has the observer told nothing any more.
func (t *feedReporter) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.timer != nil {
		t.timer.Stop()
	}
}
