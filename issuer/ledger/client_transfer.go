package ledger

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// MaxClientsPerUser is the number of clients that a user may have created or taken over,
// deleted ones included. It prevents a program that abuses an account from filling the
// state. Operators are not bound by it.
const MaxClientsPerUser = 1000

// OfferOf returns the offer of a client if it can be accepted, and otherwise nil. An offer
// that came out of a backup can't, since it may have been withdrawn after the backup, nor
// can an offer by an owner who is disabled or deleted.
func (v View) OfferOf(c *Client) *Offer {
	if c.Offer == nil || v.Restore().covers(c.Offer.CreatedSeq) || v.User(c.Owner).inactiveCause() != NoCause {
		return nil
	}
	return c.Offer
}

// offeredTo is the index key.
func (c *Client) offeredTo() []string {
	if c.Offer == nil {
		return nil
	}
	return []string{c.Offer.To}
}

// setOwner makes another user the owner of c, and ends its Offer.
func (c *Client) setOwner(user string) { c.Owner, c.Offer = user, nil }

// atClientLimit reports whether a user has MaxClientsPerUser clients.
func (v View) atClientLimit(user string) bool {
	n := 0
	for range v.ClientsOf(user) {
		if n++; n >= MaxClientsPerUser {
			return true
		}
	}
	return false
}

// OfferClient offers a client to another user. It replaces an earlier offer.
type OfferClient struct {
	Actor    Actor  `cbor:"1,keyasint"`
	ID       string `cbor:"2,keyasint"`
	Username string `cbor:"3,keyasint"`
}

// Kind implements command.Command.
func (*OfferClient) Kind() command.Kind { return KindOfferClient }

// Decide changes only the offer; the client stays usable.
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

// AcceptClient transfers an offered client to the user who accepts it.
type AcceptClient struct {
	Actor Actor  `cbor:"1,keyasint"`
	ID    string `cbor:"2,keyasint"`
	// Revision is the revision that the new owner saw. The command is refused if the
	// client has changed since.
	Revision uint64 `cbor:"3,keyasint"`
	// RevokeSecrets revokes all secrets of the client, which the previous owner and
	// everybody who operated the client know. The new owner then adds a new one.
	RevokeSecrets bool `cbor:"4,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*AcceptClient) Kind() command.Kind { return KindAcceptClient }

// Decide accepts only the user whom the offer names.
func (c *AcceptClient) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, old, cause := v.offeredClient(c.Actor, c.ID, m)
	switch {
	case cause != NoCause:
		return deny(cause)
	case who.owns(old.Owner) && c.RevokeSecrets && old.ActiveSecrets() > 0:
		return deny(Conflict) // the user became the owner by another command, which revoked no secrets
	case who.owns(old.Owner):
		return accept(Outcome{ID: c.ID}) // already transferred
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

// DeclineClient ends an offer: the user whom it names declines it, or the owner
// withdraws it.
type DeclineClient struct {
	Actor Actor  `cbor:"1,keyasint"`
	ID    string `cbor:"2,keyasint"`
	// Offer is the Offer.CreatedSeq that the page showed; the command is refused if another
	// offer stands. 0 means any offer.
	Offer uint64 `cbor:"3,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*DeclineClient) Kind() command.Kind { return KindDeclineClient }

// Decide accepts the owner's command also after the offer has ended.
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
	case c.Offer != 0 && c.Offer != o.CreatedSeq:
		return deny(Conflict)
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

// offeredClient returns a live client and the user who sent the command, who may be
// somebody other than its owner.
func (v View) offeredClient(a Actor, id string, m command.Meta) (caller, *Client, Cause) {
	who, cause := v.identify(a, m)
	switch c := v.Client(id); {
	case cause != NoCause:
		return who, nil, cause
	case who.user == nil:
		return who, nil, NotAllowed // operators use TransferClient
	case c == nil || c.State == Deleted:
		return who, nil, NotFound
	default:
		return who, c, NoCause
	}
}

// TransferClient transfers a client to another user at once, by an administrator.
type TransferClient struct {
	Actor    Actor  `cbor:"1,keyasint"`
	ID       string `cbor:"2,keyasint"`
	Username string `cbor:"3,keyasint"`
	Revision uint64 `cbor:"4,keyasint"` // the revision that the administrator saw
}

// Kind implements command.Command.
func (*TransferClient) Kind() command.Kind { return KindTransferClient }

// Decide needs the consent of neither owner.
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
	case old.Document != nil:
		return deny(DocumentOwned)
	}
	newOwner := v.UserByName(c.Username)
	switch {
	case newOwner.inactiveCause() != NoCause:
		return badField("username", "is not a user here")
	case newOwner.ID == old.Owner:
		return accept(Outcome{ID: c.ID}) // already transferred
	case old.Revision != c.Revision:
		return deny(Conflict)
	case !who.fresh(m):
		return deny(SignInTooOld)
	}
	return accept(Outcome{ID: c.ID}, old.transfer(who, newOwner.ID, false, m)...)
}

// transfer increments Revision, so that a form which the former owner or a reviewer still
// has open is refused.
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
