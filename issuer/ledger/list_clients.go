package ledger

import "iter"

// A ClientQuery chooses clients, by name. Its zero value is all that are not
// deleted.
type ClientQuery struct {
	Owner  string      // a user's id; "" is anybody
	State  ClientState // "" is any but deleted
	Search string      // a part of name or id, whatever its case
	After  string      // the id that the page before ended with
	Back   bool        // the page that ends before After, instead of the one after it
	Limit  int
}

// ListClients is one page. next is where another goes on, "" at the end; with
// Back, which way that is too: "" at the beginning. A page may have fewer than
// Limit although there are more: see maxScanned.
func (v View) ListClients(q ClientQuery) (found []*Client, next string) {
	search := fold(q.Search)
	match := func(c *Client) bool {
		return (q.State == c.State || q.State == "" && c.State != Deleted) &&
			(search == "" || anyContains(search, c.Name, c.ID))
	}
	if q.Back && v.Client(q.After) == nil {
		return nil, ""
	}
	return page(v.byName(q), q.Back, q.Limit, match, func(c *Client) string { return c.ID })
}

// byName are the clients of an owner, of a state or of all, as q says, that come
// after its After by name, or with Back before it.
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

// A QueueQuery chooses clients that await a review.
type QueueQuery struct {
	Search string // as ClientQuery.Search, and so are the others
	After  string
	Back   bool
	Limit  int
}

// ReviewQueue is one page of the clients that await a review, the one that has
// waited longest first. next is as that of ListClients.
func (v View) ReviewQueue(q QueueQuery) (found []*Client, next string) {
	search := fold(q.Search)
	match := func(c *Client) bool { return search == "" || anyContains(search, c.Name, c.ID) }
	var values []any
	// Where one stood that was reviewed meanwhile is not known any more, so the
	// queue begins anew.
	if last := v.Client(q.After); last != nil && last.AwaitsReview() {
		values = []any{waitingKey(last.WaitingSince()), last.ID}
	} else if q.Back {
		return nil, ""
	}
	all := skipRow(scanFrom[Client](v, TableClients, "waiting", q.Back, values...), func(c *Client) bool { return c.ID == q.After })
	return page(all, q.Back, q.Limit, match, func(c *Client) string { return c.ID })
}
