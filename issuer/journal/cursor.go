package journal

import (
	"errors"
	"iter"
)

// ErrDamaged reports bytes that differ from what was written.
var ErrDamaged = errors.New("journal is damaged")

// A cursor is how far frames have been read. The next frame begins there, or later, after a gap.
type cursor struct {
	point
	known bool // false before the first frame
}

// accept advances over a frame. old is true for a frame that repeats an earlier one: a
// write that failed may have reached the disk, and was then repeated.
func (c *cursor) accept(f frame) (old bool, err error) {
	switch {
	case !c.known || f.since.seq >= c.seq && f.to.seq > c.seq:
		c.point, c.known = f.to, true
		return false, nil
	case f.to.seq <= c.seq:
		return true, nil
	default: // it begins before and ends after c, which no writer produces
		return false, errBadFrame
	}
}

// placed is a frame and the offset of its end.
type placed struct {
	frame
	end int
}

// walk yields the frames in b that are not old, and ErrDamaged for each unreadable part.
func (c *cursor) walk(b []byte) iter.Seq2[placed, error] {
	return func(yield func(placed, error) bool) {
		damaged := false
		for at := 0; at < len(b); {
			f, size, err := readFrame(b[at:])
			at += size
			old := false
			if err == nil {
				old, err = c.accept(f)
			}
			switch {
			case err != nil && !damaged:
				damaged = true
				if !yield(placed{}, ErrDamaged) {
					return
				}
			case err == nil && !old:
				damaged = false
				if !yield(placed{f, at}, nil) {
					return
				}
			}
			if errors.Is(err, errNoFrame) {
				return
			}
		}
	}
}
