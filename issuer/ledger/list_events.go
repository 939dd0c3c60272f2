package ledger

import (
	"encoding/hex"
	"iter"
	"math"
	"strings"
)

// An EventQuery chooses from the audit trail. Its zero value is all of it.
type EventQuery struct {
	Client string // an id
	User   string // an id: as the actor, or as the one it happened to
	Kind   string // "grant.reuse", or "grant" for all of grants
	From   Time   // at or after
	To     Time   // before; 0 is the end
	Before uint64 // the Seq that the page before ended with; 0 is the newest
	Back   bool   // the page that ends before that one: of what is newer
	Limit  int    // of a page
}

// Match reports whether q chooses e; the page does not count.
func (q *EventQuery) Match(e *Event) bool {
	return (q.Client == "" || e.Client == q.Client) &&
		(q.User == "" || e.User == q.User || e.Actor == q.User) &&
		(q.Kind == "" || string(e.Kind) == q.Kind || strings.HasPrefix(string(e.Kind), q.Kind+".")) &&
		e.At >= q.From && (q.To == 0 || e.At < q.To)
}

// ListEvents is one page, newest first. next is the Before of another, 0 at the
// end. A page may have fewer than Limit although there are more: see maxScanned.
func (v View) ListEvents(q EventQuery) (found []*Event, next uint64) {
	all := v.eventsWithin(q)
	switch {
	case q.Back && (q.Before == 0 || q.Before == math.MaxUint64):
		return nil, 0 // nothing is newer than the newest
	case q.Back:
		all = v.eventsAfter(q)
	}
	return page(all, q.Back, q.Limit, q.Match, func(e *Event) uint64 { return e.Seq })
}

// EventsMatching are all that q chooses, newest first, without pages: to write
// them out. It may walk the whole trail, MaxEvents rows.
func (v View) EventsMatching(q EventQuery) iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		for e := range v.eventsWithin(q) {
			if q.Match(e) && !yield(e) {
				return
			}
		}
	}
}

// eventsWithin are those of q's page and times, newest first. Events are in order
// of time, as state time never runs back.
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

// eventsAfter are those that are newer than q's page, oldest first.
func (v View) eventsAfter(q EventQuery) iter.Seq[*Event] {
	all := rowsFrom[Event](v, TableAudit, sequence(q.Before+1))
	return func(yield func(*Event) bool) {
		for e := range all {
			if q.To > 0 && e.At >= q.To || !yield(e) {
				return
			}
		}
	}
}

// lastEventBefore is a Seq up to which all events are before a time, and none
// after it is. It halves the distance some forty times.
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

// eventFrom is the first event at or after a Seq.
func (v View) eventFrom(seq uint64) *Event {
	for e := range rowsFrom[Event](v, TableAudit, sequence(seq)) {
		return e
	}
	return nil
}

// HistoryOf is what the audit trail still has of a client's registration, its
// reviews and its owners, at most limit events, newest first: see Event.Review.
// However much happens to its grants, it walks over none of that.
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

// historyKey is for the index; nothing for what HistoryOf does not tell.
func (e *Event) historyKey() []string {
	if e.Client == "" || !strings.HasPrefix(string(e.Kind), "client.") {
		return nil
	}
	return []string{e.Client, historySeq(e.Seq)}
}

func historySeq(n uint64) string { return hex.EncodeToString(sequence(n)) }
