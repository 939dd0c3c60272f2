package admin

import (
	"context"
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// An EventFilter selects events of the audit trail.
type EventFilter struct {
	Client string `json:"client,omitempty"`
	User   string `json:"user,omitempty"`  // name or id: the actor, or the user concerned
	Kind   string `json:"kind,omitempty"`  // such as "grant.reuse", or "grant" for all kinds of grant events
	Limit  int    `json:"limit,omitempty"` // maximum number of events, the newest or, with After, the oldest; 0 means no limit
	// After restricts the result to events with a higher Seq, if it is not nil.
	After *uint64 `json:"after,omitempty"`
}

// An EventList has the oldest event first.
type EventList struct {
	Events    []Event `json:"events"`
	Truncated bool    `json:"truncated"` // Limit omitted events: older ones or, with After, newer ones
	// Read is the Seq up to which the trail was read. A query with this value of After
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
		q.User = u.ID // otherwise it may be the id of a user who no longer exists
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
