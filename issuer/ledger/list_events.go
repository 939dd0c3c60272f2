package ledger

import (
	"encoding/hex"
	"iter"
	"math"
	"slices"
	"strings"
)

// An EventQuery selects events of the audit trail. The zero value selects all.
type EventQuery struct {
	Client string // an id
	User   string // an id: the actor, or the user concerned
	Kind   string // such as "grant.reuse", or "grant" for all kinds of grant events
	Except string // what is left out, like Kind; "" leaves nothing out
	// Verdicts selects the reviews with one of these verdicts, and no other event; nil selects any event.
	Verdicts []Verdict
	From     Time   // inclusive
	To       Time   // exclusive; 0 means no end
	Oldest   bool   // the oldest first, not the newest
	Before   uint64 // Seq of the last event of the previous page; 0 starts at the beginning of the list
	Back     bool   // return the page that ends at Before, not the one that follows it
	Limit    int    // events of a page
}

// Match reports whether q selects e, ignoring the page.
func (q *EventQuery) Match(e *Event) bool {
	return (q.Client == "" || e.Client == q.Client) &&
		(q.User == "" || e.User == q.User || e.Actor == q.User) &&
		(q.Kind == "" || e.Kind.within(q.Kind)) && (q.Except == "" || !e.Kind.within(q.Except)) &&
		(q.Verdicts == nil || e.hasVerdict(q.Verdicts)) &&
		e.At >= q.From && (q.To == 0 || e.At < q.To)
}

// within reports whether k is the named kind, or belongs to the named group, such as "grant".
func (k EventKind) within(group string) bool {
	rest := strings.TrimPrefix(string(k), group)
	return rest == "" || rest[0] == '.'
}

// hasVerdict reports whether e is a review with one of the verdicts.
func (e *Event) hasVerdict(list []Verdict) bool {
	if e.Kind != EventClientReviewed {
		return false
	}
	verdict, _ := e.Review()
	return slices.Contains(list, verdict)
}

// ListEvents returns one page. next is the Before of the following page, or 0 at the end. A page
// may have fewer than Limit events although more follow: see maxScanned.
func (v View) ListEvents(q EventQuery) (found []*Event, next uint64) {
	if q.Back && (q.Before == 0 || q.Before == math.MaxUint64) {
		return nil, 0 // the list begins there
	}
	all := v.eventsAfter(q)
	if q.Back == q.Oldest {
		all = v.eventsWithin(q)
	}
	return page(all, q.Back, q.Limit, q.Match, func(e *Event) uint64 { return e.Seq })
}

// EventsPosition is like ClientsPosition.
func (v View) EventsPosition(q EventQuery, first uint64) Position {
	q.Before = 0
	all := v.eventsWithin(q)
	if q.Oldest {
		all = v.eventsAfter(q)
	}
	return positionOf(all, q.Match, func(e *Event) bool { return e.Seq == first })
}

// EventsMatching returns all events that q selects, newest first, ignoring pages. It may
// walk the whole trail, MaxEvents rows.
func (v View) EventsMatching(q EventQuery) iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		for e := range v.eventsWithin(q) {
			if q.Match(e) && !yield(e) {
				return
			}
		}
	}
}

// eventsWithin returns the events of q's page and time range, newest first. Events are in
// order of time, since state time never decreases.
func (v View) eventsWithin(q EventQuery) iter.Seq[*Event] {
	last := uint64(math.MaxUint64)
	if q.Before > 0 {
		last = q.Before - 1
	}
	if q.To > 0 {
		last = min(last, v.lastEventBefore(q.To))
	}
	return func(yield func(*Event) bool) {
		for e := range v.eventsUpTo(last) {
			if e.At < q.From || !yield(e) {
				return
			}
		}
	}
}

// eventsAfter returns the events of q's time range that are newer than its page, oldest first.
func (v View) eventsAfter(q EventQuery) iter.Seq[*Event] {
	after := q.Before
	if after == 0 {
		after = v.lastEventBefore(q.From)
	}
	all := rowsFrom[Event](v, TableAudit, sequence(after+1))
	return func(yield func(*Event) bool) {
		for e := range all {
			if q.To > 0 && e.At >= q.To || !yield(e) {
				return
			}
		}
	}
}

// lastEventBefore returns a Seq that separates events before a time from those at or after
// it. It is a binary search of some forty steps.
func (v View) lastEventBefore(t Time) uint64 {
	low, high := uint64(0), uint64(0)
	if newest := v.lastEvent(math.MaxUint64); newest != nil {
		high = newest.Seq + 1
	}
	for low < high {
		middle := low + (high-low)/2
		if e := v.eventFrom(middle); e != nil && e.At < t {
			low = e.Seq + 1
		} else {
			high = middle
		}
	}
	return max(low, 1) - 1
}

// eventFrom returns the first event at or after a Seq.
func (v View) eventFrom(seq uint64) *Event {
	for e := range rowsFrom[Event](v, TableAudit, sequence(seq)) {
		return e
	}
	return nil
}

// HistoryOf returns the events of a client's registration, reviews, owners and secrets that the
// audit trail still has, newest first, at most limit: see Event.Review. It uses an index,
// so events of the client's grants cost nothing.
func (v View) HistoryOf(client string, limit int) (history []*Event) {
	it, err := v.txn.ReverseLowerBound(TableAudit, "history", client, historySeq(math.MaxUint64))
	for e := range walk[Event](it, err, TableAudit) {
		if len(history) == limit || e.Client != client {
			break
		}
		history = append(history, e)
	}
	return history
}

// historyKey is the index key; nil for events that HistoryOf doesn't return.
func (e *Event) historyKey() []string {
	if e.Client == "" || !strings.HasPrefix(string(e.Kind), "client.") && !strings.HasPrefix(string(e.Kind), "secret.") {
		return nil
	}
	return []string{e.Client, historySeq(e.Seq)}
}

func historySeq(n uint64) string { return hex.EncodeToString(sequence(n)) }
