package backup

import (
	"fmt"
	"math"
	"slices"
)

// A Life is a history of commands. A restore of an older backup begins another
// one, in which the same positions hold other commands, and so does the recovery
// of the only node that is left.
type Life struct {
	ID   string `json:"id"`   // random
	From uint64 `json:"from"` // Seq of its first command; what came before is of the life it came out of
}

// A LifeError says that files are of histories that do not go together.
type LifeError struct{ Reason string }

func (e *LifeError) Error() string { return e.Reason }

// Follow says how far each of some journals tells what happened after a backup:
// up to which Seq. Together they follow the latest life among them, in whose
// past the backup must lie. What an earlier life went on to do after the backup,
// or the node, that a later one began with never happened in the later one.
//
// A journal that does not say its life is taken to be of the latest one.
func Follow(state Header, journals ...Header) ([]uint64, error) {
	way := state.Lives
	for _, j := range journals {
		if len(j.Lives) > len(way) {
			way = j.Lives
		}
	}
	own := max(len(state.Lives), 1)
	for _, j := range journals {
		switch n := len(j.Lives); {
		case n == 0:
		case !isPast(j.Lives, way) || !isPast(state.Lives, way):
			return nil, &LifeError{fmt.Sprintf("the journal is of life %s of the cluster, which is not in the past of life %s, nor follows it: "+
				"they began with different restores or recoveries", j.life(), strangerTo(j, state, way))}
		case n < own:
			return nil, &LifeError{fmt.Sprintf("the journal is of life %s of the cluster, which ended when a backup up to command %d was restored, "+
				"or a node that had no more recovered; life %s began then", j.life(), way[n].From-1, state.life())}
		}
	}
	if own < len(way) && state.Seq >= way[own].From {
		return nil, &LifeError{fmt.Sprintf("the journal is of life %s of the cluster, which began when an older backup, up to command %d, was restored, "+
			"or a node that had no more recovered: it does not tell what happened after this one, up to command %d", last(way).ID, way[own].From-1, state.Seq)}
	}
	upTo := make([]uint64, len(journals))
	for i, j := range journals {
		upTo[i] = math.MaxUint64
		if n := len(j.Lives); n > 0 && n < len(way) {
			upTo[i] = way[n].From - 1
		}
	}
	return upTo, nil
}

// strangerTo is a life that does not go together with j.
func strangerTo(j, state Header, way []Life) string {
	if !isPast(j.Lives, way) {
		return last(way).ID
	}
	return state.life()
}

// isPast reports whether lives are the first of others.
func isPast(lives, of []Life) bool {
	return len(lives) <= len(of) && slices.Equal(lives, of[:len(lives)])
}

func last(lives []Life) Life { return lives[len(lives)-1] }

// life is the id of the life that a file is of, "" where it does not say.
func (h Header) life() string {
	if len(h.Lives) == 0 {
		return ""
	}
	return last(h.Lives).ID
}
