package ledger

import (
	"strings"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// A Session is one signed-in browser. The row has the digest of the session id, so a
// snapshot contains no usable session.
type Session struct {
	ID         [32]byte   `cbor:"1,keyasint"` // SHA-256 of the session id
	User       string     `cbor:"2,keyasint"`
	CreatedSeq uint64     `cbor:"3,keyasint"`
	Created    Time       `cbor:"4,keyasint"`
	Seen       Time       `cbor:"5,keyasint"` // last use, with the resolution of touchEvery
	Agent      string     `cbor:"6,keyasint,omitempty"`
	Last       command.ID `cbor:"7,keyasint"`
	// Authenticated is when the user last authenticated, by signing in or by a
	// Reauthenticate.
	Authenticated Time `cbor:"8,keyasint"`
}

// touchEvery is the resolution of Session.Seen: a session in constant use costs one small
// command in this time, not one for each page.
const touchEvery = 10 * minute

// SignedIn returns the user and the session if the session is live, and otherwise nil.
func (v View) SignedIn(id [32]byte, at Time) (*User, *Session) {
	s := v.Session(id)
	if s == nil {
		return nil, nil
	}
	set := v.Settings()
	if at >= s.Created.Add(set.SessionAbsolute) {
		return nil, nil
	}
	// As for grants, idle time is counted from a restore.
	if at >= s.Seen.Add(set.SessionIdle) && at >= max(s.Seen, v.restoredAt(s.CreatedSeq)).Add(set.SessionIdle) {
		return nil, nil
	}
	u := v.User(s.User)
	if u.inactiveCause() != NoCause || s.CreatedSeq <= u.SessionsRevokedBefore {
		return nil, nil
	}
	return u, s
}

// StaleSeen reports whether a TouchSession is due.
func (s *Session) StaleSeen(at Time) bool { return at >= s.Seen+touchEvery }

// An Actor identifies the sender of a command. Every command looks the session up again, so
// a page that was rendered before its user lost a right has no effect.
type Actor struct {
	Session  [32]byte `cbor:"1,keyasint,omitempty"`
	Operator bool     `cbor:"2,keyasint,omitempty"` // an operator on a node's machine or a remote one, or the server itself
	// Token is the id of the OperatorToken, and Certificate the name in the certificate, of
	// an operator who came over the network. At most one of them is set.
	Token       string `cbor:"3,keyasint,omitempty"`
	Certificate string `cbor:"4,keyasint,omitempty"`
}

// orOperator returns a, or the local operator for the zero Actor, in commands that only
// operators send.
func (a Actor) orOperator() Actor {
	if a == (Actor{}) {
		a.Operator = true
	}
	return a
}

// Name returns what Event.Actor has for an operator on another machine, and "" for others.
func (a Actor) Name(v View) string {
	if t := v.OperatorToken(a.Token); t != nil {
		return tokenActor + t.Name
	}
	if a.Certificate != "" {
		return certificateActor + a.Certificate
	}
	return ""
}

// RemoteOperator reports whether an Event.Actor is an operator on another machine.
func RemoteOperator(actor string) bool {
	return strings.HasPrefix(actor, tokenActor) || strings.HasPrefix(actor, certificateActor)
}

// A caller is an actor whose session and user have been looked up.
type caller struct {
	user     *User    // nil for an operator
	session  *Session // nil for an operator
	operator bool
	remote   string // who the operator is, if the command came over the network
}

func (v View) identify(a Actor, m command.Meta) (caller, Cause) {
	if a.Operator {
		return v.identifyOperator(a, m)
	}
	u, s := v.SignedIn(a.Session, stateTime(m))
	if u == nil {
		return caller{}, NotSignedIn
	}
	return caller{user: u, session: s}, NoCause
}

// identifyOperator is identify for commands of operators only. A token must still be valid,
// so that nothing is accepted after its revocation.
func (v View) identifyOperator(a Actor, m command.Meta) (caller, Cause) {
	who := caller{operator: true}
	switch {
	case !a.Operator:
		return caller{}, NotAllowed
	case a.Token != "":
		if cause := v.OperatorTokenCause(v.OperatorToken(a.Token), stateTime(m)); cause != NoCause {
			return caller{}, cause
		}
	case a.Certificate != "" && !ValidOperatorName(a.Certificate):
		return caller{}, OperatorCertificateRefused
	}
	who.remote = a.Name(v)
	return who, NoCause
}

// identifyAdministrator is identify for commands of administrators and operators only.
func (v View) identifyAdministrator(a Actor, m command.Meta) (caller, Cause) {
	who, cause := v.identify(a, m)
	if cause == NoCause && !who.administrator() {
		cause = NotAllowed
	}
	return who, cause
}

func (i caller) administrator() bool { return i.operator || i.user.Admin }

// owns reports whether i may manage what a user owns.
func (i caller) owns(owner string) bool { return i.operator || i.user.ID == owner }

// isUser reports whether i is the user with an id.
func (i caller) isUser(user string) bool { return !i.operator && i.user.ID == user }

// remoteChangeOf reports whether i is an operator on another machine who changes an
// administrator, or makes one. Only operators at a node's own machine may: an administrator
// has rights that no scope of a remote operator includes. old is nil for a new user; admin is
// the role after the change.
func (i caller) remoteChangeOf(old *User, admin bool) bool {
	return i.remote != "" && (admin || old != nil && old.Admin)
}

func (i caller) name() string {
	switch {
	case i.remote != "":
		return i.remote
	case i.operator:
		return Operator
	}
	return i.user.ID
}

// SignIn creates a session for a user whose password was verified against the hash that
// VerifiedHash is the digest of. Verifying is slow by design, so it is done before; Decide
// checks that the user still has that hash.
type SignIn struct {
	Session      [32]byte `cbor:"1,keyasint"`
	User         string   `cbor:"2,keyasint"`
	VerifiedHash [32]byte `cbor:"3,keyasint"` // SHA-256 of User.Password
	Agent        string   `cbor:"4,keyasint,omitempty"`
	// Replaces is the browser's previous session, which ends: each sign-in has a new
	// session id.
	Replaces [32]byte `cbor:"5,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*SignIn) Kind() command.Kind { return KindSignIn }

// Decide refuses a user who was deleted or disabled, or whose password has changed.
func (c *SignIn) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	u := v.User(c.User)
	if cause := u.inactiveCause(); cause != NoCause {
		return deny(cause)
	}
	if u.Password == "" || digest(u.Password) != c.VerifiedHash {
		return deny(PasswordChanged)
	}
	if s := v.Session(c.Session); s != nil {
		if s.Last == m.ID {
			return accept(Outcome{ID: u.ID})
		}
		return deny(AlreadyExists)
	}
	s := &Session{ID: c.Session, User: u.ID, Agent: clip(c.Agent, 200), Authenticated: stateTime(m)}
	return accept(Outcome{ID: u.ID}, v.beginSession(s, c.Replaces, Event{Kind: EventSignedIn}, m)...)
}

// beginSession returns the changes that sign s.User in and end the browser's previous
// session.
func (v View) beginSession(s *Session, replaces [32]byte, e Event, m command.Meta) []command.Change {
	s.CreatedSeq, s.Created, s.Seen, s.Last = m.Seq, stateTime(m), stateTime(m), m.ID
	e.Actor, e.User = s.User, s.User
	changes := []command.Change{put(TableSessions, s), event(m, e)}
	if old := v.Session(replaces); old != nil {
		changes = append(changes, remove(TableSessions, old))
	}
	for _, old := range v.surplusSessions(s.User, replaces) {
		changes = append(changes, remove(TableSessions, old))
	}
	return changes
}

// TouchSession updates Session.Seen, which postpones the idle timeout.
type TouchSession struct {
	Session [32]byte `cbor:"1,keyasint"`
}

// Kind implements command.Command.
func (*TouchSession) Kind() command.Kind { return KindTouchSession }

// Decide changes nothing for a session that has ended or was seen recently.
func (c *TouchSession) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	u, s := v.SignedIn(c.Session, stateTime(m))
	if u == nil {
		return deny(NotSignedIn)
	}
	if !s.StaleSeen(stateTime(m)) {
		return accept(Outcome{ID: u.ID})
	}
	next := *s
	next.Seen, next.Last = stateTime(m), m.ID
	return accept(Outcome{ID: u.ID}, put(TableSessions, &next))
}

// SignOut ends a session or, with Everywhere, all sessions of its user.
type SignOut struct {
	Session    [32]byte `cbor:"1,keyasint"`
	Everywhere bool     `cbor:"2,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*SignOut) Kind() command.Kind { return KindSignOut }

// Decide also accepts a session that has ended already.
func (c *SignOut) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	s := v.Session(c.Session)
	if s == nil {
		return accept(Outcome{})
	}
	changes := []command.Change{remove(TableSessions, s)}
	if u, _ := v.SignedIn(c.Session, stateTime(m)); u != nil && c.Everywhere {
		next := u.changed(m)
		next.SessionsRevokedBefore = m.Seq
		changes = append(changes, put(TableUsers, next))
	}
	changes = append(changes, event(m, Event{Kind: EventSignedOut, Actor: s.User, User: s.User}))
	return accept(Outcome{ID: s.User}, changes...)
}
