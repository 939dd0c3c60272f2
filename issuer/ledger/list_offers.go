package ledger

// An OfferQuery chooses clients that are offered to a user.
type OfferQuery struct {
	User  string // a user's id
	After string // as ClientQuery.After, and so are the others
	Back  bool
	Limit int
}

// OfferedTo is one page of the clients that a user may take over, by id. next is
// as that of ListClients. There are as many as anybody likes to offer.
func (v View) OfferedTo(q OfferQuery) (found []*Client, next string) {
	values := []any{q.User}
	if q.After != "" {
		values = append(values, q.After)
	}
	all := skipRow(scanFrom[Client](v, TableClients, "offered", q.Back, values...), func(c *Client) bool { return c.ID == q.After })
	own := func(yield func(*Client) bool) {
		for c := range all {
			if c.Offer.To != q.User || !yield(c) {
				return
			}
		}
	}
	match := func(c *Client) bool { return v.OfferOf(c) != nil }
	return page(own, q.Back, q.Limit, match, func(c *Client) string { return c.ID })
}
