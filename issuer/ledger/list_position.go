package ledger

import "iter"

// A Position is where a page begins in its list.
type Position struct {
	First int  // number of its first row, from 1; 0 if the row was not found
	Total int  // rows of the list
	Exact bool // false if the list may have more rows: it reads no more than a page does
}

// positionOf counts the matching rows, and those that are before a page by its first row. It
// reads up to maxScanned rows.
func positionOf[R any](all iter.Seq[*R], match, isFirst func(*R) bool) Position {
	p, read, found := Position{Exact: true}, 0, false
	for r := range all {
		if read++; read > maxScanned {
			p.Exact = false
			break
		}
		if !match(r) {
			continue
		}
		p.Total++
		if !found && isFirst(r) {
			p.First, found = p.Total, true
		}
	}
	return p
}

// QueuePosition returns the position of a client among those that await a review and that q
// selects, whatever its page. A client that does not wait has none.
func (v View) QueuePosition(q QueueQuery, first string) Position {
	return positionOf(scanFrom[Client](v, TableClients, "waiting", false), q.match(), func(c *Client) bool { return c.ID == first })
}
