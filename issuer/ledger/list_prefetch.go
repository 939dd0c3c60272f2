package ledger

import "iter"

// prefetchRows is how many rows prefetch reads ahead.
const prefetchRows = 32

// prefetch yields the same rows, after touch has read something of each of the next ones.
// Rows are scattered in memory, and independent reads overlap their cache misses: a search
// through thousands of rows without a match takes about half the time.
func prefetch[R any](all iter.Seq[*R], touch func(*R) byte) iter.Seq[*R] {
	return func(yield func(*R) bool) {
		batch := make([]*R, 0, prefetchRows)
		var read byte // keeps the compiler from removing the reads
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

// touch reads a byte of each text that is searched.
func (u *User) touch() (read byte) {
	for _, text := range [...]string{u.Username, u.Name, u.Email, u.ID} {
		if text != "" {
			read |= text[0]
		}
	}
	return read
}
