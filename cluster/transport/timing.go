package transport

import "time"

// The timing of elections. It is in this package because the bounds of single messages
// derive from it.
const (
	// ElectionTimeout is the least time of silence after which raft has followers
	// campaign, at random up to three times that. Leader-loss detection replaces most
	// leaders earlier. A slow node does no harm, since the others don't vote against a
	// leader that they hear from (raft §9.6).
	ElectionTimeout = 700 * time.Millisecond
	// LeaseTimeout is how soon a leader without contact to a majority steps down.
	LeaseTimeout = 400 * time.Millisecond
	// CampaignInterval is the time between the campaigns of voters that lost the leader:
	// longer than an election takes, even on a slow disk.
	CampaignInterval = 400 * time.Millisecond
)
