package web

import (
	"container/list"
	"slices"
	"sync"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	refusalsKept = 20    // of one client
	refusedKept  = 2_000 // clients, those refused last
)

// Refusals are the last refusals of the clients that were refused last, in the
// memory of one node: they help whoever is at work on a client now. What is
// kept for long is in the error_id.
type Refusals struct {
	mu       sync.Mutex // guards all below
	recent   *list.List // of *refused, the latest first
	byClient map[string]*list.Element
}

type refused struct {
	client string
	list   []refusal // the oldest first
}

// A refusal is one, or several of one cause in a row.
type refusal struct {
	Cause ledger.Cause
	At    ledger.Time // of the last one
	Times int
}

// NewRefusals has none yet.
func NewRefusals() *Refusals {
	return &Refusals{recent: list.New(), byClient: map[string]*list.Element{}}
}

// Note keeps a refusal of a client that there is.
func (r *Refusals) Note(client string, cause ledger.Cause, at ledger.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, known := r.byClient[client]
	if !known {
		e = r.recent.PushFront(&refused{client: client})
		r.byClient[client] = e
		if r.recent.Len() > refusedKept {
			oldest := r.recent.Back()
			delete(r.byClient, r.recent.Remove(oldest).(*refused).client)
		}
	}
	r.recent.MoveToFront(e)
	e.Value.(*refused).note(cause, at)
}

func (r *refused) note(cause ledger.Cause, at ledger.Time) {
	if n := len(r.list); n > 0 && r.list[n-1].Cause == cause {
		r.list[n-1].Times++
		r.list[n-1].At = at
		return
	}
	if len(r.list) == refusalsKept {
		r.list = slices.Delete(r.list, 0, 1)
	}
	r.list = append(r.list, refusal{Cause: cause, At: at, Times: 1})
}

// of are a client's, the newest first.
func (r *Refusals) of(client string) []refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, known := r.byClient[client]
	if !known {
		return nil
	}
	newest := slices.Clone(e.Value.(*refused).list)
	slices.Reverse(newest)
	return newest
}
