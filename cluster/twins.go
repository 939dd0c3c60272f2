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

// A run is one process of a node.
type run struct {
	Started int64  `cbor:"1,keyasint"` // by its clock, ms; it only orders twins
	Number  uint64 `cbor:"2,keyasint"` // random
}

func (r run) compare(other run) int {
	return cmp.Or(cmp.Compare(r.Started, other.Started), cmp.Compare(r.Number, other.Number))
}

// statusQuery is the body of opStatus.
type statusQuery struct {
	Run run `cbor:"1,keyasint"`
	// Ticket is the last that this node had of the run Of of the one that is
	// asked: it shows that this question was not asked before that was given.
	Ticket int64  `cbor:"2,keyasint,omitempty"`
	Of     uint64 `cbor:"3,keyasint,omitempty"`
	// Ends is why the node that asks is about to end, see reportEnd.
	Ends string `cbor:"4,keyasint,omitempty"`
}

// sighting is what shows that a run was there. It ran from first to last for
// sure, if that is not before first: what it said had been said at first, and was
// said no earlier than last. Messages may lie around in between.
type sighting struct {
	run         run
	first, last time.Duration
	heard       time.Duration // when something of it came in
}

// with reports whether two runs were there at the same time. One after the other,
// as a node that starts again, never were.
func (s *sighting) with(o *sighting) bool {
	return max(s.first, o.first) <= min(s.last, o.last)
}

// twinMemory is how long a twin that says nothing more is spoken of.
const twinMemory = 15 * time.Second

// twinSilence is longer than the time between two sightings of a twin that runs.
const twinSilence = 3 * guardInterval

// maxSightings bounds the runs of one member that are remembered.
const maxSightings = 4

// twins are the runs of the other members, by id.
type twins struct {
	began time.Time // what the times of sightings count from

	mu   sync.Mutex // guards the rest
	seen map[string][]sighting
	said map[string]bool   // operators were told of two
	had  map[string]ticket // the last of each member
}

// ticket is what a member gives whoever asks it; see statusQuery.
type ticket struct {
	given int64
	of    uint64 // number of the run that gave it
}

func newTwins() *twins {
	return &twins{
		began: time.Now(), seen: make(map[string][]sighting), said: make(map[string]bool), had: make(map[string]ticket),
	}
}

func (t *twins) now() time.Duration { return time.Since(t.began) }

// saw notes something of a run that was said no earlier than since, which is
// negative where that can't be told, and had been said by now. It reports
// whether it is news that there are two.
func (t *twins) saw(id string, r run, since, now time.Duration) (news bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.seen[id]
	at := -1
	for i := range all {
		if all[i].run == r {
			at = i
		}
	}
	if at < 0 {
		if len(all) == maxSightings {
			all = append(all[:0:0], all[1:]...)
		}
		all, at = append(all, sighting{run: r, first: now, last: -1}), len(all)
		t.seen[id] = all
	}
	s := &all[at]
	s.heard, s.last = max(s.heard, now), max(s.last, since)
	two := t.two(id, now)
	news = two && !t.said[id]
	t.said[id] = two
	return news
}

// two is called with mu held.
func (t *twins) two(id string, now time.Duration) bool {
	all := t.seen[id]
	for i := range all {
		if _, _, ok := t.other(id, all[i].run, now); ok {
			return true
		}
	}
	return false
}

// other returns another run of a member that was seen beside r, and how long ago it
// was last heard from. It is called with mu held.
func (t *twins) other(id string, r run, now time.Duration) (other run, unseen time.Duration, ok bool) {
	all := t.seen[id]
	for i := range all {
		for j := range all {
			a, b := &all[i], &all[j]
			if a.run == r && b.run != r && a.with(b) && now-a.heard < twinMemory && now-b.heard < twinMemory {
				return b.run, now - b.heard, true
			}
		}
	}
	return run{}, 0, false
}

// of returns another run of a member that was seen beside r, and how long ago it was
// last heard from.
func (t *twins) of(id string, r run) (other run, unseen time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.other(id, r, t.now())
}

// are reports whether a member was two in the last moments.
func (t *twins) are(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.two(id, t.now())
}

// apart reports whether two processes ran as one member within twinMemory, and how
// long ago the one that is silent longest was last heard from.
func (t *twins) apart(id string) (unseen time.Duration, two bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for _, s := range t.seen[id] {
		if _, since, ok := t.other(id, s.run, now); ok {
			unseen, two = max(unseen, since), true
		}
	}
	return unseen, two
}

func (t *twins) ticketOf(id string) ticket {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.had[id]
}

func (t *twins) keepTicket(id string, k ticket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.had[id] = k
}
