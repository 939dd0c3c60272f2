package integrity

import (
	"sort"

	"github.com/hashicorp/raft"
)

// A Position is one entry's place in raft's log.
// A term of 0 is not known.
type Position struct{ Index, Term uint64 }

// lastOfTerm returns the last entry of a term in this node's log, or the zero
// position if there is none.
func (f *Folder) lastOfTerm(term uint64) Position {
	first, err := f.Store.Logs.FirstIndex()
	last, lastErr := f.Store.Logs.LastIndex()
	if term == 0 || err != nil || lastErr != nil || first == 0 || last < first {
		return Position{}
	}
	later := sort.Search(int(last-first)+1, func(i int) bool { return f.termAt(first+uint64(i)) > term })
	if i := first + uint64(later) - 1; later > 0 && f.termAt(i) == term {
		return Position{i, term}
	}
	return Position{}
}

// termAt returns the term of an entry of this node's log, or 0 if the log does not
// have the entry.
func (f *Folder) termAt(index uint64) uint64 {
	var l raft.Log
	if f.Store.Logs.GetLog(index, &l) != nil {
		return 0
	}
	return l.Term
}

// HasEntry reports whether this node lacks nothing that was committed up to p. It
// has the entry in its log or covered by a snapshot, or its log has an entry of a
// later term: the leader of that term had all that was committed before it, and a
// leader replaces only entries that are not committed.
func (f *Folder) HasEntry(p Position) bool {
	if p.Index <= f.Marker.Get().Index {
		return true
	}
	if term := f.termAt(p.Index); term > 0 {
		return term >= p.Term
	}
	if last, err := f.Store.Logs.LastIndex(); err == nil && p.Term > 0 && f.termAt(last) > p.Term {
		return true
	}
	return p.Index <= f.lastSnapshot()
}

func (f *Folder) lastSnapshot() uint64 {
	taken, err := f.Snapshots.List() // the newest first
	if err != nil || len(taken) == 0 {
		return 0
	}
	return taken[0].Index
}

// LastEntry returns the index of the last entry that this node has, in its log or
// in a snapshot. It is used in messages only.
func (f *Folder) LastEntry() uint64 {
	last, _ := f.Store.Logs.LastIndex()
	return max(last, f.Marker.Get().Index, f.lastSnapshot())
}
