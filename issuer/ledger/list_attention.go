package ledger

// LacksSecret reports whether c is approved and has no secret to authenticate with. A public client
// needs none, and that of a metadata document is not its owner's.
func (c *Client) LacksSecret() bool {
	return c.State == Approved && c.Document == nil && !c.Public() && c.ActiveSecrets() == 0
}

// NeedsOwner reports whether only c's owner can make c usable, or go on with its changes: it or a
// proposed revision was rejected, it is suspended, or it has no secret to authenticate with.
func (c *Client) NeedsOwner() bool {
	switch {
	case c.Document != nil: // its publisher does
		return false
	case c.State == Rejected, c.State == Suspended, c.LacksSecret():
		return true
	}
	return c.Refused != nil && c.State != Deleted
}

// attentionKey is the index key; nil for a client that does not need its owner.
func (c *Client) attentionKey() []string {
	if !c.NeedsOwner() {
		return nil
	}
	return []string{c.Owner, fold(c.Name)}
}

// NeedOwner returns up to limit of a user's clients that need their owner, by name. It reads no
// others.
func (v View) NeedOwner(user string, limit int) (found []*Client) {
	for c := range rows[Client](v, TableClients, "attention", user) {
		if len(found) == limit {
			break
		}
		found = append(found, c)
	}
	return found
}
