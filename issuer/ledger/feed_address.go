package ledger

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// SetFeed replaces the address at which programs read what needs a user, or removes it. Users
// send it for themselves.
type SetFeed struct {
	Actor  Actor    `cbor:"1,keyasint"`
	Digest [32]byte `cbor:"2,keyasint,omitzero"` // SHA-256 of the address, which has 256 random bits; zero removes it
	// ExpectedLast is the User.Last that the page had which offered the address. The command is
	// refused if it is no longer that, so that no address returns by sending its form again. Zero
	// omits the check.
	ExpectedLast command.ID `cbor:"3,keyasint,omitzero"`
}

// Kind implements command.Command.
func (*SetFeed) Kind() command.Kind { return KindSetFeed }

// Decide changes nothing if the user has that address, as when a form is sent twice.
func (c *SetFeed) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identify(c.Actor, m)
	switch {
	case cause != NoCause:
		return deny(cause)
	case who.user == nil:
		return deny(NotAllowed)
	case who.user.FeedDigest == c.Digest:
		return accept(Outcome{ID: who.user.ID})
	case c.ExpectedLast != (command.ID{}) && c.ExpectedLast != who.user.Last:
		return deny(Conflict)
	case v.UserOfFeed(c.Digest) != nil:
		return deny(AlreadyExists)
	}
	next := who.user.changed(m)
	next.setFeed(c.Digest, stateTime(m))
	detail := "replaced"
	switch [32]byte{} {
	case c.Digest:
		detail = "removed"
	case who.user.FeedDigest:
		detail = "made"
	}
	return accept(Outcome{ID: next.ID}, put(TableUsers, next),
		event(m, Event{Kind: EventFeedSet, Actor: who.name(), User: next.ID, Detail: detail}))
}

func (u *User) setFeed(digest [32]byte, at Time) {
	u.FeedDigest, u.FeedSince = digest, at
	if digest == [32]byte{} {
		u.FeedSince = 0
	}
}

// feedKey is the index key; nil for a user without an address.
func (u *User) feedKey() []string {
	if u.FeedDigest == [32]byte{} {
		return nil
	}
	return []string{string(u.FeedDigest[:])}
}

// UserOfFeed returns the user whose feed has the address with that digest, or nil.
func (v View) UserOfFeed(digest [32]byte) *User {
	return first[User](v, TableUsers, "feed", string(digest[:]))
}
