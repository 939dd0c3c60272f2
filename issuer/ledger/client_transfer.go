package ledger

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// MaxClientsPerUser is how many clients people may have made or taken over, deleted
// ones included: a program that abuses an account must not fill the state. An
// operator may give them more.
const MaxClientsPerUser = 1000

// OfferOf is the offer of a client that can still be accepted, nil otherwise. One
// that came out of a backup can't: whether it was withdrawn since is not known. Nor
// can that of an owner who may do nothing any more.
func (v View) OfferOf(c *Client) *Offer {
	if c.Offer == nil || v.Restore().covers(c.Offer.CreatedSeq) || v.User(c.Owner).inactiveCause() != NoCause {
		return nil
	}
	return c.Offer
}

// offeredTo is for the index.
func (c *Client) offeredTo() []string {
	if c.Offer == nil {
		return nil
	}
	return []string{c.Offer.To}
}

// setOwner makes another user the owner of c, and ends its Offer.
func (c *Client) setOwner(user string) { c.Owner, c.Offer = user, nil }

// atClientLimit reports whether a user has as many clients as people may have.
func (v View) atClientLimit(user string) bool {
	n := 0
	for range v.ClientsOf(user) {
		if n++; n >= MaxClientsPerUser {
			return true
		}
	}
	return false
}

// OfferClient has the owner name another user, who may take the client over. A
// later offer replaces it.
type OfferClient struct {
	Actor    Actor  `cbor:"1,keyasint"`
	ID       string `cbor:"2,keyasint"`
	Username string `cbor:"3,keyasint"`
}

// Kind is KindOfferClient.
func (*OfferClient) Kind() command.Kind { return KindOfferClient }

// Decide changes nothing but the offer: the client goes on as it is.
func (c *OfferClient) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	old, who, refused, ok := v.managedClient(c.Actor, c.ID, m)
	if !ok {
		return refused
	}
	if old.Last == m.ID {
		return accept(Outcome{ID: c.ID})
	}
	newOwner := v.UserByName(c.Username)
	switch o := v.OfferOf(old); {
	case newOwner.inactiveCause() != NoCause:
		return badField("username", "is not a user here")
	case newOwner.ID == old.Owner:
		return badField("username", "owns it already")
	case o != nil && o.To == newOwner.ID:
		return accept(Outcome{ID: c.ID})
	}
	next := old.changed(m)
	next.Offer = &Offer{To: newOwner.ID, CreatedSeq: m.Seq, At: stateTime(m)}
	return accept(Outcome{ID: c.ID}, put(TableClients, next),
		event(m, Event{Kind: EventClientOffered, Actor: who.name(), Client: c.ID, User: newOwner.ID}))
}

// AcceptClient takes an offered client over.
type AcceptClient struct {
	Actor Actor  `cbor:"1,keyasint"`
	ID    string `cbor:"2,keyasint"`
	// Revision is what the new owner looked at: nobody takes over what was
	// changed under their eyes.
	Revision uint64 `cbor:"3,keyasint"`
	// RevokeSecrets revokes all secrets of the client, since the owner before and
	// everybody who operated the client know them. The new owner makes a new one.
	RevokeSecrets bool `cbor:"4,keyasint,omitempty"`
}

// Kind is KindAcceptClient.
func (*AcceptClient) Kind() command.Kind { return KindAcceptClient }

// Decide is for the user whom the offer names, and for nobody else.
func (c *AcceptClient) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, old, cause := v.offeredClient(c.Actor, c.ID, m)
	switch {
	case cause != NoCause:
		return deny(cause)
	case who.owns(old.Owner) && c.RevokeSecrets && old.ActiveSecrets() > 0 && old.Last != m.ID:
		return deny(Conflict) // the user became the owner by another command, which revoked no secrets
	case who.owns(old.Owner):
		return accept(Outcome{ID: c.ID}) // what was asked for is so
	}
	o := v.OfferOf(old)
	switch {
	case o == nil || o.To != who.user.ID:
		return deny(NotFound)
	case old.Revision != c.Revision:
		return deny(Conflict)
	case v.atClientLimit(who.user.ID):
		return deny(TooManyClients)
	}
	return accept(Outcome{ID: c.ID}, old.transfer(who, who.user.ID, c.RevokeSecrets, m)...)
}

// DeclineClient ends an offer: by the user it names, or by the owner, who
// withdraws it.
type DeclineClient struct {
	Actor Actor  `cbor:"1,keyasint"`
	ID    string `cbor:"2,keyasint"`
}

// Kind is KindDeclineClient.
func (*DeclineClient) Kind() command.Kind { return KindDeclineClient }

// Decide accepts an offer of the owner's that has ended: what was asked for is
// so.
func (c *DeclineClient) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, old, cause := v.offeredClient(c.Actor, c.ID, m)
	if cause != NoCause {
		return deny(cause)
	}
	o, owner := v.OfferOf(old), who.owns(old.Owner)
	switch {
	case owner && o == nil, old.Last == m.ID:
		return accept(Outcome{ID: c.ID})
	case o == nil, !owner && o.To != who.user.ID:
		return deny(NotFound)
	}
	next := old.changed(m)
	next.Offer = nil
	detail := "declined"
	if owner {
		detail = "withdrawn"
	}
	return accept(Outcome{ID: c.ID}, put(TableClients, next),
		event(m, Event{Kind: EventOfferEnded, Actor: who.name(), Client: c.ID, User: o.To, Detail: detail}))
}

// offeredClient is a live client and the person who asks for it, who need not own it.
func (v View) offeredClient(a Actor, id string, m command.Meta) (caller, *Client, Cause) {
	who, cause := v.identify(a, m)
	switch c := v.Client(id); {
	case cause != NoCause:
		return who, nil, cause
	case who.user == nil:
		return who, nil, NotAllowed // an operator transfers at once
	case c == nil || c.State == Deleted:
		return who, nil, NotFound
	default:
		return who, c, NoCause
	}
}

// TransferClient has an administrator give a client to another user at once.
type TransferClient struct {
	Actor    Actor  `cbor:"1,keyasint"`
	ID       string `cbor:"2,keyasint"`
	Username string `cbor:"3,keyasint"`
	Revision uint64 `cbor:"4,keyasint"` // what the administrator looked at
}

// Kind is KindTransferClient.
func (*TransferClient) Kind() command.Kind { return KindTransferClient }

// Decide asks neither of the two owners.
func (c *TransferClient) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyAdministrator(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	old := v.Client(c.ID)
	switch {
	case old == nil || old.State == Deleted:
		return deny(NotFound)
	}
	newOwner := v.UserByName(c.Username)
	switch {
	case newOwner.inactiveCause() != NoCause:
		return badField("username", "is not a user here")
	case newOwner.ID == old.Owner:
		return accept(Outcome{ID: c.ID}) // what was asked for is so
	case old.Revision != c.Revision:
		return deny(Conflict)
	case !who.fresh(m):
		return deny(SignInTooOld)
	}
	return accept(Outcome{ID: c.ID}, old.transfer(who, newOwner.ID, false, m)...)
}

// transfer counts as a revision, so that what the former owner or a reviewer had
// before their eyes is looked at again.
func (c *Client) transfer(who caller, to string, revokeSecrets bool, m command.Meta) []command.Change {
	next := c.changed(m)
	next.Revision++
	next.setOwner(to)
	detail := c.Owner
	if revokeSecrets && c.ActiveSecrets() > 0 {
		next.revokeSecrets(stateTime(m))
		detail += ", all secrets revoked"
	}
	return []command.Change{
		put(TableClients, next),
		event(m, Event{Kind: EventClientTransferred, Actor: who.name(), Client: c.ID, User: to, Detail: detail}),
	}
}
