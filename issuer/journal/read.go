package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// Records yields the records of commands after a Seq, in order, including those that are
// not on disk yet. For an unreadable part it yields ErrDamaged and continues after it;
// any other error is the last.
func (j *Journal) Records(after uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for f, err := range j.snapshot(after).frames() {
			if err != nil {
				if !yield(Record{}, fmt.Errorf("read journal: %w", err)) {
					return
				}
				continue
			}
			if f.to.seq <= after {
				continue
			}
			for _, d := range f.data {
				if !yield(Record{Seq: f.to.seq, At: f.to.at, Data: bytes.Clone(d)}, nil) {
					return
				}
			}
		}
	}
}

// A snapshot is the journal at one moment.
type snapshot struct {
	files  []*os.File // of the segments; can be read once
	sizes  []int64    // how much of each file had been written
	memory []byte     // frames that are not in the files
	after  run        // what is covered after the frames
	err    error
}

// snapshot opens the segments that reach beyond a Seq. Frames in memory are taken from
// there, so that a journal whose disk is full can still be exported.
func (j *Journal) snapshot(after uint64) *snapshot {
	j.files.RLock() // prevents removal until all are open
	defer j.files.RUnlock()
	t := &snapshot{}
	var paths []string
	j.mu.Lock()
	for _, s := range j.segments {
		if n := len(s.runs); n > 0 && s.runs[n-1].to.seq <= after {
			continue
		}
		paths = append(paths, s.path)
		t.sizes = append(t.sizes, s.size)
	}
	t.memory = append(bytes.Clone(j.writing.buf), j.waiting.buf...)
	t.after = run{j.last.point, j.covered}
	j.mu.Unlock()
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.err = err
			break
		}
		t.files = append(t.files, f)
	}
	return t
}

// frames yields all frames, and ErrDamaged for each unreadable part. It closes the files.
func (t *snapshot) frames() iter.Seq2[frame, error] {
	return func(yield func(frame, error) bool) {
		defer func() {
			for _, f := range t.files {
				_ = f.Close() // opened for reading only
			}
		}()
		if t.err != nil {
			yield(frame{}, t.err)
			return
		}
		var c cursor
		for i, file := range t.files {
			b := make([]byte, t.sizes[i])
			n, err := io.ReadFull(file, b)
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				yield(frame{}, err)
				return
			}
			b, ok := bytes.CutPrefix(b[:n], []byte(segmentMagic))
			if !ok || err != nil { // another format, or shorter than what was written
				if !yield(frame{}, ErrDamaged) {
					return
				}
			}
			if ok && !c.yield(b, yield) {
				return
			}
		}
		c.yield(t.memory, yield)
	}
}

// yield passes the frames in b to the callback, and reports whether it wants more.
func (c *cursor) yield(b []byte, yield func(frame, error) bool) bool {
	for f, err := range c.walk(b) {
		if !yield(f.frame, err) {
			return false
		}
	}
	return true
}
