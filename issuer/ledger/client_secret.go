package ledger

import (
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// AddSecret adds a second secret; the existing one stays valid (service document,
// section 5.4).
type AddSecret struct {
	Actor  Actor     `cbor:"1,keyasint"`
	Client string    `cbor:"2,keyasint"`
	Secret NewSecret `cbor:"3,keyasint"`
	// After is the id of the newest secret when the owner's page was rendered, "" if
	// there was none. The command is refused if another secret is the newest now, so
	// that a form that is sent twice adds one secret only, even after that secret was
	// revoked and removed from the row. It is not checked for an operator.
	After string `cbor:"4,keyasint,omitempty"`
	// EndOld is the time after which the other active secret is revoked: 0 for never, or
	// from MinSecretEnd to MaxSecretEnd.
	EndOld time.Duration `cbor:"5,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*AddSecret) Kind() command.Kind { return KindAddSecret }

// Decide refuses a third active secret.
func (c *AddSecret) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	old, who, refused, ok := v.managedClient(c.Actor, c.Client, m)
	if !ok {
		return refused
	}
	if i := old.Secrets.index(c.Secret.ID); i >= 0 {
		if old.Last == m.ID {
			return accept(Outcome{ID: c.Secret.ID})
		}
		return deny(AlreadyExists)
	}
	switch {
	case old.Public():
		return deny(PublicClientNoSecret)
	case old.ActiveSecrets() >= MaxActiveSecrets:
		return deny(TooManySecrets)
	case !who.operator && old.NewestSecret() != c.After:
		return deny(Conflict)
	}
	if note := checkText(c.Secret.Name, 0, MaxSecretName); note != "" {
		return badField("name", note)
	}
	if !c.Secret.verifiable(v) {
		return deny(KeyNotRecorded)
	}
	next, detail := old.changed(m), c.Secret.ID
	next.Secrets = old.Secrets.added(c.Secret, stateTime(m))
	if c.EndOld != 0 {
		i := slices.IndexFunc(old.Secrets, func(s Secret) bool { return s.Active() })
		switch {
		case !secretEndAllowed(c.EndOld):
			return badField("old_ends", secretEndBounds)
		case i < 0:
			return badField("old_ends", "needs another active secret")
		}
		s := &old.Secrets[i]
		next.Secrets = next.Secrets.ending(s.ID, stateTime(m).Add(c.EndOld))
		detail += " " + strings.Join(secretDifferences(s, next.SecretOf(s.ID), s.ID+" "), "; ")
	}
	return accept(Outcome{ID: c.Secret.ID}, put(TableClients, next),
		event(m, Event{Kind: EventSecretAdded, Actor: who.name(), Client: old.ID, User: old.Owner, Detail: detail}))
}

// RevokeSecret revokes a secret. The revocation takes effect before the response is sent.
type RevokeSecret struct {
	Actor  Actor  `cbor:"1,keyasint"`
	Client string `cbor:"2,keyasint"`
	Secret string `cbor:"3,keyasint"` // the secret's id
	// Due changes nothing unless the secret's end has come and another usable secret remains:
	// the leader's duty sends it.
	Due bool `cbor:"4,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*RevokeSecret) Kind() command.Kind { return KindRevokeSecret }

// Decide refuses to revoke the last active secret, since the application could not
// authenticate any more; it must be replaced first.
func (c *RevokeSecret) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	old, who, refused, ok := v.managedClient(c.Actor, c.Client, m)
	if !ok {
		return refused
	}
	i := old.Secrets.index(c.Secret)
	switch {
	case i < 0:
		return deny(NotFound)
	case !old.Secrets[i].Active(), c.Due && !v.secretDue(old, &old.Secrets[i], stateTime(m)):
		return accept(Outcome{ID: c.Secret})
	case old.ActiveSecrets() == 1:
		return deny(LastSecret)
	}
	next, detail := old.changed(m), c.Secret
	next.Secrets, _ = old.Secrets.revoked(c.Secret, stateTime(m))
	if c.Due {
		detail += " at its end"
	}
	return accept(Outcome{ID: c.Secret, Count: 1}, put(TableClients, next),
		event(m, Event{Kind: EventSecretRevoked, Actor: who.name(), Client: old.ID, User: old.Owner, Detail: detail}))
}

// revokeSecrets revokes all active secrets of the client.
func (c *Client) revokeSecrets(at Time) {
	c.Secrets = slices.Clone(c.Secrets)
	for i := range c.Secrets {
		if c.Secrets[i].Active() {
			c.Secrets[i].revoke(at)
		}
	}
	c.Secrets = c.Secrets.settled()
}

// managedClient returns a client that the actor may manage.
func (v View) managedClient(a Actor, id string, m command.Meta) (*Client, caller, command.Decision, bool) {
	who, cause := v.identify(a, m)
	if cause != NoCause {
		return nil, who, deny(cause), false
	}
	c := v.Client(id)
	if c == nil || c.State == Deleted || !who.owns(c.Owner) {
		return nil, who, deny(NotFound), false
	}
	if c.Document != nil {
		return nil, who, deny(DocumentOwned), false
	}
	return c, who, command.Decision{}, true
}

// NewestSecret returns the id of the secret that was added last, active or revoked, or "".
func (c *Client) NewestSecret() string { return c.Secrets.newest() }

// SecretOf returns the secret with an id, or nil if the row doesn't have it.
func (c *Client) SecretOf(id string) *Secret { return c.Secrets.of(id) }
