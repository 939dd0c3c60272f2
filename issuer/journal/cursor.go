package journal

import (
	"errors"
	"iter"
)

// ErrDamaged says that bytes are not what was written.
var ErrDamaged = errors.New("journal is damaged")

// cursor is how far frames have been read. What comes next either begins there,
// or later, after a gap.
type cursor struct {
	point
	known bool // false before the first frame
}

// accept moves over a frame. It is old when it says nothing new: a write that
// failed may have reached the disk all the same, before it was done again.
func (c *cursor) accept(f frame) (old bool, err error) {
	switch {
	case !c.known || f.since.seq >= c.seq && f.to.seq > c.seq:
		c.point, c.known = f.to, true
		return false, nil
	case f.to.seq <= c.seq:
		return true, nil
	default: // begins before and ends after: nobody wrote that
		return false, errBadFrame
	}
}

// placed is a frame and where it ends.
type placed struct {
	frame
	end int
}

// walk yields the frames in b that say something new, and ErrDamaged for each
// stretch that cannot be read.
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
