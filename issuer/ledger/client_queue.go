package ledger

import (
	"encoding/hex"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// AwaitsReview reports whether an administrator has to review c: it is pending, or has a
// proposed revision.
func (c *Client) AwaitsReview() bool {
	return c.State == Pending || c.Proposed != nil && c.State != Deleted
}

// queue sets when c began to wait for a review. An edit while c waits doesn't move it
// behind other clients.
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

// WaitingSince returns when c began to wait for a review. For a row that was written
// before Waiting existed, it is the time of the last change.
func (c *Client) WaitingSince() Time {
	if c.Waiting == 0 {
		return c.Changed
	}
	return c.Waiting
}

// waitingKey is the index key: oldest first, none for a client that doesn't wait.
func (c *Client) waitingKey() []string {
	if !c.AwaitsReview() {
		return nil
	}
	return []string{timeKey(c.WaitingSince())}
}

func timeKey(t Time) string { return hex.EncodeToString(sequence(uint64(t))) }
