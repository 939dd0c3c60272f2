package cluster

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/election"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// Each node knows the last moment at which the cluster could decide commands. A
// leader takes its own stamps, four times a second, whether commands are proposed
// or not. All nodes learn of it from the status that they exchange once a second,
// and keep it in a file, so that it survives a restart. These are stamps of leaders
// only, so no other clock can cause a halt. If a leader's clock jumps, state time
// jumps as far, so durations that leave out halts don't include the jump.

// liveFile contains that moment. A node without the file reports no halt.
const (
	liveFile     = "live"
	liveInterval = time.Second
	liveTick     = liveInterval / 4
)

// liveness is the last known moment at which commands could be decided.
type liveness struct {
	// haltMu is locked before mu, and held until an ended halt is in raft's queue,
	// so that no command gets there before it. Raft may be slow to take it, so those
	// that only read at lock mu alone.
	haltMu sync.Mutex

	mu  sync.Mutex
	at  int64 // a leader's stamp, ms since the Unix epoch; 0 if unknown
	own bool  // this process made the stamp at, and has led since

	written int64         // what was last written to the file; used by track only
	writing chan struct{} // closed when the last write is over; used by track only
	failed  error         // of the last write; may be read once writing is closed

	// The rest is set before it is used.
	dir      string
	log      *slog.Logger
	core     *machine.State
	leader   *election.Elector
	statuses *peerStatuses
	now      func() time.Time
	countOwn bool // see record
	stamp    func() (int64, error)
	newID    func(*command.ID) error
	apply    func(entry []byte) raft.ApplyFuture
	run      func(func()) // starts a goroutine that the end of the node waits for
	stopped  <-chan struct{}
}

func (l *liveness) get() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// advance takes over the stamp of another node if it is later.
func (l *liveness) advance(at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at > l.at {
		l.at, l.own = at, false
	}
}

// reset sets the stamp, even to an earlier one.
func (l *liveness) reset(at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.own = at, false
}

// record records a stamp of this process, which leads. It returns the moment at
// which commands could last be decided, which is not before applied, the time of the
// last command, and how long nothing could be decided since then. Time in which this
// process led counts only if countOwn is set.
func (l *liveness) record(at, applied int64, countOwn bool) (from int64, length time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at <= l.at {
		return l.at, 0
	}
	from = max(l.at, applied)
	if countOwn || !l.own {
		length = time.Duration(at-from) * time.Millisecond
	}
	l.at, l.own = at, true
	return from, length
}

// open reads the file.
func (l *liveness) open() error {
	if err := watchdog.ReadTimes(filepath.Join(l.dir, liveFile), &l.at); err != nil {
		return fmt.Errorf("read liveness file: %w", err)
	}
	l.written = l.at
	l.writing = make(chan struct{})
	close(l.writing)
	return nil
}

// track records stamps while this node leads, and keeps the file up to date.
func (l *liveness) track() {
	ticker := time.NewTicker(liveTick)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-l.stopped:
			l.write(0)
			return
		}
		if leading, _ := l.leader.Get(); leading {
			if at, err := l.stamp(); err == nil {
				l.recordLive(at)
			}
		}
		l.write(liveInterval)
	}
}

// write writes the file if it is older than every. It does not wait for the
// disk: only close does.
func (l *liveness) write(every time.Duration) {
	at := l.get()
	if at == 0 || time.Duration(at-l.written)*time.Millisecond < every && at >= l.written {
		return
	}
	select {
	case <-l.writing:
	default:
		if every > 0 {
			return // the write before it hangs
		}
	}
	before, done := l.writing, make(chan struct{})
	l.written, l.writing = at, done
	go func() {
		defer close(done)
		<-before
		was := l.failed
		if l.failed = watchdog.WriteTimes(filepath.Join(l.dir, liveFile), at); l.failed != nil && was == nil {
			l.log.Warn("liveness file not written, an outage across a restart would count against retries", "file", liveFile, "error", l.failed)
		}
	}()
}

// close waits for the last write, for stopTimeout at most.
func (l *liveness) close() {
	if l.writing == nil {
		return
	}
	_ = withinStopTimeout(func() error {
		<-l.writing
		return nil
	}, nil)
}
