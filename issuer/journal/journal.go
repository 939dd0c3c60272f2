package journal

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Config configures a journal. The zero value of every field except Dir selects a default.
type Config struct {
	// Dir is the journal's folder. Open creates it if it is missing, for its owner only.
	// Only one process may have it open.
	Dir string

	// MaxAge is how much older than the newest command records may be, in state time. A
	// single step of state time counts as at most a quarter of MaxAge, so that a wrong clock
	// can't empty the journal. 0 means 400 days.
	MaxAge time.Duration
	// MaxBytes is the maximum size of all files together. 0 means 64 MiB.
	MaxBytes int64
	// Delay is how long a record may wait to be written. 0 means 100 ms.
	Delay time.Duration

	// OnError is called when writing begins to fail, and when records are lost. The journal's
	// own goroutine calls it, so it must not call Flush or Close.
	OnError func(error)

	disk disk // nil means the real one
}

const (
	day            = 24 * time.Hour
	segmentsKept   = 16          // number of segments that make up MaxAge and MaxBytes
	coverEvery     = time.Minute // interval of writing coverage without records
	retryEvery     = time.Second // while writing fails
	maxWaiting     = 8 << 20     // bytes of unwritten frames before records are dropped
	maxSpareBuffer = 1 << 20     // a larger buffer is not reused
	defaultMaxSize = 64 << 20
	defaultMaxAge  = 400 * day
	defaultDelay   = 100 * time.Millisecond
)

// A Journal is an open journal. Append, Covered and Skipped must be called by one
// goroutine, in the order of Seq; all other methods are safe for concurrent use.
type Journal struct {
	config   Config
	recovery Recovery

	// files is read-locked while segments are opened, and locked while some are removed. It is
	// acquired before mu.
	files sync.RWMutex

	mu       sync.Mutex // not held during I/O; guards the fields up to err
	segments []*segment // oldest first
	last     cursor     // end of the last frame, written or not
	covered  point      // at or after last
	waiting  batch      // frames that the writer has not taken yet
	writing  batch      // frames that the writer is writing
	spare    []byte     // buffer for the next batch
	lossErr  error      // not reported yet
	err      error      // why the last write failed
	closed   bool

	wake    chan struct{}   // signals that waiting is not empty any more
	flushes chan chan error // unbuffered, so that every accepted request is answered
	stop    chan struct{}
	done    chan struct{}
	closing error // set before done is closed
	writer  writer
}

// A batch is encoded frames and what they cover.
type batch struct {
	buf  []byte
	runs []run
}

func (b *batch) add(since, to point, data [][]byte) {
	b.buf = appendFrame(b.buf, since, to, data)
	b.runs = extend(b.runs, run{since, to})
}

var (
	errOversize = errors.New("records lost: too large for one frame")
	errOverflow = errors.New("records lost: too many unwritten records in memory")
)

// Append adds all records of one command; they are written together or not at all. It
// copies them, does no I/O and waits for none. It implies that all commands since the
// last call were seen and had no records; if some were not seen, call Skipped first.
//
// Commands at or before Last are ignored, since the log is replayed after a restart. An
// empty journal begins with the first command.
func (j *Journal) Append(seq uint64, at int64, data ...[]byte) {
	if len(data) == 0 {
		j.Covered(seq, at)
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed || seq <= j.covered.seq {
		return
	}
	since, to := j.last.point, point{seq, at}
	if !j.last.known {
		since = point{seq - 1, at}
	}
	j.last, j.covered = cursor{to, true}, to
	if frameSize(data) > maxFrame {
		j.lossErr = fmt.Errorf("command %d: %w", seq, errOversize)
		j.add(to, to, nil)
		return
	}
	j.add(since, to, data)
}

// Covered records that all commands up to seq were seen, and that those since the last
// call had no records. It is cheap and only changes memory: the next Flush writes it, or
// else the writer does once a minute. An empty journal begins after seq.
func (j *Journal) Covered(seq uint64, at int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch to := (point{seq, at}); {
	case j.closed:
	case !j.last.known:
		j.begin(to)
	case seq > j.covered.seq:
		j.covered = to
	}
}

// Skipped records that the state is now that after the command to, at its state time,
// because it was taken from another node, and that the commands beginning with from were
// not seen. Commands at or before Last were seen nevertheless, so Skipped(0, to, at) may
// follow every restore of a snapshot, including that at a restart.
func (j *Journal) Skipped(from, to uint64, at int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed || j.last.known && to <= j.covered.seq {
		return
	}
	if j.last.known {
		if from > j.covered.seq+1 {
			j.covered.seq = min(from-1, to)
		}
		if to == j.covered.seq {
			return
		}
		if j.covered.seq > j.last.seq {
			j.add(j.last.point, j.covered, nil)
		}
	}
	j.begin(point{to, at})
}

// begin starts a span.
func (j *Journal) begin(p point) {
	j.last, j.covered = cursor{p, true}, p
	j.add(p, p, nil)
}

// add appends a frame to the waiting batch and wakes the writer.
func (j *Journal) add(since, to point, data [][]byte) {
	if len(j.waiting.buf) > maxWaiting {
		j.lossErr = errOverflow
		j.waiting = batch{buf: j.waiting.buf[:0]}
		since, data = to, nil
	}
	empty := len(j.waiting.buf) == 0
	j.waiting.add(since, to, data)
	if empty {
		select {
		case j.wake <- struct{}{}:
		default: // the writer has not seen the previous signal yet
		}
	}
}

// Last returns the Seq up to which commands are recorded, on disk or in memory.
func (j *Journal) Last() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.covered.seq
}

// Spans returns what the journal covers, in order. Commands between two spans were not
// seen, or their records have been lost.
func (j *Journal) Spans() []Span {
	j.mu.Lock()
	defer j.mu.Unlock()
	var runs []run
	for _, s := range j.segments {
		runs = join(runs, s.runs)
	}
	runs = join(join(runs, j.writing.runs), j.waiting.runs)
	if j.last.known {
		runs = extend(runs, run{j.last.point, j.covered})
	}
	return spans(runs)
}

func join(runs, more []run) []run {
	for _, r := range more {
		runs = extend(runs, r)
	}
	return runs
}

// Flush returns nil once everything recorded before it is on disk. Call it before a
// snapshot of the state is made, so that all commands that a crash could remove from the
// journal are still in the log.
func (j *Journal) Flush() error {
	reply := make(chan error, 1)
	select {
	case j.flushes <- reply:
		return <-reply
	case <-j.done:
		return fmt.Errorf("flush journal: %w", os.ErrClosed)
	}
}

// Err returns why the journal can't be written at present, or nil. Meanwhile records are
// kept in memory, up to 8 MiB, and writing is retried every second.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Close writes what is in memory and closes the files. Later records are not stored.
func (j *Journal) Close() error {
	j.mu.Lock()
	if !j.closed {
		j.closed = true
		close(j.stop)
	}
	j.mu.Unlock()
	<-j.done
	return j.closing
}
