package ledger

// An OfferQuery selects clients that are offered to a user.
type OfferQuery struct {
	User  string // a user's id
	After string // like ClientQuery.After; the other fields likewise
	Back  bool
	Limit int
}

// OfferedTo returns one page of the clients that a user may take over, by id. next is like
// that of ListClients. The number of offers is not bounded.
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
