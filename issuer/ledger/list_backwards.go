package ledger

import (
	"iter"
	"math"
	"slices"
)

// EventsBackwards are the audit trail, newest first.
func (v View) EventsBackwards() iter.Seq[*Event] { return v.eventsUpTo(math.MaxUint64) }

// A piece of the trail that is read at once has about that many events.
const (
	fewEvents  = 128
	manyEvents = 512
)

// eventsUpTo are those up to a Seq, newest first. To walk backwards memdb notes
// every node on its way, which takes several times as long as to walk forwards:
// the trail is read forwards, piece by piece from its end, and each piece is told
// backwards.
func (v View) eventsUpTo(last uint64) iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		var piece []*Event
		// Between two events there may be any number of commands that made none,
		// so how many there are in so many of them is found out on the way.
		width := uint64(fewEvents)
		for {
			newest := v.lastEvent(last)
			if newest == nil {
				return
			}
			first := newest.Seq - min(newest.Seq, width-1)
			piece = piece[:0]
			for e := range rowsFrom[Event](v, TableAudit, sequence(first)) {
				if e.Seq > newest.Seq {
					break
				}
				piece = append(piece, e)
			}
			for _, e := range slices.Backward(piece) {
				if !yield(e) {
					return
				}
			}
			switch {
			case first == 0:
				return
			case len(piece) < fewEvents && width < math.MaxUint32:
				width *= 2
			case len(piece) > manyEvents:
				width /= 2
			}
			last = first - 1
		}
	}
}

// lastEvent is the last one up to a Seq, nil where there is none.
func (v View) lastEvent(seq uint64) *Event {
	it, err := v.txn.ReverseLowerBound(TableAudit, indexID, sequence(seq))
	for e := range walk[Event](it, err, TableAudit) {
		return e
	}
	return nil
}
