package ledger

import (
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// UpgradeSecret replaces the hash that another system made of a client secret by a digest of
// this server. The client has just presented the secret, and the node has verified it against
// the hash that VerifiedHash is the digest of: verifying is slow by design, so it is never done
// in a decision. Afterwards the client authenticates like any other.
type UpgradeSecret struct {
	Client       string    `cbor:"1,keyasint"`
	VerifiedHash [32]byte  `cbor:"2,keyasint"` // SHA-256 of Secret.Hash
	Secret       NewSecret `cbor:"3,keyasint"` // the id is that of the existing secret
}

// Kind implements command.Command.
func (*UpgradeSecret) Kind() command.Kind { return KindUpgradeSecret }

// Decide accepts the digest only while the row has the verified hash: a secret that was
// revoked meanwhile stays revoked. It also accepts a secret that was upgraded already.
func (c *UpgradeSecret) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	old := v.Client(c.Client)
	if old == nil {
		return deny(NotFound)
	}
	i := old.Secrets.index(c.Secret.ID)
	switch {
	case i < 0:
		return deny(NotFound)
	case !old.Secrets[i].Active():
		return deny(SecretRevoked)
	case old.Secrets[i].HashSum != c.VerifiedHash:
		return deny(Conflict)
	case old.Secrets[i].Hash == "":
		return accept(Outcome{ID: c.Secret.ID})
	case c.Secret.Hash != "" || !v.keyKnown(c.Secret.Key):
		return deny(KeyNotRecorded) // nobody could authenticate by the digest
	}
	next := *old // Last and Changed stay: a use is not a change of the client
	next.Secrets = slices.Clone(old.Secrets)
	s := &next.Secrets[i]
	s.Key, s.Digest, s.Tail, s.Hash = c.Secret.Key, c.Secret.Digest, c.Secret.Tail, ""
	return accept(Outcome{ID: s.ID}, put(TableClients, &next))
}

// HashedSecrets returns the active secrets of a client that are hashes of another system, if
// the client does not authenticate without them. A node verifies the presented secret against
// them, and proposes an UpgradeSecret.
func (v View) HashedSecrets(p ClientAuth) (list []Secret, needed bool) {
	_, cause, again := v.authenticate(p)
	c := v.Client(p.Client)
	switch {
	case cause == NoCause || again || !p.Secret:
		return nil, false
	case c == nil:
		return nil, true // this view may lag
	case c.State == Deleted || c.Public():
		return nil, false
	}
	for _, s := range c.Secrets {
		if s.Hash != "" && s.Active() {
			list = append(list, s)
		}
	}
	return list, true
}
