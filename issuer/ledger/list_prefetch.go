package ledger

import "iter"

// prefetchRows is how many rows ahead looks at together.
const prefetchRows = 32

// prefetch gives the same rows, after touch has read something of each of the next
// ones. Rows lie anywhere in memory. Reads that do not wait for one another are
// waited for once, which makes a search of thousands that finds nothing about
// twice as fast.
func prefetch[R any](all iter.Seq[*R], touch func(*R) byte) iter.Seq[*R] {
	return func(yield func(*R) bool) {
		batch := make([]*R, 0, prefetchRows)
		var read byte // kept, so that reading is not left out as useless
		flush := func() bool {
			for _, r := range batch {
				read |= touch(r)
			}
			for _, r := range batch {
				if !yield(r) {
					return false
				}
			}
			batch = batch[:0]
			return true
		}
		for r := range all {
			if batch = append(batch, r); len(batch) == prefetchRows && !flush() {
				return
			}
		}
		flush()
	}
}

// touch reads of each text that is searched.
func (u *User) touch() (read byte) {
	for _, text := range [...]string{u.Username, u.Name, u.Email, u.ID} {
		if text != "" {
			read |= text[0]
		}
	}
	return read
}
