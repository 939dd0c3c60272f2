package ledger

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// A NewSecret is the digest of a client secret that was just generated or imported.
type NewSecret struct {
	ID     string   `cbor:"1,keyasint"`
	Key    uint32   `cbor:"2,keyasint"`
	Digest [32]byte `cbor:"3,keyasint"`
	Tail   string   `cbor:"4,keyasint,omitempty"`
	// Hash is a hash that another system made, of an imported secret of which nothing else
	// is known: Key and Digest are zero.
	Hash string `cbor:"5,keyasint,omitempty"`
	Name string `cbor:"6,keyasint,omitempty"` // like Secret.Name
}

// MaxSecretName is the maximum length of a secret's name, in characters. It is less than that
// of a generated secret, which may be pasted there by mistake.
const MaxSecretName = 40

func (n NewSecret) at(t Time) Secret {
	s := Secret{ID: n.ID, Key: n.Key, Digest: n.Digest, Tail: n.Tail, Created: t, Hash: n.Hash, Name: n.Name}
	if n.Hash != "" {
		s.HashSum = digest(n.Hash)
	}
	return s
}

// verifiable reports whether a client can authenticate by the secret. A node whose keyring
// lags makes the digest under a key that was dropped.
func (n *NewSecret) verifiable(v View) bool { return n.Hash != "" || v.keyKnown(n.Key) }

// is reports whether a row has the secret as s.
func (n *NewSecret) is(s *Secret) bool {
	if n.Hash != "" {
		return s.HashSum == digest(n.Hash)
	}
	return s.Key == n.Key && s.Digest == n.Digest
}

// same reports whether two declared secrets are the same one.
func (n *NewSecret) same(o *NewSecret) bool { return n.Digest == o.Digest && n.Hash == o.Hash }

// check returns what is wrong with the name, or with the hash of another system, or "".
func (n *NewSecret) check() string {
	if note := checkText(n.Name, 0, MaxSecretName); note != "" {
		return "has a name that " + note
	}
	switch note := checkHash(n.Hash); {
	case n.Hash == "":
	case note != "":
		return "has a hash that " + note
	case n.Key != 0:
		return "has a hash and a digest of one secret"
	}
	return ""
}

// CreateClient registers a client. The client is pending until an administrator has
// reviewed it (service document, section 2.1).
type CreateClient struct {
	Actor   Actor      `cbor:"1,keyasint"`
	ID      string     `cbor:"2,keyasint"`
	Owner   string     `cbor:"3,keyasint"` // a user's id; only an operator may name another user
	Type    ClientType `cbor:"4,keyasint"`
	Profile Profile    `cbor:"5,keyasint"`
	Secret  *NewSecret `cbor:"6,keyasint,omitempty"` // the first secret of a confidential client
	Logo    []byte     `cbor:"7,keyasint,omitempty"` // the picture whose digest is Profile.Logo
}

// Kind implements command.Command.
func (*CreateClient) Kind() command.Kind { return KindCreateClient }

// Decide checks every field and the owner.
func (c *CreateClient) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identify(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	if note := checkClientID(c.ID); note != "" {
		return badField("id", note)
	}
	if old := v.Client(c.ID); old != nil {
		if old.Last == m.ID {
			return accept(Outcome{ID: c.ID})
		}
		return deny(AlreadyExists)
	}
	switch {
	case c.Type != Confidential && c.Type != Public:
		return badField("type", "must be confidential or public")
	case v.User(c.Owner).inactiveCause() != NoCause:
		return badField("owner", "is not a user")
	case !who.owns(c.Owner):
		return deny(NotAllowed)
	case c.Type == Public && c.Secret != nil:
		return deny(PublicClientNoSecret)
	case !who.operator && v.atClientLimit(c.Owner):
		return deny(TooManyClients)
	}
	p, refused := v.checkProfile(c.Profile, c.Type, MinScopes)
	if refused != nil {
		return command.Decision{Outcome: Outcome{Refusal: refused}}
	}
	logo, refused := v.putLogo(p.Logo, c.Logo)
	if refused != nil {
		return command.Decision{Outcome: Outcome{Refusal: refused}}
	}
	row := &Client{
		ID: c.ID, Type: c.Type, State: Pending, Owner: c.Owner, Profile: p,
		Revision: 1, Created: stateTime(m), Changed: stateTime(m), Last: m.ID,
	}
	row.queue(nil, m)
	if c.Secret != nil {
		if note := c.Secret.check(); note != "" {
			return badField("secret", note)
		}
		if !c.Secret.verifiable(v) {
			return deny(KeyNotRecorded)
		}
		row.Secrets = []Secret{c.Secret.at(stateTime(m))}
	}
	return accept(Outcome{ID: c.ID}, append(logo, put(TableClients, row),
		event(m, Event{Kind: EventClientCreated, Actor: who.name(), Client: c.ID, User: c.Owner}))...)
}
