package ledger

import (
	"slices"

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
	next := old.changed(m)
	next.Secrets = old.Secrets.added(c.Secret, stateTime(m))
	return accept(Outcome{ID: c.Secret.ID}, put(TableClients, next),
		event(m, Event{Kind: EventSecretAdded, Actor: who.name(), Client: old.ID, User: old.Owner, Detail: c.Secret.ID}))
}

// RevokeSecret revokes a secret. The revocation takes effect before the response is sent.
type RevokeSecret struct {
	Actor  Actor  `cbor:"1,keyasint"`
	Client string `cbor:"2,keyasint"`
	Secret string `cbor:"3,keyasint"` // the secret's id
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
	case !old.Secrets[i].Active():
		return accept(Outcome{ID: c.Secret})
	case old.ActiveSecrets() == 1:
		return deny(LastSecret)
	}
	next := old.changed(m)
	next.Secrets, _ = old.Secrets.revoked(c.Secret, stateTime(m))
	return accept(Outcome{ID: c.Secret}, put(TableClients, next),
		event(m, Event{Kind: EventSecretRevoked, Actor: who.name(), Client: old.ID, User: old.Owner, Detail: c.Secret}))
}

// revokeSecrets revokes all active secrets of the client.
func (c *Client) revokeSecrets(at Time) {
	c.Secrets = slices.Clone(c.Secrets)
	for i := range c.Secrets {
		if c.Secrets[i].Active() {
			c.Secrets[i].revoke(at)
		}
	}
	c.Secrets = c.Secrets.forgetOld()
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
