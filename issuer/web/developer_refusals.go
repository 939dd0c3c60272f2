package web

import (
	"cmp"
	"container/list"
	"slices"
	"sync"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	maxRefusals       = 40    // causes of one client, at one place
	maxRefusedClients = 2_000 // clients at one place, those refused last
)

// Refusals are the last refusals of the clients that were refused last, in the
// memory of one node: they help whoever is at work on a client now. What is
// kept for long is in the error_id.
//
// Anybody can have a client refused whose id they know. So a cause takes one
// place however often it comes, of which there are more than a stranger can
// bring about; and what is sent by way of browsers, where nobody proves to be
// the client, pushes nothing out of what its programs were told.
type Refusals struct {
	mu       sync.Mutex // guards all below
	browsers refusedClients
	programs refusedClients
}

// A refusedClients has the refusals of one place by client.
type refusedClients struct {
	recent   *list.List // of *refused, the latest first
	byClient map[string]*list.Element
}

type refusedClient struct {
	client string
	list   []refusal // the one that came last at the end
}

// A refusal is all those of one cause.
type refusal struct {
	Cause   ledger.Cause
	Program bool        // it was an answer to a program, not to a person's browser
	At      ledger.Time // of the last one
	Scope   string      // what the last one was about: a scope; "" where that can't be told
	Times   int
}

// NewRefusals has none yet.
func NewRefusals() *Refusals {
	return &Refusals{browsers: newRefusedClients(), programs: newRefusedClients()}
}

func newRefusedClients() refusedClients {
	return refusedClients{recent: list.New(), byClient: map[string]*list.Element{}}
}

// Record keeps what a program was told in the name of a client that there is.
func (r *Refusals) Record(client string, cause ledger.Cause, at ledger.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.programs.record(client, refusal{Cause: cause, Program: true, At: at})
}

// recordBrowser keeps why the authorization step was refused.
func (r *Refusals) recordBrowser(client string, cause ledger.Cause, word string, at ledger.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.browsers.record(client, refusal{Cause: cause, Scope: word, At: at})
}

func (r *refusedClients) record(client string, one refusal) {
	e, known := r.byClient[client]
	if !known {
		e = r.recent.PushFront(&refusedClient{client: client})
		r.byClient[client] = e
		if r.recent.Len() > maxRefusedClients {
			oldest := r.recent.Back()
			delete(r.byClient, r.recent.Remove(oldest).(*refusedClient).client)
		}
	}
	r.recent.MoveToFront(e)
	e.Value.(*refusedClient).record(one)
}

func (r *refusedClient) record(one refusal) {
	same := func(o refusal) bool { return o.Cause == one.Cause }
	switch i := slices.IndexFunc(r.list, same); {
	case i >= 0:
		one.Times = r.list[i].Times
		r.list = slices.Delete(r.list, i, i+1)
	case len(r.list) == maxRefusals:
		r.list = slices.Delete(r.list, 0, 1)
	}
	one.Times++
	r.list = append(r.list, one)
}

// list are a client's, the newest first.
func (r *Refusals) list(client string) []refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := append(r.browsers.list(client), r.programs.list(client)...)
	slices.SortStableFunc(all, func(a, b refusal) int { return cmp.Compare(b.At, a.At) })
	return all
}

func (r *refusedClients) list(client string) []refusal {
	e, known := r.byClient[client]
	if !known {
		return nil
	}
	newest := slices.Clone(e.Value.(*refusedClient).list)
	slices.Reverse(newest)
	return newest
}
