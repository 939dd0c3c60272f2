package ledger

import (
	"fmt"
	"math"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A leap moves a chain forward to a refresh token that is later than the one
// that is due. A backup knows an older generation than the client holds, and
// without the leap every user would have to allow every client again. It is
// open once for each grant and restore: whoever presents another later token
// shows that two parties hold tokens of the chain.
//
// What it can't tell apart is who comes first. A thief with an old token that
// is still later than the backup leaps as well as the client does; the client
// then comes second, and the grant ends.

// covered says whether the restore's one leap was made for the grant at all.
func (r redemption) covered(l *Link) (*Restore, bool) {
	restore := r.v.Restore()
	return restore, restore.covers(r.grant.Born) && l.Generation > r.grant.Due && l.Generation < math.MaxUint32
}

// mayLeap reports whether the leap of l is open. It has then certainly not
// been made, so that a command proposed again may make it.
func (r redemption) mayLeap(l *Link) bool {
	restore, ok := r.covered(l)
	return ok && r.grant.Leapt != restore.Count
}

// leap redeems a refresh token that is later than the one that is due.
func (c *Refresh) leap(r redemption, narrowed string, cause Cause) Decision {
	g := r.grant
	restore, ok := r.covered(c.Link)
	if !ok {
		return r.refuse(oauth.InvalidGrant, LaterThanDue, c.Link, 0)
	}
	if !r.v.keeps(c.Link.Key) {
		// As in fresh. Before the alarm: a key that leaked ends no grant.
		return r.refuse(oauth.InvalidGrant, KeyNotRecorded, c.Link, 0)
	}
	if g.Leapt == restore.Count {
		return r.reuse(LeaptAgain, LeaptAgain, c.Link)
	}
	if cause != NoCause {
		return r.refuse(oauth.InvalidScope, cause, c.Link, 0)
	}
	if cause, when := r.v.expired(g, r.settings, c.Link.Generation, r.m.At); cause != NoCause {
		return r.refuse(oauth.InvalidGrant, cause, c.Link, when)
	}
	next := g.spends(c.Link.Generation, r.v.ActiveKey(ForCredentials).Number, r.m)
	next.Leapt = restore.Count
	changes := append(r.auth.noteUse(r.v, r.m, c.Proof), put(TableGrants, next), event(r.m, Event{
		Kind: EventLeapt, Actor: g.Client, Client: g.Client, User: g.User, Grant: g.ID, Detail: fmt.Sprintf("generation %d was due, %d came", g.Due, c.Link.Generation),
	}))
	return r.issue(next, narrowed, false, changes...)
}

// keeps reports whether credentials made under a key are still verified.
func (v View) keeps(number uint32) bool {
	if k := v.ActiveKey(ForCredentials); k != nil && k.Number == number {
		return true // as nearly always
	}
	for k := range v.Keys() {
		if k.Purpose == ForCredentials && k.Number == number {
			return true
		}
	}
	return false
}
