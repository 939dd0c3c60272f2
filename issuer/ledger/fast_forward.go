package ledger

import (
	"fmt"
	"math"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A fast-forward accepts a refresh token that is later than the one due. After a restore,
// the state knows an older generation than the client does; without the fast-forward every
// user would have to allow every client again. Each grant has one fast-forward for each
// restore: a second later token proves that two parties have tokens of the chain.
//
// The fast-forward can't identify the party that presents its token first. A thief with an
// old token that is still later than the backup can use it as well as the client can; the
// client then comes second, and the grant ends.

// fastForwardable reports whether l qualifies for a fast-forward, whether or not the
// grant has used its own already.
func (r redemption) fastForwardable(l *CredentialRef) (*Restore, bool) {
	restore := r.v.Restore()
	return restore, restore.covers(r.grant.CreatedSeq) && l.Generation > r.grant.Due && l.Generation < math.MaxUint32
}

// mayFastForward reports whether l may be accepted by a fast-forward. The grant's
// fast-forward is then certainly unused, so a command that is proposed again may use it.
func (r redemption) mayFastForward(l *CredentialRef) bool {
	restore, ok := r.fastForwardable(l)
	return ok && r.grant.FastForwarded != restore.Count
}

// fastForward redeems a refresh token that is later than the one that is due.
func (c *Refresh) fastForward(r redemption, t terms) command.Decision {
	g := r.grant
	restore, ok := r.fastForwardable(c.Credential)
	if !ok {
		return r.refuse(oauth.InvalidGrant, LaterThanDue, c.Credential, 0)
	}
	if g.FastForwarded == restore.Count {
		return r.reuse(SecondFastForward, SecondFastForward, c.Credential)
	}
	if t.cause != NoCause {
		return r.refuse(t.code, t.cause, c.Credential, 0)
	}
	next, d, ok := r.spend(c.Credential, c.Credential.Generation)
	if !ok {
		return d
	}
	next.FastForwarded = restore.Count
	changes := append(r.auth.recordUse(r.v, r.m, c.ClientAuth), put(TableGrants, next), event(r.m, Event{
		Kind: EventFastForwarded, Actor: g.Client, Client: g.Client, User: g.User, Grant: g.ID, Detail: fmt.Sprintf("generation %d was due, %d came", g.Due, c.Credential.Generation),
	}))
	return r.issue(next, t, false, changes...)
}
