package ledger

import (
	"iter"
	"slices"
)

// A Secret is a secret of a client or a resource server. The row stores HMAC(key, SHA-256(secret)), so that even
// a weak imported secret can't be guessed from a backup; the exception is Hash.
type Secret struct {
	ID      string   `cbor:"1,keyasint"`
	Key     uint32   `cbor:"2,keyasint"` // number of the credential key of Digest
	Digest  [32]byte `cbor:"3,keyasint"`
	Tail    string   `cbor:"4,keyasint,omitempty"` // its last characters, to recognise it on pages
	Created Time     `cbor:"5,keyasint"`
	Used    Time     `cbor:"6,keyasint,omitempty"` // last use, to the minute
	Revoked Time     `cbor:"7,keyasint,omitempty"` // 0 while active

	// Hash is the hash that another system made of the secret, until the secret is used for
	// the first time: see UpgradeSecret. Key and Digest are zero as long. A secret that is
	// revoked before loses it.
	Hash string `cbor:"8,keyasint,omitempty"`
	// HashSum is the SHA-256 of the hash with which the secret was imported. It stays, so that
	// the same import recognises the secret, and never brings back one that was revoked. The
	// hash can't be found from it, since a hash has a random salt.
	HashSum [32]byte `cbor:"9,keyasint,omitzero"`

	// Name is what the owner of the client calls the secret, or "".
	Name string `cbor:"10,keyasint,omitempty"`
	// Ends is when the secret is to be revoked, 0 if that is not planned. The secret stays
	// active until the leader's RevokeSecret. An only active secret has no end.
	Ends Time `cbor:"11,keyasint,omitempty"`
}

// usable reports whether a client can authenticate by an active secret, where known tells the
// keys that are left.
func (s *Secret) usable(known func(number uint32) bool) bool {
	return s.Active() && (s.Hash != "" || known(s.Key))
}

// revoke revokes an active secret.
func (s *Secret) revoke(at Time) { s.Revoked, s.Hash, s.Ends = at, "", 0 }

// Active reports whether the secret has not been revoked.
func (s *Secret) Active() bool { return s.Revoked == 0 }

// Secrets are the secrets of one client or resource server: the active ones, and the last
// revoked ones, in the order in which they were added.
type Secrets []Secret

// active returns the number of active secrets.
func (l Secrets) active() (n int) {
	for i := range l {
		if l[i].Active() {
			n++
		}
	}
	return n
}

// index returns the index of the secret with an id, or -1.
func (l Secrets) index(id string) int {
	return slices.IndexFunc(l, func(s Secret) bool { return s.ID == id })
}

// has reports whether there is an active secret with an id.
func (l Secrets) has(id string) bool {
	i := l.index(id)
	return i >= 0 && l[i].Active()
}

// of returns the secret with an id, or nil.
func (l Secrets) of(id string) *Secret {
	if i := l.index(id); i >= 0 {
		return &l[i]
	}
	return nil
}

// newest returns the id of the secret that was added last, active or revoked, or "". Once
// another secret was added, an older one never becomes the newest again.
func (l Secrets) newest() string {
	if len(l) == 0 {
		return ""
	}
	return l[len(l)-1].ID
}

// ending returns l after an active secret's end was set, 0 for none.
func (l Secrets) ending(id string, at Time) Secrets {
	l = slices.Clone(l)
	l[l.index(id)].Ends = at
	return l
}

// under returns the number of active secrets that are recorded under a credential key.
func (l Secrets) under(number uint32) (n int) {
	for i := range l {
		if l[i].Key == number && l[i].Active() {
			n++
		}
	}
	return n
}

// lockedOut reports whether there are active secrets, and each is recorded under a key that
// is not known.
func (l Secrets) lockedOut(known func(number uint32) bool) bool {
	return l.active() > 0 && !slices.ContainsFunc(l, func(s Secret) bool { return s.usable(known) })
}

// maxRevokedSecrets is the number of revoked secrets that a row keeps, so that its owner can
// learn which of them an application still sends.
const maxRevokedSecrets = 8

// settled returns l without the oldest revoked secrets, and without the end of an only active
// one, after secrets were revoked. l must not be shared with another row.
func (l Secrets) settled() Secrets {
	if l.active() == 1 {
		l[slices.IndexFunc(l, func(s Secret) bool { return s.Active() })].Ends = 0
	}
	surplus := len(l) - l.active() - maxRevokedSecrets
	return slices.DeleteFunc(l, func(s Secret) bool {
		if s.Active() || surplus <= 0 {
			return false
		}
		surplus--
		return true
	})
}

// added returns l with another active secret.
func (l Secrets) added(n NewSecret, at Time) Secrets { return append(slices.Clone(l), n.at(at)) }

// revoked returns l after a secret was revoked, and whether it was active before.
func (l Secrets) revoked(id string, at Time) (Secrets, bool) {
	if !l.has(id) {
		return l, false
	}
	l = slices.Clone(l)
	l[l.index(id)].revoke(at)
	return l.settled(), true
}

// restored returns l with a secret that is added, or becomes active again, as an import may
// have done, and whether it was not active before. There are never too many.
func (l Secrets) restored(n NewSecret, at Time) (Secrets, bool) {
	if l.has(n.ID) || l.active() >= MaxActiveSecrets {
		return l, false
	}
	if i := l.index(n.ID); i >= 0 {
		l = slices.Clone(l)
		l[i].Revoked = 0
		if l[i].Key == 0 {
			l[i].Key, l[i].Digest, l[i].Hash = n.Key, n.Digest, n.Hash
		}
		return l, true
	}
	return l.added(n, at), true
}

// A SecretHolder is a client or a resource server. One of the fields is set.
type SecretHolder struct {
	Client   string // its id
	Resource string // its identifier URI
}

// String describes the holder.
func (h SecretHolder) String() string {
	if h.Resource != "" {
		return "resource server " + h.Resource
	}
	return "client " + h.Client
}

// secretLists returns the secrets of each client and of each resource server; a deleted client
// has none. It walks both tables.
func (v View) secretLists() iter.Seq2[SecretHolder, Secrets] {
	return func(yield func(SecretHolder, Secrets) bool) {
		for c := range v.Clients() {
			if !yield(SecretHolder{Client: c.ID}, c.Secrets) {
				return
			}
		}
		for s := range v.ResourceServers() {
			if !yield(SecretHolder{Resource: s.ID}, s.Secrets) {
				return
			}
		}
	}
}

// SecretsUnder returns how many active secrets, and operator tokens that are valid at a time,
// are recorded under a credential key. It walks their tables.
func (v View) SecretsUnder(number uint32, at Time) (n int) {
	for t := range v.OperatorTokens() {
		if t.Key == number && t.endedAt() > at {
			n++
		}
	}
	for _, list := range v.secretLists() {
		n += list.under(number)
	}
	return n
}

// LockedOut returns the clients and resource servers that can't authenticate any more,
// because each of their active secrets is recorded under a dropped key. It walks both tables.
func (v View) LockedOut() (all []SecretHolder) {
	for holder, list := range v.secretLists() {
		if list.lockedOut(v.keyKnown) {
			all = append(all, holder)
		}
	}
	return all
}
