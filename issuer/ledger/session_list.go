package ledger

import (
	"cmp"
	"encoding/hex"
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// MaxSessionsPerUser is how many sessions a user may have. No person has so many
// browsers; a program that signs in again and again would fill the state.
const MaxSessionsPerUser = 100

// surplusSessions are those that end as another one begins, the ones seen longest
// ago: at most MaxSessionsPerUser of them, so that a command stays small. What is
// replaced ends in any case.
func (v View) surplusSessions(user string, replaced [32]byte) []*Session {
	var all []*Session
	for s := range rows[Session](v, TableSessions, "user", user) {
		if s.ID != replaced {
			all = append(all, s)
		}
	}
	surplus := len(all) + 1 - MaxSessionsPerUser
	if surplus <= 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b *Session) int {
		return cmp.Or(cmp.Compare(a.Seen, b.Seen), cmp.Compare(a.CreatedSeq, b.CreatedSeq))
	})
	return all[:min(surplus, MaxSessionsPerUser)]
}

// maxSessionsScanned bounds the walk over one user's sessions. No person has so
// many browsers; a program that signs in again and again might.
const maxSessionsScanned = 1000

// SessionsOf are the live sessions of a user, at most limit of them, the one
// seen last first. Of a user with very many it may miss some.
func (v View) SessionsOf(user string, at Time, limit int) []*Session {
	var live []*Session
	looked := 0
	for s := range rows[Session](v, TableSessions, "user", user) {
		if looked++; looked > maxSessionsScanned {
			break
		}
		if u, _ := v.SignedIn(s.ID, at); u != nil {
			live = append(live, s)
		}
	}
	slices.SortFunc(live, func(a, b *Session) int {
		return cmp.Or(cmp.Compare(b.Seen, a.Seen), cmp.Compare(b.CreatedSeq, a.CreatedSeq))
	})
	return live[:min(len(live), limit)]
}

// Handle names s in a form. It is the digest that the state has: it lets nobody
// in.
func (s *Session) Handle() string { return hex.EncodeToString(s.ID[:]) }

// SessionOf reads what Handle wrote.
func SessionOf(handle string) (id [32]byte, ok bool) {
	if hex.DecodedLen(len(handle)) != len(id) {
		return id, false
	}
	n, err := hex.Decode(id[:], []byte(handle))
	return id, err == nil && n == len(id)
}

// EndSession signs another of the actor's browsers out.
type EndSession struct {
	Actor   Actor    `cbor:"1,keyasint"`
	Session [32]byte `cbor:"2,keyasint"` // the one to end
}

// Kind is KindEndSession.
func (*EndSession) Kind() command.Kind { return KindEndSession }

// Decide accepts a session that is gone: what was asked for is so.
func (c *EndSession) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identify(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	s := v.Session(c.Session)
	switch {
	case s == nil:
		return accept(Outcome{ID: who.name()})
	case !who.owns(s.User):
		return deny(NotFound)
	}
	return accept(Outcome{ID: s.User}, remove(TableSessions, s),
		event(m, Event{Kind: EventSignedOut, Actor: who.name(), User: s.User}))
}
