package verifier

import (
	"sync"
	"time"
)

// feedReporter calls the observer about the feed.
type feedReporter struct {
	observer Observer

	mu     sync.Mutex
	fresh  bool        // mu
	closed bool        // mu
	timer  *time.Timer // mu; fires when the feed is stale
}

// reportRead reports an attempt, and whether fresh has changed.
func (r *revocations) reportRead(read RevocationsRead, now time.Time) {
	if report := r.reporter.observer.RevocationsRead; report != nil {
		read.Behind, _ = r.behind(now)
		report(read)
	}
	r.reportFresh()
}

// reportFresh reports whether fresh has changed. A timer calls it again when the feed
// becomes stale without an attempt.
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

// close ends the reports.
func (t *feedReporter) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.timer != nil {
		t.timer.Stop()
	}
}
