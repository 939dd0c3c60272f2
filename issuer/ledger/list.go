package ledger

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxScanned bounds what one page of a list costs, which is some milliseconds:
// where so many rows do not fill it, it ends early and says where to go on.
const maxScanned = 12_000

// page takes up to limit of the rows that match. next is the key after which
// another page goes on, the zero K at the end. With back the rows come in the
// other order than the list's, which is that of the page.
func page[R any, K comparable](all iter.Seq[*R], back bool, limit int, match func(*R) bool, key func(*R) K) (found []*R, next K) {
	found, next = take(all, limit, match, key)
	if back {
		slices.Reverse(found)
	}
	return found, next
}

func take[R any, K comparable](all iter.Seq[*R], limit int, match func(*R) bool, key func(*R) K) (found []*R, next K) {
	var end, last K
	looked := 0
	for r := range all {
		if looked == maxScanned {
			return found, last
		}
		looked++
		if match(r) {
			if len(found) >= limit {
				return found, last
			}
			found = append(found, r)
		}
		last = key(r)
	}
	return found, end
}

// scanFrom are the rows of an index in its order, from one that has these values on;
// with back those up to it, in the other order.
func scanFrom[R any](v View, table, index string, back bool, values ...any) iter.Seq[*R] {
	bound := v.txn.LowerBound
	if back {
		bound = v.txn.ReverseLowerBound
	}
	it, err := bound(table, index, values...)
	return walk[R](it, err, table)
}

// skipRow drops the row that a page begins after.
func skipRow[R any](all iter.Seq[*R], is func(*R) bool) iter.Seq[*R] {
	return func(yield func(*R) bool) {
		for r := range all {
			if !is(r) && !yield(r) {
				return
			}
		}
	}
}

// anyContains reports whether one of some texts holds a folded one.
func anyContains(folded string, texts ...string) bool {
	for _, t := range texts {
		if containsFolded(t, folded) {
			return true
		}
	}
	return false
}

// containsFolded reports whether fold(s) holds a folded text. Most texts are ASCII, and a
// search looks at thousands: for those nothing is allocated.
func containsFolded(s, folded string) bool {
	if folded == "" {
		return true
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			return strings.Contains(fold(s), folded)
		case c != folded[0] && c+('a'-'A') != folded[0]:
		case len(s)-i >= len(folded) && hasFoldedPrefix(s[i:], folded):
			return true
		}
	}
	return false
}

// hasFoldedPrefix is for a text of ASCII that is as long.
func hasFoldedPrefix(s, folded string) bool {
	for i := range len(folded) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != folded[i] {
			return false
		}
	}
	return true
}
