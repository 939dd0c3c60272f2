package ledger

// NarrowTo is narrowTo.
func (c *Client) NarrowTo(p Profile, m Meta) { c.narrowTo(p, m) }
