package ledger

import (
	"iter"
	"math"
	"strings"
)

// A ClientQuery selects clients, ordered by name. The zero value selects all that are not
// deleted.
type ClientQuery struct {
	Owner  string      // a user's id; "" matches any
	State  ClientState // "" matches any but deleted
	Search string      // part of the name or id, ignoring case; or the owner's whole user name
	Sort   ClientSort
	From   string // where the first page begins: at this name, if the order is by name
	After  string // id of the last client of the previous page
	Back   bool   // return the page that ends before After, not the one that follows it
	Limit  int
}

// A ClientSort is an order of clients. Others than by name apply to a list whose Position is
// exact; a longer one stays ordered by name.
type ClientSort string

// Orders of clients.
const (
	ClientsByName    ClientSort = ""
	ClientsByCreated ClientSort = "created" // the newest first
	ClientsByChanged ClientSort = "changed" // the latest change first
	ClientsByOwner   ClientSort = "owner"   // by user name; then by name
)

// ListClients returns one page. next is the After of the following page, or "" at the end;
// if Back is set, of the preceding page, or "" at the beginning. A page may have fewer than
// Limit clients although more follow: see maxScanned.
func (v View) ListClients(q ClientQuery) (found []*Client, next string) {
	last := v.Client(q.After)
	if q.Back && last == nil {
		return nil, ""
	}
	if key := v.clientKey(q.Sort); key != nil {
		if rows, all := matching(v.byName(q.whole()), v.match(q), key); all {
			return sortedPage(rows, key, last, q.Back, q.Limit, (*Client).id)
		}
	}
	return page(v.byName(q), q.Back, q.Limit, v.match(q), (*Client).id)
}

func (c *Client) id() string { return c.ID }

// whole returns q for all pages.
func (q ClientQuery) whole() ClientQuery {
	q.From, q.After, q.Back = "", "", false
	return q
}

// ClientInitials returns the letters from a to z with which names of clients begin that have the
// owner and the state of q. Without a state, deleted ones count.
func (v View) ClientInitials(q ClientQuery) string {
	q = q.whole()
	return initials(func(from string) string {
		q.From = from
		for c := range v.byName(q) {
			return fold(c.Name)
		}
		return ""
	})
}

// match returns whether q selects a client of byName.
func (v View) match(q ClientQuery) func(*Client) bool {
	found := v.searched(q.Search)
	return func(c *Client) bool {
		return (q.State == c.State || q.State == "" && c.State != Deleted) && found(c)
	}
}

// searched returns whether a search finds a client.
func (v View) searched(text string) func(*Client) bool {
	search, owner := fold(text), ""
	if u := v.UserByName(text); u != nil {
		owner = u.ID
	}
	return func(c *Client) bool {
		return anyContains(search, c.Name, c.ID) || c.Owner == owner
	}
}

// clientKey returns the key of a client by which an order sorts, nil for that of byName.
func (v View) clientKey(s ClientSort) func(*Client) string {
	switch s {
	case ClientsByCreated:
		return func(c *Client) string { return newestKey(c.Created, c.ID) }
	case ClientsByChanged:
		return func(c *Client) string { return newestKey(c.Changed, c.ID) }
	case ClientsByOwner:
		names := map[string]string{} // of owners, each looked up once
		return func(c *Client) string {
			name, known := names[c.Owner]
			if !known {
				if u := v.User(c.Owner); u != nil {
					name = fold(u.Username)
				}
				names[c.Owner] = name
			}
			return strings.Join([]string{name, c.Owner, fold(c.Name), c.ID}, "\x00")
		}
	}
	return nil
}

// ClientsPosition returns the position in the list of q, whatever its page, of the page that
// begins with a client.
func (v View) ClientsPosition(q ClientQuery, first string) Position {
	if key, c := v.clientKey(q.Sort), v.Client(first); key != nil && c != nil {
		if p := positionBefore(v.byName(q.whole()), v.match(q), c, key); p.Exact {
			return p
		}
	}
	return positionOf(v.byName(q.whole()), v.match(q), func(c *Client) bool { return c.ID == first })
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
	} else if q.From != "" {
		values = append(values, fold(q.From))
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
	return page(all, q.Back, q.Limit, v.searched(q.Search), (*Client).id)
}

// NewestWaiting returns up to most clients that await a review, the last submitted first.
func (v View) NewestWaiting(most int) (found []*Client) {
	for c := range scanFrom[Client](v, TableClients, "waiting", true, timeKey(math.MaxInt64)) {
		if len(found) == most {
			break
		}
		found = append(found, c)
	}
	return found
}
