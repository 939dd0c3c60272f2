package ledger

import (
	"encoding/binary"
	"iter"
	"slices"
	"strings"
)

// A Position is where a page begins in its list.
type Position struct {
	First int  // number of its first row, from 1; 0 if the row was not found
	Total int  // rows of the list
	Exact bool // false if the list may have more rows: it reads no more than a page does
}

// positionOf counts the matching rows, and those that are before a page by its first row. It
// reads up to maxScanned rows.
func positionOf[R any](all iter.Seq[*R], match, isFirst func(*R) bool) Position {
	p, read := Position{Exact: true}, 0
	for r := range all {
		if read++; read > maxScanned {
			p.Exact = false
			break
		}
		if !match(r) {
			continue
		}
		p.Total++
		if isFirst(r) {
			p.First = p.Total
		}
	}
	return p
}

// positionBefore is like positionOf for a list in the order of a key, which is not that of all: it
// counts the rows with a lower key than the page's first one.
func positionBefore[R any](all iter.Seq[*R], match func(*R) bool, first *R, key func(*R) string) Position {
	from, before, found := key(first), 0, false
	p := positionOf(all, func(r *R) bool {
		if !match(r) {
			return false
		}
		switch o := strings.Compare(key(r), from); {
		case o == 0:
			found = true
		case o < 0:
			before++
		}
		return true
	}, func(*R) bool { return false })
	if found {
		p.First = before + 1
	}
	return p
}

// A keyed is a row with the key that it is sorted by.
type keyed[R any] struct {
	row *R
	key string
}

// newestKey is a key that puts later times first; rows of one time are ordered by id.
func newestKey(t Time, id string) string {
	return string(append(binary.BigEndian.AppendUint64(nil, ^uint64(t)), id...))
}

// matching returns the matching rows, and whether these are all: it reads up to maxScanned rows.
func matching[R any](all iter.Seq[*R], match func(*R) bool, key func(*R) string) (rows []keyed[R], whole bool) {
	read := 0
	for r := range all {
		if read++; read > maxScanned {
			return nil, false
		}
		if match(r) {
			rows = append(rows, keyed[R]{r, key(r)})
		}
	}
	return rows, true
}

// sortedPage returns the page after a row, or before it if back is true, of rows in the order of
// their keys. next is like that of page.
func sortedPage[R any](rows []keyed[R], key func(*R) string, last *R, back bool, limit int, id func(*R) string) (found []*R, next string) {
	slices.SortFunc(rows, func(a, b keyed[R]) int { return strings.Compare(a.key, b.key) })
	at := 0
	if last != nil {
		i, is := slices.BinarySearchFunc(rows, key(last), func(a keyed[R], key string) int { return strings.Compare(a.key, key) })
		if at = i; is && !back {
			at++
		}
	}
	from, to := at, min(at+limit, len(rows))
	if back {
		from, to = max(0, at-limit), at
	}
	for _, r := range rows[from:to] {
		found = append(found, r.row)
	}
	switch {
	case back && from > 0:
		next = id(found[0])
	case !back && to < len(rows):
		next = id(found[len(found)-1])
	}
	return found, next
}

// QueuePosition returns the position of a client among those that await a review and that q
// selects, whatever its page. A client that does not wait has none.
func (v View) QueuePosition(q QueueQuery, first string) Position {
	return positionOf(scanFrom[Client](v, TableClients, "waiting", false), v.searched(q.Search), func(c *Client) bool { return c.ID == first })
}

// CountWaiting counts the clients that await a review, up to most.
func (v View) CountWaiting(most int) (n int) {
	for range scanFrom[Client](v, TableClients, "waiting", false) {
		if n == most {
			break
		}
		n++
	}
	return n
}
