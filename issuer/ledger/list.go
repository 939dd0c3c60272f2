package ledger

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxScanned bounds the rows that one page of a list reads, which takes some milliseconds.
// A page that reaches the bound ends early and reports where to continue.
const maxScanned = 12_000

// page takes up to limit matching rows. next is the key after which the next page
// continues, or the zero K at the end. If back is true, all is in reverse order, and the
// page is returned in list order.
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

// scanFrom returns the rows of an index in order, starting at the given values; if back
// is true, the rows up to them in reverse order.
func scanFrom[R any](v View, table, index string, back bool, values ...any) iter.Seq[*R] {
	bound := v.txn.LowerBound
	if back {
		bound = v.txn.ReverseLowerBound
	}
	it, err := bound(table, index, values...)
	return walk[R](it, err, table)
}

// skipRow omits the row after which a page begins.
func skipRow[R any](all iter.Seq[*R], is func(*R) bool) iter.Seq[*R] {
	return func(yield func(*R) bool) {
		for r := range all {
			if !is(r) && !yield(r) {
				return
			}
		}
	}
}

// initials returns the letters from a to z with which names begin. first returns the first name that
// is not lower than from, or "".
func initials(first func(from string) string) string {
	var letters []byte
	for at := byte('a'); at <= 'z'; at++ {
		name := first(string(at))
		if name == "" || name[0] > 'z' {
			break
		}
		at = name[0]
		letters = append(letters, at)
	}
	return string(letters)
}

// anyContains reports whether one of the texts contains a folded text.
func anyContains(folded string, texts ...string) bool {
	for _, t := range texts {
		if containsFolded(t, folded) {
			return true
		}
	}
	return false
}

// containsFolded reports whether fold(s) contains a folded text. Searches read thousands
// of texts, most of them ASCII; for those it doesn't allocate.
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

// hasFoldedPrefix requires an ASCII s that is at least as long as folded.
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
