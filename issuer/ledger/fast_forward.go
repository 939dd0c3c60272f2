package ledger

import (
	"fmt"
	"math"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A fast-forward moves a chain forward to a refresh token that is later than the one
// that is due. A backup knows an older generation than the client holds, and
// without the fast-forward every user would have to allow every client again. It is
// open once for each grant and restore: whoever presents another later token
// shows that two parties hold tokens of the chain.
//
// What it can't tell apart is who comes first. A thief with an old token that
// is still later than the backup fast-forwards as well as the client does; the client
// then comes second, and the grant ends.

// fastForwardable says whether the restore's one fast-forward was made for the grant at all.
func (r redemption) fastForwardable(l *CredentialRef) (*Restore, bool) {
	restore := r.v.Restore()
	return restore, restore.covers(r.grant.CreatedSeq) && l.Generation > r.grant.Due && l.Generation < math.MaxUint32
}

// mayFastForward reports whether the fast-forward of l is open. It has then certainly not
// been made, so that a command proposed again may make it.
func (r redemption) mayFastForward(l *CredentialRef) bool {
	restore, ok := r.fastForwardable(l)
	return ok && r.grant.FastForwarded != restore.Count
}

// fastForward redeems a refresh token that is later than the one that is due.
func (c *Refresh) fastForward(r redemption, narrowed string, cause Cause) command.Decision {
	g := r.grant
	restore, ok := r.fastForwardable(c.Credential)
	if !ok {
		return r.refuse(oauth.InvalidGrant, LaterThanDue, c.Credential, 0)
	}
	if !r.v.keyKnown(c.Credential.Key) {
		// As in fresh. Before the alarm: a key that leaked ends no grant.
		return r.refuse(oauth.InvalidGrant, KeyNotRecorded, c.Credential, 0)
	}
	if g.FastForwarded == restore.Count {
		return r.reuse(SecondFastForward, SecondFastForward, c.Credential)
	}
	if cause != NoCause {
		return r.refuse(oauth.InvalidScope, cause, c.Credential, 0)
	}
	if cause, when := r.v.expired(g, r.settings, c.Credential.Generation, stateTime(r.m)); cause != NoCause {
		return r.refuse(oauth.InvalidGrant, cause, c.Credential, when)
	}
	next := g.withSpent(c.Credential.Generation, r.v.ActiveKey(ForCredentials).Number, r.m)
	next.FastForwarded = restore.Count
	changes := append(r.auth.recordUse(r.v, r.m, c.ClientAuth), put(TableGrants, next), event(r.m, Event{
		Kind: EventFastForwarded, Actor: g.Client, Client: g.Client, User: g.User, Grant: g.ID, Detail: fmt.Sprintf("generation %d was due, %d came", g.Due, c.Credential.Generation),
	}))
	return r.issue(next, narrowed, false, changes...)
}

// keyKnown reports whether credentials made under a key are still verified.
func (v View) keyKnown(number uint32) bool {
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
