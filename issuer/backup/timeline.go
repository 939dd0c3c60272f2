package backup

import (
	"fmt"
	"math"
	"slices"
)

// A Timeline is a history of commands, like a timeline of PostgreSQL. Restoring an older
// backup begins a new one, in which the same Seqs belong to other commands, and so does
// recovering the only remaining node.
type Timeline struct {
	ID   string `json:"id"`   // random
	From uint64 `json:"from"` // Seq of its first command; earlier commands belong to the previous timeline
}

// A TimelineError reports files whose timelines are not compatible.
type TimelineError struct{ Reason string }

func (e *TimelineError) Error() string { return e.Reason }

// ReplayLimits returns, for each journal, the Seq up to which it describes what happened
// after a backup. The journals follow the latest timeline among them, which must include
// the backup. Commands of an earlier timeline after the point at which the next one began
// are not part of the latter.
//
// A journal without timelines is assumed to be of the latest one.
func ReplayLimits(state Header, journals ...Header) ([]uint64, error) {
	latest := state.Timelines
	for _, j := range journals {
		if len(j.Timelines) > len(latest) {
			latest = j.Timelines
		}
	}
	own := max(len(state.Timelines), 1)
	for _, j := range journals {
		switch n := len(j.Timelines); {
		case n == 0:
		case !isPrefix(j.Timelines, latest) || !isPrefix(state.Timelines, latest):
			return nil, &TimelineError{fmt.Sprintf("the journal is of timeline %s of the cluster, which is not in the past of timeline %s, nor follows it: "+
				"they began with different restores or recoveries", j.timeline(), otherTimeline(j, state, latest))}
		case n < own:
			return nil, &TimelineError{fmt.Sprintf("the journal is of timeline %s of the cluster, which ended when a backup up to command %d was restored, "+
				"or a node that had no more recovered; timeline %s began then", j.timeline(), latest[n].From-1, state.timeline())}
		}
	}
	if own < len(latest) && state.Seq >= latest[own].From {
		return nil, &TimelineError{fmt.Sprintf("the journal is of timeline %s of the cluster, which began when an older backup, up to command %d, was restored, "+
			"or a node that had no more recovered: it does not tell what happened after this one, up to command %d", last(latest).ID, latest[own].From-1, state.Seq)}
	}
	upTo := make([]uint64, len(journals))
	for i, j := range journals {
		upTo[i] = math.MaxUint64
		if n := len(j.Timelines); n > 0 && n < len(latest) {
			upTo[i] = latest[n].From - 1
		}
	}
	return upTo, nil
}

// otherTimeline returns a timeline that is not compatible with that of j.
func otherTimeline(j, state Header, latest []Timeline) string {
	if !isPrefix(j.Timelines, latest) {
		return last(latest).ID
	}
	return state.timeline()
}

// isPrefix reports whether lives are the first elements of of.
func isPrefix(lives, of []Timeline) bool {
	return len(lives) <= len(of) && slices.Equal(lives, of[:len(lives)])
}

func last(lives []Timeline) Timeline { return lives[len(lives)-1] }

// timeline returns the id of the timeline of a file, "" if the file has none.
func (h Header) timeline() string {
	if len(h.Timelines) == 0 {
		return ""
	}
	return last(h.Timelines).ID
}
