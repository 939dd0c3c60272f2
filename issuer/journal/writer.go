package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// A writer is the state of the writing goroutine, which alone uses it.
type writer struct {
	file     file     // nil if the next batch begins a segment
	active   *segment // the segment of file
	number   uint64   // of the next segment
	slots    *slots
	coverDue bool // coverage must be written; an attempt failed
}

// run writes waiting frames: soon after they were added, or at once on Flush.
func (j *Journal) run() {
	defer close(j.done)
	soon, armed := time.NewTimer(time.Hour), false
	soon.Stop()
	every := time.NewTicker(coverEvery)
	defer every.Stop()
	for {
		var err error
		delay := retryEvery
		select {
		case <-j.wake:
			err, delay = errWaiting, j.config.Delay
		case <-soon.C:
			armed = false
			err = j.write(false)
		case <-every.C:
			err = j.write(true)
		case reply := <-j.flushes:
			err = j.write(true)
			reply <- err
		case <-j.stop:
			j.closing = errors.Join(j.write(true), j.closeFiles())
			return
		}
		if err != nil && !armed {
			soon.Reset(delay)
			armed = true
		}
	}
}

// errWaiting makes run start its timer for waiting frames.
var errWaiting = errors.New("not written yet")

// write writes and syncs the waiting frames and, if cover is set, what is covered after them.
func (j *Journal) write(cover bool) error {
	j.mu.Lock()
	b, lost := j.waiting, j.lossErr
	j.waiting, j.writing, j.spare, j.lossErr = batch{buf: j.spare[:0]}, b, nil, nil
	after := run{j.last.point, j.covered}
	j.mu.Unlock()

	s, err := j.writer.append(&j.config, b)

	j.mu.Lock()
	j.writing = batch{}
	if err != nil { // put the batch back
		waiting := batch{buf: append(b.buf, j.waiting.buf...), runs: join(b.runs, j.waiting.runs)}
		j.waiting, j.spare = waiting, j.waiting.buf
	} else if len(b.buf) > 0 {
		if n := len(j.segments); n == 0 || j.segments[n-1] != s {
			j.segments = append(j.segments, s)
		}
		s.add(len(b.buf), b.runs)
	}
	if err == nil && cap(b.buf) <= maxSpareBuffer {
		j.spare = b.buf
	}
	j.mu.Unlock()

	j.writer.coverDue = j.writer.coverDue || cover
	if err == nil && j.writer.coverDue {
		err = j.writer.slots.write(after)
		j.writer.coverDue = err != nil
	}
	if err == nil {
		err = j.prune(after.to.at)
	}
	if err != nil {
		err = fmt.Errorf("write journal: %w", err)
	}
	j.reportErrors(err, lost)
	return err
}

// reportErrors stores the error of writing, and passes new errors to OnError.
func (j *Journal) reportErrors(err, lost error) {
	j.mu.Lock()
	isNew := err != nil && j.err == nil
	j.err = err
	j.mu.Unlock()
	if j.config.OnError == nil {
		return
	}
	if lost != nil {
		j.config.OnError(fmt.Errorf("journal: %w", lost))
	}
	if isNew {
		j.config.OnError(err)
	}
}

// append writes a batch to the active segment, or to a new one, and returns the segment
// once the batch is on disk. After an error, nothing more is written to the same file,
// since its contents are unknown.
func (w *writer) append(c *Config, b batch) (*segment, error) {
	if len(b.buf) == 0 {
		return w.active, nil
	}
	if w.file != nil && w.full(c, b) {
		f := w.file
		w.file = nil
		if err := f.Close(); err != nil {
			return nil, fmt.Errorf("close segment: %w", err)
		}
	}
	isNew := w.file == nil
	if isNew {
		if err := w.start(c); err != nil {
			return nil, fmt.Errorf("start segment: %w", err)
		}
	}
	_, err := w.file.WriteAt(b.buf, w.active.size)
	if err == nil {
		err = w.file.Sync()
	}
	if err == nil && isNew {
		err = c.disk.SyncDir(c.Dir)
	}
	if err != nil {
		w.abandon(c, isNew)
		return nil, err
	}
	return w.active, nil
}

// full reports whether the active segment has reached its share of MaxBytes or MaxAge.
func (w *writer) full(c *Config, b batch) bool {
	if w.active.size >= c.MaxBytes/segmentsKept {
		return true
	}
	age := b.runs[len(b.runs)-1].to.at - c.MaxAge.Milliseconds()/segmentsKept
	return len(w.active.runs) > 0 && w.active.runs[0].from.at < age
}

// start makes the next segment the active one.
func (w *writer) start(c *Config) error {
	s := &segment{number: w.number, path: segmentPath(c.Dir, w.number), size: int64(len(segmentMagic))}
	w.number++ // also after a failure, so that no existing file is overwritten
	f, err := c.disk.Create(s.path)
	if err != nil {
		return err
	}
	w.file, w.active = f, s
	if _, err := f.WriteAt([]byte(segmentMagic), 0); err != nil {
		w.abandon(c, true)
		return err
	}
	return nil
}

// abandon closes a file that could not be written, after removing what may have reached
// it. If that fails too, the frames are in two files; readers skip the repetition.
func (w *writer) abandon(c *Config, isNew bool) {
	if isNew {
		_ = w.file.Close()
		_ = c.disk.Remove(w.active.path)
	} else {
		_ = w.file.Truncate(w.active.size)
		_ = w.file.Close()
	}
	w.file, w.active = nil, nil
}

// prune removes the oldest segments if they are too old or too large. The last segment
// always stays, since it records how far the journal has come.
func (j *Journal) prune(now int64) error {
	j.mu.Lock()
	n := j.surplus(now)
	j.mu.Unlock()
	if n == 0 {
		return nil
	}
	j.files.Lock()
	defer j.files.Unlock()
	for range n {
		// The oldest is removed first, so that a crash leaves no gap. Only the writer changes
		// the list.
		if err := j.config.disk.Remove(j.segments[0].path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("prune: %w", err)
		}
		j.mu.Lock()
		j.segments = j.segments[1:]
		j.mu.Unlock()
	}
	return nil
}

func (j *Journal) surplus(now int64) int {
	var size int64
	for _, s := range j.segments {
		size += s.size
	}
	var age int64
	for i, s := range j.segments {
		next := now
		if i+1 < len(j.segments) {
			next = j.segments[i+1].newest
		}
		age += j.aged(next - s.newest)
	}
	n := 0
	for ; n < len(j.segments)-1; n++ {
		s := j.segments[n]
		if size <= j.config.MaxBytes && age <= j.config.MaxAge.Milliseconds() {
			break
		}
		size -= s.size
		age -= j.aged(j.segments[n+1].newest - s.newest)
	}
	return n
}

// aged returns by how much, in milliseconds, a step of state time ages the records before
// it. It is bounded: a step that spans many segments is caused by a wrong clock rather
// than a long time without commands, and the records before it are needed when the clock
// is set right.
func (j *Journal) aged(step int64) int64 {
	return min(step, 4*j.config.MaxAge.Milliseconds()/segmentsKept)
}

func (j *Journal) closeFiles() error {
	var err error
	if j.writer.slots != nil {
		err = j.writer.slots.file.Close()
	}
	if j.writer.file != nil {
		err = errors.Join(err, j.writer.file.Close())
	}
	return err
}
