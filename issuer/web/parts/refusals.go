package parts

import (
	"cmp"
	"container/list"
	"slices"
	"sync"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

const (
	maxRefusals       = 40    // causes of one client at one place
	maxRefusedClients = 2_000 // clients at one place, those refused last
)

// Refusals has the latest refusals of recently refused clients, in the memory of one
// node. They help a developer who is working on a client. Error ids serve later questions; the
// latest refusal with each cause is listed with its own.
//
// Anybody can cause refusals of a client whose id they know. So each cause has one entry,
// however often it occurs, and there is room for more causes than an unauthenticated
// sender can cause; and refusals in browsers, where nobody authenticates as the client,
// don't displace those of the client's programs.
type Refusals struct {
	// Count is called for each refusal in a browser, with the id of the client. It may be nil.
	Count func(client string)

	mu       sync.Mutex // guards the fields below
	browsers refusedClients
	programs refusedClients
}

// refusedClients has the refusals at one place, by client.
type refusedClients struct {
	recent   *list.List // of *refused, the most recent first
	byClient map[string]*list.Element
}

type refusedClient struct {
	client string
	list   []Refusal // the most recent at the end
}

// A Refusal counts the refusals with one cause.
type Refusal struct {
	Cause   ledger.Cause
	Code    oauth.Code  // of the response to the latest; "" if the application got none
	Program bool        // the response went to a program, not to a browser
	At      ledger.Time // of the latest
	ErrorID string      // of the latest; "" if none was made
	Word    string      // the scope or redirect URI that the latest concerns, as a stranger may have sent it; "" if unknown
	Times   int
	Since   ledger.Time // of the first that Times counts
}

// NewRefusals returns an empty Refusals.
func NewRefusals() *Refusals {
	return &Refusals{browsers: newRefusedClients(), programs: newRefusedClients()}
}

func newRefusedClients() refusedClients {
	return refusedClients{recent: list.New(), byClient: map[string]*list.Element{}}
}

// Record records a refusal at an endpoint for programs, for an existing client.
func (r *Refusals) Record(client string, code oauth.Code, cause ledger.Cause, errorID string, at ledger.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.programs.record(client, Refusal{Cause: cause, Code: code, Program: true, ErrorID: errorID, At: at})
}

// RecordBrowser records why the authorization step was refused.
func (r *Refusals) RecordBrowser(client string, code oauth.Code, cause ledger.Cause, errorID, word string, at ledger.Time) {
	if r.Count != nil {
		r.Count(client)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.browsers.record(client, Refusal{Cause: cause, Code: code, ErrorID: errorID, Word: word, At: at})
}

func (r *refusedClients) record(client string, one Refusal) {
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

func (r *refusedClient) record(one Refusal) {
	one.Since = one.At
	same := func(o Refusal) bool { return o.Cause == one.Cause }
	switch i := slices.IndexFunc(r.list, same); {
	case i >= 0:
		one.Times, one.Since = r.list[i].Times, r.list[i].Since
		r.list = slices.Delete(r.list, i, i+1)
	case len(r.list) == maxRefusals:
		r.list = slices.Delete(r.list, 0, 1)
	}
	one.Times++
	r.list = append(r.list, one)
}

// List returns the refusals of a client, newest first.
func (r *Refusals) List(client string) []Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := append(r.browsers.list(client), r.programs.list(client)...)
	slices.SortStableFunc(all, func(a, b Refusal) int { return cmp.Compare(b.At, a.At) })
	return all
}

func (r *refusedClients) list(client string) []Refusal {
	e, known := r.byClient[client]
	if !known {
		return nil
	}
	newest := slices.Clone(e.Value.(*refusedClient).list)
	slices.Reverse(newest)
	return newest
}
