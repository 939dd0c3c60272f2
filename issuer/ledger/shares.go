package ledger

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
)

// A shareOf is who an actor is. Each kind has a third of the audit trail for
// itself: however much one kind does, it does not push out what another did.
type shareOf int

const (
	ofAdministrators shareOf = iota // and operators
	ofUsers
	ofClients
	shareKinds
)

func (v View) shareOf(actor string) shareOf {
	if u := v.User(actor); u != nil && !u.Admin {
		return ofUsers
	} else if u != nil || actor == Operator {
		return ofAdministrators
	}
	return ofClients
}

// Shares are how much of the audit trail each actor has. The leader keeps them
// beside its state, so that what is beyond MaxEvents is found without a walk
// over the trail. The zero value knows nothing yet. One goroutine owns it.
type Shares struct {
	// Most is how many events the trail may have. Default: MaxEvents.
	Most int

	read    uint64              // the trail was read up to this Seq
	byActor map[string][]uint64 // Seqs, oldest first
	total   int
}

// Follow takes in the events that are new since the last call; the first call
// reads the whole trail.
func (s *Shares) Follow(v View) {
	if s.byActor == nil {
		s.byActor = map[string][]uint64{}
	}
	for e := range rowsFrom[Event](v, TableAudit, sequence(s.read+1)) {
		s.read = e.Seq
		s.byActor[e.Actor] = append(s.byActor[e.Actor], e.Seq)
		s.total++
	}
}

// Surplus are up to limit events to remove: the oldest of the actor who has the
// most, of a kind that has more than its share. What tells of a revocation at or
// after keep stays, unless the trail is four times as long as it should be: its
// readers must be told then. What is in no log yet stays in any case.
func (s *Shares) Surplus(v View, keep Time, limit int) (seqs []uint64) {
	most := cmp.Or(s.Most, MaxEvents)
	excess := min(limit, s.total-most)
	if excess <= 0 {
		return nil
	}
	var kinds [shareKinds]kindShare
	for _, actor := range slices.Sorted(maps.Keys(s.byActor)) {
		events := s.byActor[actor]
		k := &kinds[v.shareOf(actor)]
		k.total += len(events)
		k.actors = append(k.actors, &actorShare{actor, events, len(events)})
	}
	for i := range kinds {
		heap.Init(&kinds[i])
	}
	logged := v.Trail().Logged
	removable := func(seq uint64) bool {
		e, hard := v.Event(seq), s.total-len(seqs) > 4*most
		return e != nil && seq <= logged && (hard || e.At < keep || !v.tellsRevocation(e))
	}
	for len(seqs) < excess {
		k := fullest(kinds[:], most/int(shareKinds))
		if k == nil {
			break
		}
		if seq, ok := k.take(removable); ok {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}

// Drop forgets events that were removed.
func (s *Shares) Drop(seqs []uint64) {
	gone := make(map[uint64]bool, len(seqs))
	for _, seq := range seqs {
		gone[seq] = true
	}
	for _, actor := range slices.Sorted(maps.Keys(s.byActor)) {
		events := s.byActor[actor]
		kept := slices.DeleteFunc(events, func(seq uint64) bool { return gone[seq] })
		s.total -= len(events) - len(kept)
		s.byActor[actor] = kept
		if len(kept) == 0 {
			delete(s.byActor, actor)
		}
	}
}

// A kindShare is what actors of one kind have, as a heap whose first has the
// most.
type kindShare struct {
	actors []*actorShare
	total  int
}

type actorShare struct {
	actor  string
	events []uint64 // not looked at yet, oldest first
	left   int      // that it would have
}

// fullest is the kind with the most of those that are beyond their share and have
// an event to take; nil for none.
func fullest(kinds []kindShare, share int) (most *kindShare) {
	for i := range kinds {
		k := &kinds[i]
		if len(k.actors) > 0 && k.total > share && (most == nil || k.total > most.total) {
			most = k
		}
	}
	return most
}

// take is the oldest event of the first actor that may be removed.
func (k *kindShare) take(removable func(uint64) bool) (uint64, bool) {
	a := k.actors[0]
	for len(a.events) > 0 {
		seq := a.events[0]
		a.events = a.events[1:]
		if removable(seq) {
			a.left--
			k.total--
			heap.Fix(k, 0)
			return seq, true
		}
	}
	heap.Pop(k)
	return 0, false
}

func (k *kindShare) Len() int      { return len(k.actors) }
func (k *kindShare) Swap(i, j int) { k.actors[i], k.actors[j] = k.actors[j], k.actors[i] }
func (k *kindShare) Push(a any)    { k.actors = append(k.actors, a.(*actorShare)) }

func (k *kindShare) Less(i, j int) bool {
	a, b := k.actors[i], k.actors[j]
	return a.left > b.left || a.left == b.left && a.actor < b.actor
}

func (k *kindShare) Pop() any {
	last := k.actors[len(k.actors)-1]
	k.actors = k.actors[:len(k.actors)-1]
	return last
}
