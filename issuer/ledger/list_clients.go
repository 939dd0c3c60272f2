package ledger

import "iter"

// A ClientQuery selects clients, ordered by name. The zero value selects all that are not
// deleted.
type ClientQuery struct {
	Owner  string      // a user's id; "" matches any
	State  ClientState // "" matches any but deleted
	Search string      // part of the name or id, ignoring case
	After  string      // id of the last client of the previous page
	Back   bool        // return the page that ends before After, not the one that follows it
	Limit  int
}

// ListClients returns one page. next is the After of the following page, or "" at the end;
// if Back is set, of the preceding page, or "" at the beginning. A page may have fewer than
// Limit clients although more follow: see maxScanned.
func (v View) ListClients(q ClientQuery) (found []*Client, next string) {
	search := fold(q.Search)
	match := func(c *Client) bool {
		return (q.State == c.State || q.State == "" && c.State != Deleted) &&
			anyContains(search, c.Name, c.ID)
	}
	if q.Back && v.Client(q.After) == nil {
		return nil, ""
	}
	return page(v.byName(q), q.Back, q.Limit, match, func(c *Client) string { return c.ID })
}

// byName returns the clients of an owner, in a state, or all, that follow q.After by name,
// or precede it if Back is set.
func (v View) byName(q ClientQuery) iter.Seq[*Client] {
	index, values := "name", []any{}
	within := func(*Client) bool { return true }
	switch {
	case q.Owner != "":
		index, values = "owner", []any{q.Owner}
		within = func(c *Client) bool { return c.Owner == q.Owner }
	case q.State != "":
		index, values = "state", []any{string(q.State)}
		within = func(c *Client) bool { return c.State == q.State }
	}
	if last := v.Client(q.After); last != nil {
		values = append(values, fold(last.Name), last.ID)
	}
	all := skipRow(scanFrom[Client](v, TableClients, index, q.Back, values...), func(c *Client) bool { return c.ID == q.After })
	return func(yield func(*Client) bool) {
		for c := range all {
			if !within(c) || !yield(c) {
				return
			}
		}
	}
}

// A QueueQuery selects clients that await a review.
type QueueQuery struct {
	Search string // like ClientQuery.Search; the other fields likewise
	After  string
	Back   bool
	Limit  int
}

// ReviewQueue returns one page of the clients that await a review, the longest waiting
// first. next is like that of ListClients.
func (v View) ReviewQueue(q QueueQuery) (found []*Client, next string) {
	var values []any
	// If the client was reviewed meanwhile, its place in the queue is unknown: the list
	// starts again.
	if last := v.Client(q.After); last != nil && last.AwaitsReview() {
		values = []any{timeKey(last.WaitingSince()), last.ID}
	} else if q.Back {
		return nil, ""
	}
	all := skipRow(scanFrom[Client](v, TableClients, "waiting", q.Back, values...), func(c *Client) bool { return c.ID == q.After })
	return page(all, q.Back, q.Limit, q.match(), func(c *Client) string { return c.ID })
}

// match returns whether q selects a client that awaits a review.
func (q *QueueQuery) match() func(*Client) bool {
	search := fold(q.Search)
	return func(c *Client) bool { return anyContains(search, c.Name, c.ID) }
}
