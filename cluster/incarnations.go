package cluster

import (
	"cmp"
	"sync"
	"time"
)

// A copy of a data folder that is started beside the original has its key and
// its votes: the two may vote for two leaders of one term. The lock of a folder
// does not keep a copy from running. So every start draws a number, members tell
// it each other whenever they ask how they are, and whoever hears of two for one
// member that ran at the same time tells both: the one that started later keeps
// away.

// An incarnation is one process of a node.
type incarnation struct {
	Started int64  `cbor:"1,keyasint"` // by its clock, ms; it only orders duplicates
	Number  uint64 `cbor:"2,keyasint"` // random
}

func (r incarnation) compare(other incarnation) int {
	return cmp.Or(cmp.Compare(r.Started, other.Started), cmp.Compare(r.Number, other.Number))
}

// statusQuery is the body of opStatus.
type statusQuery struct {
	Incarnation incarnation `cbor:"1,keyasint"`
	// Token is the last that this node had of the run Of of the one that is
	// asked: it shows that this question was not asked before that was given.
	Token   int64  `cbor:"2,keyasint,omitempty"`
	TokenOf uint64 `cbor:"3,keyasint,omitempty"`
	// ExitReason is why the node that asks is about to end, see reportExit.
	ExitReason string `cbor:"4,keyasint,omitempty"`
}

// observation is what shows that a run was there. It ran from first to last for
// sure, if that is not before first: what it said had been said at first, and was
// said no earlier than last. Messages may lie around in between.
type observation struct {
	incarnation incarnation
	first, last time.Duration
	heard       time.Duration // when something of it came in
}

// overlaps reports whether two runs were there at the same time. One after the other,
// as a node that starts again, never were.
func (s *observation) overlaps(o *observation) bool {
	return max(s.first, o.first) <= min(s.last, o.last)
}

// duplicateRetention is how long a duplicate that says nothing more is spoken of.
const duplicateRetention = 15 * time.Second

// duplicateSilence is longer than the time between two sightings of a duplicate that runs.
const duplicateSilence = 3 * watchdogInterval

// maxObservations bounds the runs of one member that are remembered.
const maxObservations = 4

// incarnations are the runs of the other members, by id.
type incarnations struct {
	began time.Time // what the times of sightings count from

	mu       sync.Mutex // guards the rest
	observed map[string][]observation
	reported map[string]bool        // operators were told of two
	tokens   map[string]statusToken // the last of each member
}

// statusToken is what a member gives whoever asks it; see statusQuery.
type statusToken struct {
	value       int64
	incarnation uint64 // number of the run that gave it
}

func newIncarnations() *incarnations {
	return &incarnations{
		began: time.Now(), observed: make(map[string][]observation), reported: make(map[string]bool), tokens: make(map[string]statusToken),
	}
}

func (t *incarnations) now() time.Duration { return time.Since(t.began) }

// observe notes something of a run that was said no earlier than since, which is
// negative where that can't be told, and had been said by now. It reports
// whether it is news that there are two.
func (t *incarnations) observe(id string, r incarnation, since, now time.Duration) (news bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.observed[id]
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
		t.observed[id] = all
	}
	s := &all[at]
	s.heard, s.last = max(s.heard, now), max(s.last, since)
	two := t.hasDuplicateLocked(id, now)
	news = two && !t.reported[id]
	t.reported[id] = two
	return news
}

// hasDuplicateLocked is called with mu held.
func (t *incarnations) hasDuplicateLocked(id string, now time.Duration) bool {
	all := t.observed[id]
	for i := range all {
		if _, _, ok := t.duplicateLocked(id, all[i].incarnation, now); ok {
			return true
		}
	}
	return false
}

// duplicateLocked returns another run of a member that was seen beside r, and how long ago it
// was last heard from. It is called with mu held.
func (t *incarnations) duplicateLocked(id string, r incarnation, now time.Duration) (other incarnation, unseen time.Duration, ok bool) {
	all := t.observed[id]
	for i := range all {
		for j := range all {
			a, b := &all[i], &all[j]
			if a.incarnation == r && b.incarnation != r && a.overlaps(b) && now-a.heard < duplicateRetention && now-b.heard < duplicateRetention {
				return b.incarnation, now - b.heard, true
			}
		}
	}
	return incarnation{}, 0, false
}

// duplicateOf returns another run of a member that was seen beside r, and how long ago it was
// last heard from.
func (t *incarnations) duplicateOf(id string, r incarnation) (other incarnation, unseen time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.duplicateLocked(id, r, t.now())
}

// hasDuplicate reports whether a member was two in the last moments.
func (t *incarnations) hasDuplicate(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.hasDuplicateLocked(id, t.now())
}

// duplicateUnseen reports whether two processes ran as one member within duplicateRetention, and how
// long ago the one that is silent longest was last heard from.
func (t *incarnations) duplicateUnseen(id string) (unseen time.Duration, two bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for _, s := range t.observed[id] {
		if _, since, ok := t.duplicateLocked(id, s.incarnation, now); ok {
			unseen, two = max(unseen, since), true
		}
	}
	return unseen, two
}

func (t *incarnations) token(id string) statusToken {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tokens[id]
}

func (t *incarnations) setToken(id string, k statusToken) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tokens[id] = k
}
