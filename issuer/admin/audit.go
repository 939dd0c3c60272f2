package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
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

// knownKind reports whether text is a kind of event, or the group of some; "" is all.
func knownKind(text string) bool {
	return text == "" || slices.ContainsFunc(ledger.EventKinds, func(k ledger.EventKind) bool {
		return string(k) == text || strings.HasPrefix(string(k), text+".")
	})
}

// kindsNear lists the kinds of the same group as an unknown kind, or else all groups.
func kindsNear(text string) string {
	group, _, _ := strings.Cut(text, ".")
	var same, groups []string
	for _, k := range ledger.EventKinds {
		of, _, _ := strings.Cut(string(k), ".")
		if of == group {
			same = append(same, string(k))
		}
		if !slices.Contains(groups, of) {
			groups = append(groups, of)
		}
	}
	if len(same) > 0 {
		return "there are " + strings.Join(same, ", ")
	}
	return "there are the groups " + strings.Join(groups, ", ")
}

func (c *call) audit(ctx context.Context, q EventFilter) (EventList, error) {
	list := EventList{Events: []Event{}}
	switch {
	case !knownKind(q.Kind):
		return list, codedField("", "kind", fmt.Sprintf("%q %v: %s", q.Kind, ErrEventKind, kindsNear(q.Kind)), ErrEventKind)
	case q.Limit < 0:
		return list, badField("", "limit", "must be 0 or more")
	}
	v, err := c.view(ctx)
	if err != nil {
		return list, err
	}
	if u := findUser(v, q.User); u != nil {
		q.User = u.ID // otherwise it may be the id of a user who no longer exists
	}
	chosen := ledger.EventQuery{Client: clientKey(q.Client), User: q.User, Kind: q.Kind}
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
