package ledger

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// A UserState is an action of SetUserState.
type UserState string

// Actions on an account.
const (
	Enable     UserState = "enable"
	Disable    UserState = "disable"
	DeleteUser UserState = "delete"
	Promote    UserState = "promote" // to administrator
	Demote     UserState = "demote"  // to an ordinary user
	// SignOutUser ends all sessions. The password and the grants stay.
	SignOutUser UserState = "sign-out"
)

// restricts reports whether s takes rights away from the account.
func (s UserState) restricts() bool { return s.revokes() || s == Demote }

// revokes reports whether s ends the sessions and grants of the account.
func (s UserState) revokes() bool { return s == Disable || s == DeleteUser }

// SetUserState disables, enables or deletes a user, or grants or removes the role of an
// administrator, or signs a user out everywhere. Disabling and deleting end all sessions and
// grants permanently; enabling restores none.
type SetUserState struct {
	Actor Actor     `cbor:"1,keyasint"`
	User  string    `cbor:"2,keyasint"`
	State UserState `cbor:"3,keyasint"`
}

// Kind implements command.Command.
func (*SetUserState) Kind() command.Kind { return KindSetUserState }

// Decide changes one row, which ends all sessions and grants of the user.
func (c *SetUserState) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	old := v.User(c.User)
	if old != nil && old.Last == m.ID { // it may have ended the actor's own session
		return accept(Outcome{ID: c.User})
	}
	who, cause := v.identifyAdministrator(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	switch {
	case old == nil || old.Deleted:
		return deny(NotFound)
	case who.remoteChangeOf(old, c.State == Promote):
		return deny(LocalOnly)
	case who.isUser(c.User) && c.State.restricts():
		// There is always an administrator left who can undo what another did.
		return deny(OwnAccount)
	}
	next := old.changed(m)
	switch c.State {
	case Enable:
		next.Disabled = false
	case Promote:
		next.Admin = true
	case Demote:
		next.Admin = false
	case Disable:
		next.disable(m)
	case DeleteUser:
		next.tombstone(m)
	case SignOutUser:
		// Even if no session is live: one may become so again, by a longer idle time in the
		// settings or by a restore.
		next.SessionsRevokedBefore = m.Seq
	default:
		return badField("state", "must be enable, disable, delete, promote, demote or sign-out")
	}
	if next.Admin == old.Admin && next.Disabled == old.Disabled && !next.Deleted && c.State != SignOutUser {
		return accept(Outcome{ID: c.User})
	}
	if c.State == Promote && !who.fresh(m) {
		return deny(SignInTooOld)
	}
	e := Event{Kind: EventUserState, Actor: who.name(), User: c.User, Detail: string(c.State)}
	if c.State.revokes() {
		e.TokensRevokedBefore = next.TokensRevokedBefore
	}
	return accept(Outcome{ID: c.User}, put(TableUsers, next), event(m, e))
}

func (u *User) disable(m command.Meta) {
	u.Disabled = true
	u.endAll(m)
}

// tombstone keeps the list of grants for the sweep, and the id so that it is never reused.
func (u *User) tombstone(m command.Meta) {
	u.FormerIdentity = u.identity()
	u.Deleted, u.Username, u.Person = true, "", Person{}
	u.setPassword("", HashCost{})
	u.Upstream, u.Subject, u.Admin = "", "", false
	u.endAll(m)
}

// endAll ends all existing sessions and grants, and removes the address of the feed.
func (u *User) endAll(m command.Meta) {
	u.setFeed([32]byte{}, 0)
	u.SessionsRevokedBefore, u.GrantsRevokedBefore, u.RevokedBeforeByClient = m.Seq, m.Seq, nil
	u.revokeTokens(stateTime(m))
}

// SetPassword changes a password. It ends the user's other sessions.
type SetPassword struct {
	Actor    Actor  `cbor:"1,keyasint"`
	User     string `cbor:"2,keyasint"`
	Password string `cbor:"3,keyasint"` // argon2id, PHC form
	// VerifiedHash is the SHA-256 of the hash that the old password was verified against, if
	// users change their own. Of other users it is optional: the hash that the sender saw.
	VerifiedHash [32]byte `cbor:"4,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*SetPassword) Kind() command.Kind { return KindSetPassword }

// Decide lets users change their own password, and operators and administrators any.
func (c *SetPassword) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identify(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	old := v.User(c.User)
	switch {
	case old == nil || old.Deleted || !who.owns(c.User) && !who.administrator():
		return deny(NotFound)
	case who.remoteChangeOf(old, old.Admin):
		return deny(LocalOnly)
	case old.Last == m.ID:
		return accept(Outcome{ID: c.User})
	case c.Password == "":
		return badField("password", "is empty")
	case who.isUser(c.User) && digest(old.Password) != c.VerifiedHash:
		return deny(PasswordChanged)
	case c.VerifiedHash != [32]byte{} && digest(old.Password) != c.VerifiedHash:
		return deny(Conflict)
	case !who.isUser(c.User) && !who.fresh(m):
		return deny(SignInTooOld)
	}
	next := old.changed(m)
	next.setPassword(c.Password, HashCost{})
	next.SessionsRevokedBefore = m.Seq
	changes := []command.Change{put(TableUsers, next), event(m, Event{Kind: EventPasswordSet, Actor: who.name(), User: c.User})}
	if s := v.Session(c.Actor.Session); s != nil && s.User == c.User {
		// The session that changed the password stays signed in.
		kept := *s
		kept.CreatedSeq, kept.Authenticated = m.Seq+1, stateTime(m)
		changes = append(changes, put(TableSessions, &kept))
	}
	return accept(Outcome{ID: c.User}, changes...)
}
