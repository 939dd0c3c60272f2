package admin

import (
	"context"
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// An EventFilter chooses from the audit trail.
type EventFilter struct {
	Client string `json:"client,omitempty"`
	User   string `json:"user,omitempty"`  // name or id, as the actor or as the one it happened to
	Kind   string `json:"kind,omitempty"`  // "grant.reuse", or "grant" for all of grants
	Limit  int    `json:"limit,omitempty"` // at most that many events: the newest ones, or with After the oldest ones; 0 for all
	// After restricts the answer to events with a higher Seq. nil: no restriction.
	After *uint64 `json:"after,omitempty"`
}

// An EventList is oldest first.
type EventList struct {
	Events    []Event `json:"events"`
	Truncated bool    `json:"truncated"` // Limit left out events: older ones, or with After newer ones
	// Read is the Seq up to which the trail was read. As After of the next query it
	// continues from there.
	Read uint64 `json:"read"`
}

// An Event is one entry of the audit trail.
type Event struct {
	Seq    uint64    `json:"seq"`
	At     time.Time `json:"at"`
	Kind   string    `json:"kind"`
	Actor  string    `json:"actor,omitempty"`
	Client string    `json:"client,omitempty"`
	User   string    `json:"user,omitempty"`
	Grant  string    `json:"grant,omitempty"`
	Detail string    `json:"detail,omitempty"`
}

func (c *call) audit(ctx context.Context, q EventFilter) (EventList, error) {
	list := EventList{Events: []Event{}}
	v, err := c.view(ctx)
	if err != nil {
		return list, err
	}
	if u := findUser(v, q.User); u != nil {
		q.User = u.ID // else it may be one that is gone altogether
	}
	chosen := ledger.EventQuery{Client: q.Client, User: q.User, Kind: q.Kind}
	events := v.EventsMatching(chosen)
	if q.After != nil {
		events, list.Read = v.EventsAfter(*q.After), *q.After
	} else if newest := v.LastEvent(); newest != nil {
		list.Read = newest.Seq
	}
	for e := range events {
		if q.Limit > 0 && len(list.Events) == q.Limit {
			list.Truncated = true
			break
		}
		if q.After != nil {
			list.Read = e.Seq
			if !chosen.Match(e) {
				continue
			}
		}
		out := Event{
			Seq: e.Seq, At: stdTime(e.At), Kind: string(e.Kind), Actor: userName(v, e.Actor),
			Client: e.Client, User: userName(v, e.User), Detail: e.Detail,
		}
		if e.Grant != (ledger.GrantID{}) {
			out.Grant = e.Grant.String()
		}
		list.Events = append(list.Events, out)
	}
	if q.After == nil {
		slices.Reverse(list.Events)
	}
	return list, nil
}
