package ledger

import (
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// A Purpose is what a key is used for.
type Purpose string

// Purposes.
const (
	ForSigning     Purpose = "signing"    // access tokens; the public half is in the JWKS
	ForCredentials Purpose = "credential" // codes, refresh tokens, digests of secrets, error ids
)

// A KeyState is a stage in the life of a key: announced → active → retiring → removed. A
// removed key has no row.
type KeyState string

// Key states.
const (
	KeyAnnounced KeyState = "announced" // published, not used yet
	KeyActive    KeyState = "active"    // used to mint
	KeyRetiring  KeyState = "retiring"  // used to verify only
)

// A Key is a row of the keyring. Its private part is sealed under the cluster key, which
// no row contains.
type Key struct {
	ID        string   `cbor:"1,keyasint"` // the RFC 7638 thumbprint of a signing key; "c1", "c2" … of credential keys
	Purpose   Purpose  `cbor:"2,keyasint"`
	Number    uint32   `cbor:"3,keyasint,omitempty"` // credential key only: the number that credentials carry
	Algorithm string   `cbor:"4,keyasint,omitempty"` // signing key only
	Public    []byte   `cbor:"5,keyasint,omitempty"` // signing key only: its JWK (RFC 7517)
	Sealed    []byte   `cbor:"6,keyasint"`
	State     KeyState `cbor:"7,keyasint"`

	Announced Time       `cbor:"8,keyasint"`
	Activated Time       `cbor:"9,keyasint,omitempty"`
	Retired   Time       `cbor:"10,keyasint,omitempty"`
	Last      command.ID `cbor:"11,keyasint"`

	SealedUnder string `cbor:"12,keyasint,omitempty"` // public id of the cluster key that Sealed is sealed under

	// PropagatedAt is when every verifier knows an announced signing key. It is set at
	// the announcement, from the longest max-age that the JWKS had promised until then:
	// caches keep the key set that long even if the setting is shortened.
	PropagatedAt Time `cbor:"13,keyasint,omitempty"`
	// HighestNumber is the highest number of a removed credential key, if that is higher
	// than every number in the keyring. Numbers are never reused.
	HighestNumber uint32 `cbor:"14,keyasint,omitempty"`
}

// tokenOverlap is how long a retired signing key stays in the JWKS: the lifetime of an
// access token plus a minute for clock skew.
const tokenOverlap = (1800 + 60) * time.Second

// NextStep returns the earliest time at which the published part of the keyring may
// change. The Cache-Control of the JWKS never promises longer. ok is false if no change is
// pending.
func (v View) NextStep() (at Time, ok bool) {
	s := v.Settings()
	for k := range v.Keys() {
		if k.Purpose != ForSigning || k.State == KeyActive {
			continue
		}
		if t := k.Due(s); !ok || t < at {
			at, ok = t, true
		}
	}
	return at, ok
}

// Due returns when the key may take its next step.
func (k *Key) Due(s *Settings) Time {
	switch {
	case k.State == KeyAnnounced && k.PropagatedAt > 0:
		return k.PropagatedAt
	case k.State == KeyAnnounced && k.Purpose == ForSigning:
		return k.Announced.Add(2 * s.JWKSMaxAge)
	case k.State == KeyAnnounced:
		return k.Announced
	case k.Purpose == ForSigning:
		return k.Retired.Add(tokenOverlap)
	}
	// A credential key verifies for GrantAbsolute after it last minted, so that reuse of
	// any earlier credential is detected.
	return k.Retired.Add(s.GrantAbsolute)
}

// AddKey announces a key that the leader has generated and sealed. The first key of a
// purpose becomes active at once, since no verifier can have cached a key set without it.
type AddKey struct {
	Key Key `cbor:"1,keyasint"`
}

// Kind implements command.Command.
func (*AddKey) Kind() command.Kind { return KindAddKey }

// Decide refuses a second announced key with the same purpose.
func (c *AddKey) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	k := c.Key
	if old := v.Key(k.ID); old != nil {
		if old.Last == m.ID {
			return accept(Outcome{ID: k.ID})
		}
		return deny(AlreadyExists)
	}
	if k.ID == "" || len(k.Sealed) == 0 || k.Purpose != ForSigning && k.Purpose != ForCredentials {
		return badField("key", "is not complete")
	}
	if v.announcedKey(k.Purpose) != nil {
		return deny(WrongState)
	}
	if under := v.SealedUnder(); under != "" && k.SealedUnder != under {
		return deny(SealedUnderOtherKey) // a Rewrap was applied in between
	}
	if k.Purpose == ForCredentials {
		for other := range v.Keys() {
			if other.Purpose == ForCredentials && max(other.Number, other.HighestNumber) >= k.Number {
				return deny(Conflict) // numbers increase, so that none is ever reused
			}
		}
	}
	k.State, k.Announced, k.Activated, k.Retired, k.PropagatedAt, k.HighestNumber, k.Last = KeyAnnounced, stateTime(m), 0, 0, 0, 0, m.ID
	switch {
	case v.ActiveKey(k.Purpose) == nil:
		k.State, k.Activated = KeyActive, stateTime(m)
	case k.Purpose == ForSigning:
		s := v.Settings()
		k.PropagatedAt = max(stateTime(m).Add(2*s.JWKSMaxAge), s.CachedJWKSUntil)
	}
	return accept(Outcome{ID: k.ID}, put(TableKeys, &k),
		event(m, Event{Kind: EventKeyAdded, Actor: Operator, Detail: k.ID}))
}

// ActivateKey makes an announced key the active one; the previous key retires.
type ActivateKey struct {
	ID string `cbor:"1,keyasint"`
	// Voters are the voters that the leader knows. Each must have opened the key.
	Voters []string `cbor:"2,keyasint"`
	// Emergency skips the wait for key sets to propagate. Verifiers that have not fetched
	// the key yet refuse its tokens for a while.
	Emergency bool `cbor:"3,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*ActivateKey) Kind() command.Kind { return KindActivateKey }

// Decide refuses a step that would lock out a node or a verifier.
func (c *ActivateKey) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	k := v.Key(c.ID)
	switch {
	case k == nil:
		return deny(NotFound)
	case k.Last == m.ID:
		return accept(Outcome{ID: k.ID})
	case k.State != KeyAnnounced:
		return deny(WrongState)
	case len(c.Voters) == 0:
		return deny(KeyNotOpened)
	}
	settings := v.Settings()
	due := k.Due(settings)
	for _, id := range c.Voters {
		n := v.Node(id)
		if n == nil || !n.HasOpened(k.ID) {
			return deny(KeyNotOpened)
		}
		if k.Purpose == ForSigning {
			// A node that was partitioned served key sets without this key until it
			// opened it, and promised that each was good for JWKSMaxAge.
			due = max(due, n.Seen.Add(settings.JWKSMaxAge))
		}
	}
	if stateTime(m) < due && !c.Emergency {
		d := deny(KeyTooYoung)
		outcome(d).Refusal.When = due
		return d
	}
	next := *k
	next.State, next.Activated, next.Last = KeyActive, stateTime(m), m.ID
	changes := []command.Change{put(TableKeys, &next), event(m, Event{Kind: EventKeyActivated, Actor: Operator, Detail: k.ID})}
	if old := v.ActiveKey(k.Purpose); old != nil {
		retiring := *old
		retiring.State, retiring.Retired, retiring.Last = KeyRetiring, stateTime(m), m.ID
		changes = append(changes, put(TableKeys, &retiring))
	}
	return accept(Outcome{ID: k.ID}, changes...)
}
