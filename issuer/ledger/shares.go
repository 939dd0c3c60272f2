package ledger

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
)

// An actorClass is a class of actors. Each class has a third of the audit trail reserved, so
// that the events of one class can't displace those of another.
type actorClass int

const (
	classAdministrators actorClass = iota // and operators
	classUsers
	classClients
	actorClasses
)

func (v View) actorClass(actor string) actorClass {
	if u := v.User(actor); u != nil && !u.Admin {
		return classUsers
	} else if u != nil || actor == Operator || RemoteOperator(actor) {
		return classAdministrators
	}
	return classClients
}

// Shares counts the events of each actor in the audit trail. The leader keeps it in memory
// to find the events beyond MaxEvents without a walk over the whole trail. The zero value is
// ready for Update. It is not safe for concurrent use.
type Shares struct {
	// Limit is the number of events that the trail may have. 0 means MaxEvents.
	Limit int

	read    uint64              // Seq of the last event that was read
	byActor map[string][]uint64 // Seqs of each actor's events, oldest first
	total   int
}

// Update reads the events that were added since the last call. The first call reads the
// whole trail.
func (s *Shares) Update(v View) {
	if s.byActor == nil {
		s.byActor = map[string][]uint64{}
	}
	for e := range rowsFrom[Event](v, TableAudit, sequence(s.read+1)) {
		s.read = e.Seq
		s.byActor[e.Actor] = append(s.byActor[e.Actor], e.Seq)
		s.total++
	}
}

// Surplus returns the Seqs of up to limit events to remove: the oldest of the actor with the
// most events, in the classes that exceed their share. It omits events of revocations at or
// after keep, unless the trail is more than four times as long as its limit; readers of the
// feed then learn that revocations are missing (Trail.TrimmedRevocationAt). It always omits
// events that no leader has logged yet.
func (s *Shares) Surplus(v View, keep Time, limit int) (seqs []uint64) {
	most := cmp.Or(s.Limit, MaxEvents)
	excess := min(limit, s.total-most)
	if excess <= 0 {
		return nil
	}
	var kinds [actorClasses]classShare
	for _, actor := range slices.Sorted(maps.Keys(s.byActor)) {
		events := s.byActor[actor]
		k := &kinds[v.actorClass(actor)]
		k.total += len(events)
		k.actors = append(k.actors, &actorShare{actor, events, len(events)})
	}
	for i := range kinds {
		heap.Init(&kinds[i])
	}
	logged := v.Trail().Logged
	removable := func(seq uint64) bool {
		e, hard := v.Event(seq), s.total-len(seqs) > 4*most
		return e != nil && seq <= logged && (hard || e.At < keep || !v.affectsFeed(e))
	}
	for len(seqs) < excess {
		k := fullest(kinds[:], most/int(actorClasses))
		if k == nil {
			break
		}
		if seq, ok := k.removeOldest(removable); ok {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}

// Drop removes events from the counts, after they were removed from the trail.
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

// A classShare has the actors of one class, as a heap by the number of their events, largest
// first.
type classShare struct {
	actors []*actorShare
	total  int
}

type actorShare struct {
	actor  string
	events []uint64 // Seqs that removeOldest has not tried yet, oldest first
	left   int      // events of the actor after the removals so far
}

// fullest returns the class with the most events, among those that exceed their share and
// have an actor left to remove events of, or nil.
func fullest(kinds []classShare, share int) (most *classShare) {
	for i := range kinds {
		k := &kinds[i]
		if len(k.actors) > 0 && k.total > share && (most == nil || k.total > most.total) {
			most = k
		}
	}
	return most
}

// removeOldest removes the oldest removable event of the actor with the most events, and
// returns its Seq. If that actor has none, it removes the actor from the heap and returns
// false.
func (k *classShare) removeOldest(removable func(uint64) bool) (uint64, bool) {
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

func (k *classShare) Len() int      { return len(k.actors) }
func (k *classShare) Swap(i, j int) { k.actors[i], k.actors[j] = k.actors[j], k.actors[i] }
func (k *classShare) Push(a any)    { k.actors = append(k.actors, a.(*actorShare)) }

func (k *classShare) Less(i, j int) bool {
	a, b := k.actors[i], k.actors[j]
	return a.left > b.left || a.left == b.left && a.actor < b.actor
}

func (k *classShare) Pop() any {
	last := k.actors[len(k.actors)-1]
	k.actors = k.actors[:len(k.actors)-1]
	return last
}
