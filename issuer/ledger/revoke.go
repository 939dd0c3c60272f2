package ledger

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// RevokeGrant ends one grant, by its user, an operator or an administrator.
type RevokeGrant struct {
	Actor Actor   `cbor:"1,keyasint"`
	Grant GrantID `cbor:"2,keyasint"`
}

// Kind implements command.Command.
func (*RevokeGrant) Kind() command.Kind { return KindRevokeGrant }

// Decide also accepts a grant that has ended already.
func (c *RevokeGrant) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identify(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	g := v.Grant(c.Grant)
	if g == nil || !who.owns(g.User) && !who.administrator() {
		return deny(NotFound)
	}
	if g.Ended != 0 {
		return accept(Outcome{ID: g.User})
	}
	return accept(Outcome{ID: g.User, Count: 1},
		put(TableGrants, g.withEnd(GrantEnded, m)),
		event(m, Event{Kind: EventGrantRevoked, Actor: who.name(), Client: g.Client, User: g.User, Grant: g.ID}))
}

// Disconnect ends all grants of a user for one client, or for all clients.
type Disconnect struct {
	Actor  Actor  `cbor:"1,keyasint"`
	User   string `cbor:"2,keyasint"`
	Client string `cbor:"3,keyasint,omitempty"` // "" for all
}

// Kind implements command.Command.
func (*Disconnect) Kind() command.Kind { return KindDisconnect }

// Decide changes one row, the user's, however many grants there are.
func (c *Disconnect) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identify(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	u := v.User(c.User)
	if u == nil || !who.owns(u.ID) && !who.administrator() {
		return deny(NotFound)
	}
	if c.Client != "" && v.Client(c.Client) == nil {
		return deny(NotFound)
	}
	if !v.connected(u, c.Client) {
		return accept(Outcome{ID: u.ID})
	}
	next := u.changed(m)
	next.disconnect(c.Client, m)
	return accept(Outcome{ID: u.ID}, put(TableUsers, next),
		event(m, Event{Kind: EventDisconnected, Actor: who.name(), User: u.ID, Client: c.Client, TokensRevokedBefore: next.TokensRevokedBefore}))
}

// connected reports whether a user has a live grant for a client, or for any client if
// client is "".
func (v View) connected(u *User, client string) bool {
	return v.hasGrant(u, func(g *Grant) bool { return client == "" || g.Client == client })
}

// disconnect revokes the user's grants for one client, or for all if client is "".
func (u *User) disconnect(client string, m command.Meta) {
	u.revokeTokens(stateTime(m))
	if client == "" {
		u.GrantsRevokedBefore = m.Seq
		return
	}
	revoked := u.revokedBefore(client)
	revoked.Seq = m.Seq
	u.setRevokedBefore(revoked)
}

// hasGrant reports whether a user has a live grant that satisfies of.
func (v View) hasGrant(u *User, of func(*Grant) bool) bool {
	for _, id := range u.Grants {
		g := v.Grant(id)
		if g == nil || !of(g) {
			continue
		}
		if cause, _ := v.ended(g, u); cause == NoCause {
			return true
		}
	}
	return false
}
