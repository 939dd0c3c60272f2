package ledger

import (
	"cmp"
	"encoding/hex"
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// MaxSessionsPerUser is the number of sessions that a user may have. It prevents a program
// that signs in repeatedly from filling the state.
const MaxSessionsPerUser = 100

// surplusSessions returns the sessions that end when a new one begins, those that were seen
// least recently: at most MaxSessionsPerUser, so that the command stays small. The replaced
// session is not counted; it ends in any case.
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

// maxSessionsScanned bounds the walk over one user's sessions.
const maxSessionsScanned = 1000

// SessionsOf returns the live sessions of a user, the most recently seen first, at most
// limit. If the user has more than maxSessionsScanned, some may be missing.
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

// Handle identifies s in a form. It is the digest of the session id and can't be used to
// sign in.
func (s *Session) Handle() string { return hex.EncodeToString(s.ID[:]) }

// SessionOf parses the result of Handle.
func SessionOf(handle string) (id [32]byte, ok bool) {
	if hex.DecodedLen(len(handle)) != len(id) {
		return id, false
	}
	_, err := hex.Decode(id[:], []byte(handle))
	return id, err == nil
}

// EndSession ends another session of the actor.
type EndSession struct {
	Actor   Actor    `cbor:"1,keyasint"`
	Session [32]byte `cbor:"2,keyasint"` // id of the session to end
}

// Kind implements command.Command.
func (*EndSession) Kind() command.Kind { return KindEndSession }

// Decide also accepts a session that has ended already.
func (c *EndSession) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	s := v.Session(c.Session)
	if s == nil && m.Again { // it may have been the actor's own
		return accept(Outcome{})
	}
	who, cause := v.identify(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	switch {
	case s == nil:
		return accept(Outcome{ID: who.name()})
	case !who.owns(s.User):
		return deny(NotFound)
	}
	return accept(Outcome{ID: s.User}, remove(TableSessions, s),
		event(m, Event{Kind: EventSignedOut, Actor: who.name(), User: s.User}))
}
