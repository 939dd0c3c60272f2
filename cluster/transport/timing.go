package transport

import "time"

// The timing of elections. It stands here because the bounds of single messages
// derive from it.
const (
	// ElectionTimeout is how long a leader may be silent before raft has others
	// campaign, at random up to three times that. Leader-loss detection replaces most
	// leaders earlier. A node that was slow itself does no harm, since the others don't
	// vote against a leader they hear from (raft §9.6).
	ElectionTimeout = 700 * time.Millisecond
	// LeaseTimeout is how soon a leader that hears from no majority stops.
	LeaseTimeout = 400 * time.Millisecond
	// CampaignInterval is between the moments at which voters that lost the leader
	// campaign, one after the other: an election takes less, on a slow disk too.
	CampaignInterval = 400 * time.Millisecond
)
