package journal

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Config says where a journal is and how much of it is kept. The zero value of
// each field but Dir is a good one.
type Config struct {
	// Dir is the journal's folder. It is made where it is missing, for its
	// owner only. One process may have it open.
	Dir string

	// MaxAge is how much older than the newest command records may be, in state time.
	// A single step of state time counts as a quarter of MaxAge at most, so that a
	// wrong clock can't empty the journal. 0 means 400 days.
	MaxAge time.Duration
	// MaxBytes is how large the files may become together. 0: 64 MiB.
	MaxBytes int64
	// Delay is how long a record may wait to be written. 0: 100 ms.
	Delay time.Duration

	// OnError is told when writing begins to fail, and when records are lost.
	// It is called by the journal's own goroutine, and must not call Flush or
	// Close.
	OnError func(error)

	disk disk // nil: the real one
}

const (
	day            = 24 * time.Hour
	segmentsKept   = 16          // so many segments make up MaxAge and MaxBytes
	coverEvery     = time.Minute // between two writes of what is only covered
	retryEvery     = time.Second // while writing fails
	maxWaiting     = 8 << 20     // bytes of frames that wait for a disk, before they are given up
	maxSpareBuffer = 1 << 20     // a greater one is left to the collector
	defaultMaxSize = 64 << 20
	defaultMaxAge  = 400 * day
	defaultDelay   = 100 * time.Millisecond
)

// Journal is an open journal. Append, Covered and Skipped are for one goroutine,
// in the order of Seq; everything else is for any.
type Journal struct {
	config   Config
	recovery Recovery

	// files is held to read while segments are opened, and to write while some
	// are removed. It is taken before mu.
	files sync.RWMutex

	mu       sync.Mutex // never held during I/O
	segments []*segment // oldest first
	last     cursor     // end of the last frame, written or not
	covered  point      // at or after last
	waiting  batch      // frames that the writer has not taken yet
	writing  batch      // frames that it is writing
	spare    []byte     // buffer for the next batch
	lossErr  error      // not told yet
	err      error      // why the last write failed
	closed   bool

	wake    chan struct{}   // waiting is not empty any more
	flushes chan chan error // unbuffered: what is taken is answered
	stop    chan struct{}
	done    chan struct{}
	closing error // set before done is closed
	writer  writer
}

// batch is encoded frames and what they cover.
type batch struct {
	buf  []byte
	runs []run
}

func (b *batch) add(since, to point, data [][]byte) {
	b.buf = appendFrame(b.buf, since, to, data)
	b.runs = extend(b.runs, run{since, to})
}

var (
	errOversize = errors.New("records of one command are too large, and lost")
	errOverflow = errors.New("more records wait for the disk than there is memory for: they are lost")
)

// Append notes all records of one command; they are written together or not at
// all. It copies them, does no I/O and waits for none. That all commands since
// the last call were seen and had no records is taken as said: where they were
// not seen, call Skipped first.
//
// A command at or before Last is passed over: after a restart the log is
// replayed. An empty journal begins with the first command it is given.
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

// Covered notes that all commands up to seq were seen, and that those since the
// last call had no records. It is cheap, and kept in memory: it is written with
// the next Flush, and once a minute. An empty journal begins after seq.
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

// Skipped notes that the state is now that after the command to, at its state
// time, and that the commands from from on, whatever they were, were not seen:
// it was taken from another node. What is at or before Last was seen all the
// same, so that Skipped(0, to, at) may follow every restore, that of a restart
// included.
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

// add puts a frame into the batch that waits and wakes the writer.
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
		default: // it has not seen the one before yet
		}
	}
}

// Last is the Seq up to which commands are noted, on disk or about to be.
func (j *Journal) Last() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.covered.seq
}

// Spans returns what the journal covers, in order. What lies between two of
// them was not seen, or has been lost.
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

// Flush returns nil when everything noted before it is on disk. Call it before
// a snapshot of the state is made: then what a crash can take from the journal
// is still in the log.
func (j *Journal) Flush() error {
	reply := make(chan error, 1)
	select {
	case j.flushes <- reply:
		return <-reply
	case <-j.done:
		return fmt.Errorf("flush journal: %w", os.ErrClosed)
	}
}

// Err is why the journal cannot be written at present, or nil. Meanwhile what
// is noted waits in memory, up to 8 MiB, and writing is tried again every
// second.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Close writes what waits and closes the files. What is noted later is not
// kept.
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
