package ledger

import (
	"encoding/hex"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// AwaitsReview reports whether an administrator has something to decide: a client
// that nobody has looked at, or a proposed revision of one.
func (c *Client) AwaitsReview() bool {
	return c.State == Pending || c.Proposed != nil && c.State != Deleted
}

// queue keeps since when c waits. An edit while it waits does not put it behind
// others.
func (c *Client) queue(old *Client, m command.Meta) {
	switch {
	case !c.AwaitsReview():
		c.Waiting = 0
	case old != nil && old.AwaitsReview():
		c.Waiting = old.WaitingSince()
	default:
		c.Waiting = stateTime(m)
	}
}

// WaitingSince is since when c has waited for a review. Of a client that was last
// changed by older rules, it is when that was.
func (c *Client) WaitingSince() Time {
	if c.Waiting == 0 {
		return c.Changed
	}
	return c.Waiting
}

// waitingKey is for the index: oldest first, nothing for who does not wait.
func (c *Client) waitingKey() []string {
	if !c.AwaitsReview() {
		return nil
	}
	return []string{waitingKey(c.WaitingSince())}
}

func waitingKey(t Time) string { return hex.EncodeToString(sequence(uint64(t))) }
