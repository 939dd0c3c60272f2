package ledger

import (
	"iter"
	"math"
	"slices"
)

// EventsBackwards returns the audit trail, newest first.
func (v View) EventsBackwards() iter.Seq[*Event] { return v.eventsUpTo(math.MaxUint64) }

// Bounds between which the number of events read at once is kept.
const (
	fewEvents  = 128
	manyEvents = 512
)

// eventsUpTo returns the events up to a Seq, newest first. Walking backwards in memdb is
// several times slower than walking forwards, since it records every node on its path. So
// the trail is read forwards in pieces, from its end, and each piece is reversed.
func (v View) eventsUpTo(last uint64) iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		var piece []*Event
		// Not every command makes an event, so the number of events in a range of Seqs
		// is unknown; width adapts to it.
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

// lastEvent returns the last event up to a Seq, or nil.
func (v View) lastEvent(seq uint64) *Event {
	it, err := v.txn.ReverseLowerBound(TableAudit, indexID, sequence(seq))
	for e := range walk[Event](it, err, TableAudit) {
		return e
	}
	return nil
}
