package cluster

import (
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// A node knows until when commands could be decided: the leader goes by its own
// stamps, whether anybody asks for anything or not, the others ask it each second,
// and each other. What it knows outlives a restart in a file of its folder. All
// of these are stamps of leaders, so that no other clock can invent a halt; and a
// leader whose clock jumps moves state time as far, so that what counts time
// without halts sees none of it.

// liveFile holds the stamp. Without it a node knows nothing, and no halt is told.
const (
	liveFile  = "live"
	liveEvery = time.Second
	liveTick  = liveEvery / 4
)

// liveness is until when commands could be decided.
type liveness struct {
	// telling is held, before mu, until a halt that somebody has found is in raft's
	// queue, so that nobody's command is there before it. Raft may be in no hurry,
	// and who only asks what is known does not wait for it.
	telling sync.Mutex

	mu  sync.Mutex
	at  int64 // a leader's stamp, ms; 0 where nothing is known
	own bool  // at is of this process, which has led ever since

	written int64         // what the file says; of keepLive
	writing chan struct{} // closed when the last write is over; of keepLive
	failed  error         // of the last write; whoever has seen writing closed
}

func (l *liveness) get() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// note keeps what another node says.
func (l *liveness) note(at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at > l.at {
		l.at, l.own = at, false
	}
}

// goBack keeps an earlier moment than what was believed, too.
func (l *liveness) goBack(at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.own = at, false
}

// decided notes a stamp of this process, which leads, and returns since when, and
// for how long, nobody had decided anything; the last that was applied was at
// applied. What went by while this node led counts where tellOwn says so.
func (l *liveness) decided(at, applied int64, tellOwn bool) (from int64, length time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at <= l.at {
		return l.at, 0
	}
	from = max(l.at, applied)
	if tellOwn || !l.own {
		length = time.Duration(at-from) * time.Millisecond
	}
	l.at, l.own = at, true
	return from, length
}

// open reads the file.
func (l *liveness) open(dir string) (err error) {
	if l.at, err = readTime(filepath.Join(dir, liveFile)); err != nil {
		return fmt.Errorf("read until when commands could be decided: %w", err)
	}
	l.written = l.at
	l.writing = make(chan struct{})
	close(l.writing)
	return nil
}

// keepLive notes while this node leads that it can decide, and keeps the file.
func (n *Node) keepLive() {
	ticker := time.NewTicker(liveTick)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-n.stopped:
			n.writeLive(0)
			return
		}
		if leading, _ := n.Leading(); leading {
			if at, err := n.stamp(); err == nil {
				n.goesOn(at)
			}
		}
		n.writeLive(liveEvery)
	}
}

// writeLive writes the file where it is that old. Nobody waits for the disk but
// closeLive.
func (n *Node) writeLive(every time.Duration) {
	l := &n.live
	at := l.get()
	if at == 0 || time.Duration(at-l.written)*time.Millisecond < every && at >= l.written {
		return
	}
	select {
	case <-l.writing:
	default:
		if every > 0 {
			return // the one before hangs
		}
	}
	before, done := l.writing, make(chan struct{})
	l.written, l.writing = at, done
	go func() {
		defer close(done)
		<-before
		was := l.failed
		if l.failed = writeTime(filepath.Join(n.config.Dir, liveFile), at); l.failed != nil && was == nil {
			n.log.Warn("cluster: a halt will not be told after a start", "error", l.failed)
		}
	}()
}

// closeLive waits for the last write, as long as a disk may take.
func (n *Node) closeLive() {
	if n.live.writing == nil {
		return
	}
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-n.live.writing:
	case <-timer.C:
	}
}
