package ledger

import (
	"bytes"
	"slices"
)

// restored is a state that effects are applied to without writing: rows that
// changed are kept aside until all are applied.
type restored struct {
	v View
	m Meta

	users    aside[string, User]
	clients  aside[string, Client]
	grants   aside[GrantID, Grant]
	sessions aside[[32]byte, Session]
	ring     []*Key // all keys

	tooLate bool // the ring has a key that stands in the way of one of the records
}

func newRestored(v View, m Meta) *restored {
	return &restored{
		v: v, m: m,
		users:    aside[string, User]{read: v.User, rows: map[string]*User{}},
		clients:  aside[string, Client]{read: v.Client, rows: map[string]*Client{}},
		grants:   aside[GrantID, Grant]{read: v.Grant, rows: map[GrantID]*Grant{}},
		sessions: aside[[32]byte, Session]{read: v.Session, rows: map[[32]byte]*Session{}},
		ring:     slices.Collect(v.Keys()),
	}
}

// aside has rows over those of a view, in the order in which they changed.
type aside[K comparable, R any] struct {
	read  func(K) *R
	rows  map[K]*R // nil: deleted
	order []K
}

func (a *aside[K, R]) get(id K) *R {
	if row, ok := a.rows[id]; ok {
		return row
	}
	return a.read(id)
}

func (a *aside[K, R]) put(id K, row *R) {
	if _, ok := a.rows[id]; !ok {
		a.order = append(a.order, id)
	}
	a.rows[id] = row
}

func (a *aside[K, R]) changes(to []Change, table string) []Change {
	for _, id := range a.order {
		if row := a.rows[id]; row != nil {
			to = append(to, put(table, row))
		} else {
			to = append(to, remove(table, a.read(id)))
		}
	}
	return to
}

// changes are those of all effects that were applied.
func (s *restored) changes() []Change {
	list := s.users.changes(nil, TableUsers)
	list = s.clients.changes(list, TableClients)
	list = s.grants.changes(list, TableGrants)
	list = s.sessions.changes(list, TableSessions)
	for k := range s.v.Keys() {
		if s.key(k.ID) < 0 {
			list = append(list, remove(TableKeys, k))
		}
	}
	for _, k := range s.ring {
		if s.v.Key(k.ID) != k {
			list = append(list, put(TableKeys, k))
		}
	}
	return list
}

// apply reports whether e changed something: not, where the state does not
// have what e is about, or is so already.
func (s *restored) apply(e *Effect, at Time) bool {
	switch e.Kind {
	case EffectGrantEnded:
		g := s.grants.get(e.Grant)
		if g == nil || g.Ended != 0 {
			return false
		}
		next := g.ends(e.Cause, s.m)
		next.Ended = at
		s.grants.put(g.ID, next)
		return true
	case EffectSignedOut:
		if s.sessions.get(e.Session) == nil {
			return false
		}
		s.sessions.put(e.Session, nil)
		return true
	case EffectKeyAdded, EffectKeyActivated, EffectKeyDropped, EffectResealed:
		return s.applyKey(e, at)
	case EffectClientState, EffectClientDeleted, EffectClientNarrowed, EffectScopesSelected, EffectSecretRevoked, EffectSecretAdded, EffectClientMoved:
		return s.applyClient(e, at)
	}
	return s.applyUser(e)
}

func (s *restored) applyUser(e *Effect) bool {
	u := s.person(e)
	if u == nil || u.Deleted {
		return false
	}
	next := u.changed(s.m)
	switch e.Kind {
	case EffectDisconnected:
		if !s.v.connected(u, e.Client) {
			return false
		}
		next.disconnect(e.Client, s.m)
	case EffectLegacyEnded:
		born := e.bornUpTo(s.m.Seq)
		if !s.v.hasGrant(u, func(g *Grant) bool { return g.Client == e.Client && g.Legacy && g.Born <= born }) {
			return false
		}
		cut := u.cut(e.Client)
		cut.Legacy = max(cut.Legacy, born)
		next.setCut(cut)
	case EffectSignedOutAll:
		next.SessionsCut = s.m.Seq
	case EffectPassword:
		next.Password, next.SessionsCut = e.Password, s.m.Seq
	case EffectUserDisabled:
		if u.Disabled {
			return false
		}
		next.disable(s.m)
	case EffectUserEnabled:
		next.Disabled = false
		if !u.Disabled {
			return false
		}
	case EffectUserDeleted:
		next.tombstone(s.m)
	case EffectAdminGiven, EffectAdminTaken:
		next.Admin = e.Kind == EffectAdminGiven
		if next.Admin == u.Admin {
			return false
		}
	}
	s.users.put(u.ID, next)
	return true
}

// person is the user whom an effect is about. Somebody who signs in elsewhere may
// have another row since the restore, or none: then a row keeps out whom it says.
func (s *restored) person(e *Effect) *User {
	u := s.users.get(e.User)
	if u != nil || len(e.Identity) == 0 {
		return u
	}
	name := e.User
	for _, id := range s.users.order {
		switch other := s.users.get(id); {
		case bytes.Equal(other.identity(), e.Identity):
			return other
		case fold(other.Username) == fold(name):
			name = ""
		}
	}
	if u := s.v.userOf(e.Identity); u != nil {
		return s.users.get(u.ID)
	}
	if e.Kind != EffectUserDisabled && e.Kind != EffectUserDeleted {
		return nil
	}
	if s.v.UserByName(name) != nil {
		name = ""
	}
	return &User{ID: e.User, Username: name, Was: e.Identity, Created: s.m.At}
}
