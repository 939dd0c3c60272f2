package ledger

import (
	"iter"
	"slices"
)

// LacksSecret reports whether c is approved and has no secret to authenticate with. A public client
// needs none.
func (c *Client) LacksSecret() bool {
	return c.State == Approved && !c.Public() && c.ActiveSecrets() == 0
}

// NeedsOwner reports whether only c's owner can make c usable, go on with its changes or keep it
// usable: it or a proposed revision was rejected, it is suspended, it has no secret to authenticate
// with, or one of its secrets has an end, however far away.
func (c *Client) NeedsOwner() bool {
	switch {
	case c.Document != nil: // its publisher does
		return false
	case c.State == Rejected, c.State == Suspended, c.LacksSecret():
		return true
	case c.State == Deleted:
		return false
	}
	return c.Refused != nil || slices.ContainsFunc(c.Secrets, func(s Secret) bool { return s.Ends != 0 })
}

// attentionKey is the index key; nil for a client that does not need its owner.
func (c *Client) attentionKey() []string {
	if !c.NeedsOwner() {
		return nil
	}
	return []string{c.Owner, fold(c.Name)}
}

// NeedOwner returns a user's clients that need their owner, by name. It reads no others.
func (v View) NeedOwner(user string) iter.Seq[*Client] {
	return rows[Client](v, TableClients, "attention", user)
}
