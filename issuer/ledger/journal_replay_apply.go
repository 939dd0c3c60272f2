package ledger

import (
	"bytes"
	"slices"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// replayState is a state that effects are applied to without writing: changed rows are
// collected until all effects are applied.
type replayState struct {
	v View
	m command.Meta

	users      overlay[string, User]
	clients    overlay[string, Client]
	grants     overlay[GrantID, Grant]
	sessions   overlay[[32]byte, Session]
	resources  overlay[string, ResourceServer]
	publishers overlay[string, Publisher]
	tokens     overlay[string, OperatorToken]
	keyring    []*Key // all keys

	tooLate bool // the keyring has a key that conflicts with one of the records
}

func newReplayState(v View, m command.Meta) *replayState {
	return &replayState{
		v: v, m: m,
		users:      overlay[string, User]{read: v.User, rows: map[string]*User{}},
		clients:    overlay[string, Client]{read: v.Client, rows: map[string]*Client{}},
		grants:     overlay[GrantID, Grant]{read: v.Grant, rows: map[GrantID]*Grant{}},
		sessions:   overlay[[32]byte, Session]{read: v.Session, rows: map[[32]byte]*Session{}},
		resources:  overlay[string, ResourceServer]{read: v.ResourceServer, rows: map[string]*ResourceServer{}},
		publishers: overlay[string, Publisher]{read: v.Publisher, rows: map[string]*Publisher{}},
		tokens:     overlay[string, OperatorToken]{read: v.OperatorToken, rows: map[string]*OperatorToken{}},
		keyring:    slices.Collect(v.Keys()),
	}
}

// An overlay has changed rows on top of those of a view, in the order of the changes.
type overlay[K comparable, R any] struct {
	read  func(K) *R
	rows  map[K]*R // nil means deleted
	order []K
}

func (a *overlay[K, R]) get(id K) *R {
	if row, ok := a.rows[id]; ok {
		return row
	}
	return a.read(id)
}

func (a *overlay[K, R]) put(id K, row *R) {
	if _, ok := a.rows[id]; !ok {
		a.order = append(a.order, id)
	}
	a.rows[id] = row
}

func (a *overlay[K, R]) changes(to []command.Change, table string) []command.Change {
	for _, id := range a.order {
		if row := a.rows[id]; row != nil {
			to = append(to, put(table, row))
		} else {
			to = append(to, remove(table, a.read(id)))
		}
	}
	return to
}

// changes returns the changes of all applied effects.
func (s *replayState) changes() []command.Change {
	list := s.users.changes(nil, TableUsers)
	list = s.clients.changes(list, TableClients)
	for _, id := range s.clients.order {
		if s.clients.rows[id].State == Deleted {
			list = append(list, s.v.withoutUsage(id)...)
		}
	}
	list = s.grants.changes(list, TableGrants)
	list = s.sessions.changes(list, TableSessions)
	list = s.tokens.changes(list, TableOperatorTokens)
	list = s.resources.changes(list, TableResourceServers)
	list = s.publishers.changes(list, TablePublishers)
	for k := range s.v.Keys() {
		if s.keyIndex(k.ID) < 0 {
			list = append(list, remove(TableKeys, k))
		}
	}
	for _, k := range s.keyring {
		if s.v.Key(k.ID) != k {
			list = append(list, put(TableKeys, k))
		}
	}
	return list
}

// apply applies e and reports whether it changed something. It changes nothing if the
// state lacks the row, or if the row has the effect already.
func (s *replayState) apply(e *Effect, at Time) bool {
	switch e.Kind {
	case EffectGrantEnded:
		g := s.grants.get(e.Grant)
		if g == nil || g.Ended != 0 {
			return false
		}
		next := g.withEnd(e.Cause, s.m)
		next.Ended = at
		s.grants.put(g.ID, next)
		return true
	case EffectSignedOut:
		if s.sessions.get(e.Session) == nil {
			return false
		}
		s.sessions.put(e.Session, nil)
		return true
	case EffectOperatorTokenRevoked:
		t := s.tokens.get(e.ID)
		if t == nil || t.Revoked != 0 {
			return false
		}
		s.tokens.put(t.ID, t.revoked(at, s.m))
		return true
	case EffectKeyAdded, EffectKeyActivated, EffectKeyDropped, EffectRewrapped:
		return s.applyKey(e, at)
	case EffectClientState, EffectClientDeleted, EffectClientNarrowed, EffectScopesSelected, EffectSecretRevoked, EffectSecretAdded, EffectSecretEnds, EffectClientTransferred, EffectClientRevoked:
		return s.applyClient(e, at)
	case EffectResourceSecretRevoked, EffectResourceSecretAdded, EffectResourceRemoved, EffectResourceNarrowed:
		return s.applyResource(e, at)
	case EffectPublisherRejected, EffectPublisherRemoved, EffectPublisherNarrowed:
		return s.applyPublisher(e)
	}
	return s.applyUser(e, at)
}

func (s *replayState) applyUser(e *Effect, at Time) bool {
	u := s.affectedUser(e)
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
		born := e.revokedBefore(s.m.Seq)
		if !s.v.hasGrant(u, func(g *Grant) bool { return g.Client == e.Client && g.Legacy && g.CreatedSeq <= born }) {
			return false
		}
		revoked := u.revokedBefore(e.Client)
		revoked.Legacy = max(revoked.Legacy, born)
		next.setRevokedBefore(revoked)
	case EffectSignedOutAll:
		next.SessionsRevokedBefore = s.m.Seq
	case EffectPassword:
		next.setPassword(e.Password, e.PasswordCost)
		next.SessionsRevokedBefore = s.m.Seq
	case EffectFeedSet:
		if u.FeedDigest == e.Feed {
			return false
		}
		next.setFeed(e.Feed, at)
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
	case EffectAdminGranted, EffectAdminRevoked:
		next.Admin = e.Kind == EffectAdminGranted
		if next.Admin == u.Admin {
			return false
		}
	}
	s.users.put(u.ID, next)
	return true
}

// affectedUser returns the user whom an effect concerns. A user of an upstream provider
// may have another row since the restore. If there is no row, it returns a new one for
// EffectUserDisabled and EffectUserDeleted, so that they apply when the person signs in,
// and otherwise nil.
func (s *replayState) affectedUser(e *Effect) *User {
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
	return &User{ID: e.User, Username: name, FormerIdentity: e.Identity, Created: stateTime(s.m)}
}
