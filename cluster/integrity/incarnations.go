package integrity

import (
	"cmp"
	"sync"
	"time"
)

// A copy of a data folder that is started beside the original has its key and
// its votes: the two may vote for two leaders of one term. The lock of a folder
// does not keep a copy from running. So every start generates a random number, which
// members exchange with their status. A member that sees two numbers of one member
// which ran at the same time reports that to both processes, and the one that started
// later isolates itself.

// An incarnation is one process of a node.
type Incarnation struct {
	Started int64  `cbor:"1,keyasint"` // by its clock, ms; it only orders duplicates
	Number  uint64 `cbor:"2,keyasint"` // random
}

func (i Incarnation) Compare(other Incarnation) int {
	return cmp.Or(cmp.Compare(i.Started, other.Started), cmp.Compare(i.Number, other.Number))
}

// An observation is the interval in which an incarnation is known to have run: from first
// to last, or empty if last is before first. A message received at first had been sent by
// then, and the newest message was sent no earlier than last. Messages may be delayed.
type observation struct {
	incarnation Incarnation
	first, last time.Duration
	heard       time.Duration // when its last message was received
}

// overlaps reports whether two incarnations ran at the same time. Those of a node that
// was restarted did not.
func (s *observation) overlaps(o *observation) bool {
	return max(s.first, o.first) <= min(s.last, o.last)
}

// DuplicateRetention is how long a duplicate is reported after its last message.
const DuplicateRetention = 15 * time.Second

// DuplicateSilence is longer than the time between two messages of a running duplicate.
const DuplicateSilence = 3 * time.Second

// maxObservations bounds the remembered incarnations of one member.
const maxObservations = 4

// Incarnations records the incarnations of the other members, by id.
type Incarnations struct {
	began time.Time // zero point of the times in observations

	mu       sync.Mutex // guards the rest
	observed map[string][]observation
	reported map[string]bool        // a duplicate was logged
	tokens   map[string]StatusToken // the last of each member
}

// StatusToken is what a member gives whoever asks it; see statusQuery.
type StatusToken struct {
	Value       int64
	Incarnation uint64 // number of the incarnation that gave it
}

func newIncarnations() *Incarnations {
	return &Incarnations{
		began: time.Now(), observed: make(map[string][]observation), reported: make(map[string]bool), tokens: make(map[string]StatusToken),
	}
}

func (in *Incarnations) Now() time.Duration { return time.Since(in.began) }

// observe records a message of an incarnation, received now and sent no earlier than since,
// which is negative if that is not known. It reports whether the member has a duplicate
// that was not reported before.
func (in *Incarnations) observe(id string, r Incarnation, since, now time.Duration) (news bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	all := in.observed[id]
	at := -1
	for i := range all {
		if all[i].incarnation == r {
			at = i
		}
	}
	if at < 0 {
		if len(all) == maxObservations {
			all = append(all[:0:0], all[1:]...)
		}
		all, at = append(all, observation{incarnation: r, first: now, last: -1}), len(all)
		in.observed[id] = all
	}
	s := &all[at]
	s.heard, s.last = max(s.heard, now), max(s.last, since)
	duplicate := in.hasDuplicateLocked(id, now)
	news = duplicate && !in.reported[id]
	in.reported[id] = duplicate
	return news
}

// hasDuplicateLocked is called with mu held.
func (in *Incarnations) hasDuplicateLocked(id string, now time.Duration) bool {
	all := in.observed[id]
	for i := range all {
		if _, _, ok := in.duplicateLocked(id, all[i].incarnation, now); ok {
			return true
		}
	}
	return false
}

// duplicateLocked returns another incarnation of a member that ran at the same time as r, and how
// long ago its last message was received. It is called with mu held.
func (in *Incarnations) duplicateLocked(id string, r Incarnation, now time.Duration) (other Incarnation, unseen time.Duration, ok bool) {
	all := in.observed[id]
	for i := range all {
		for j := range all {
			a, b := &all[i], &all[j]
			if a.incarnation == r && b.incarnation != r && a.overlaps(b) && now-a.heard < DuplicateRetention && now-b.heard < DuplicateRetention {
				return b.incarnation, now - b.heard, true
			}
		}
	}
	return Incarnation{}, 0, false
}

// DuplicateOf returns another incarnation of a member that ran at the same time as r, and how long
// ago its last message was received.
func (in *Incarnations) DuplicateOf(id string, r Incarnation) (other Incarnation, unseen time.Duration, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.duplicateLocked(id, r, in.Now())
}

// hasDuplicate reports whether two incarnations of a member ran within DuplicateRetention.
func (in *Incarnations) hasDuplicate(id string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.hasDuplicateLocked(id, in.Now())
}

// DuplicateUnseen reports whether two processes ran as one member within DuplicateRetention, and how
// long ago the last message of the more silent one was received.
func (in *Incarnations) DuplicateUnseen(id string) (unseen time.Duration, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	now := in.Now()
	for _, s := range in.observed[id] {
		if _, since, found := in.duplicateLocked(id, s.incarnation, now); found {
			unseen, ok = max(unseen, since), true
		}
	}
	return unseen, ok
}

func (in *Incarnations) Token(id string) StatusToken {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.tokens[id]
}

func (in *Incarnations) SetToken(id string, k StatusToken) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.tokens[id] = k
}
