package ledger

import "cmp"

// A Record is what one command took away. Records are kept apart from the
// state, so that a restore of an older backup does not give back what was
// taken since. They speak of effects, not of rows: an effect can be applied to
// a row that is older than the one it was made on.
//
// A Record holds no secret in clear: of secrets the keyed digest, of passwords
// the hash, of keys the sealed row.
type Record struct {
	Seq     uint64   `cbor:"1,keyasint"` // Meta.Seq of the command
	At      Time     `cbor:"2,keyasint"`
	Actor   string   `cbor:"3,keyasint,omitempty"` // as Event.Actor
	Effects []Effect `cbor:"4,keyasint"`
}

// An EffectKind says what an Effect does. Kinds are appended, never renumbered
// and never given a new meaning: a journal outlives the version that wrote it.
type EffectKind uint8

// Kinds of effects, with the fields that each has beside its subject. Not all
// of them restrict: what undoes a restriction is among them, or a replay
// would leave it standing.
const (
	EffectGrantEnded        EffectKind = 1 // Grant: Cause
	EffectDisconnected      EffectKind = 2 // User: Client, "" for all
	EffectLegacyEnded       EffectKind = 3 // User: Client, Born; the grants without limits
	EffectSignedOut         EffectKind = 4 // User: Session
	EffectSignedOutAll      EffectKind = 5 // User
	EffectPassword          EffectKind = 6 // User: Password; ends sessions
	EffectUserDisabled      EffectKind = 7 // Identity
	EffectUserEnabled       EffectKind = 8 // Identity
	EffectUserDeleted       EffectKind = 9 // Identity
	EffectAdminGranted      EffectKind = 10
	EffectAdminRevoked      EffectKind = 11
	EffectClientState       EffectKind = 12 // Client: State, Reason
	EffectClientDeleted     EffectKind = 13
	EffectClientNarrowed    EffectKind = 14 // Client: URIs and Scopes, those that were left
	EffectScopesSelected    EffectKind = 15 // Client: Scopes
	EffectSecretRevoked     EffectKind = 16 // Client: ID
	EffectSecretAdded       EffectKind = 17 // Client: Secret
	EffectKeyAdded          EffectKind = 18 // Key
	EffectKeyActivated      EffectKind = 19 // ID
	EffectKeyDropped        EffectKind = 20 // ID, Emergency
	EffectRewrapped         EffectKind = 21 // ID of the cluster key, Sealed
	EffectClientTransferred EffectKind = 22 // Client: User, its new owner

	lastEffect = EffectClientTransferred
)

// An Effect is one thing that a command did.
type Effect struct {
	Kind EffectKind `cbor:"1,keyasint"`

	User    string   `cbor:"2,keyasint,omitempty"`
	Client  string   `cbor:"3,keyasint,omitempty"`
	Grant   GrantID  `cbor:"4,keyasint,omitzero"`
	Session [32]byte `cbor:"5,keyasint,omitzero"` // as Session.ID, a digest

	Cause     Cause       `cbor:"6,keyasint,omitempty"`
	Password  string      `cbor:"7,keyasint,omitempty"` // argon2id, PHC form
	State     ClientState `cbor:"8,keyasint,omitempty"`
	Reason    string      `cbor:"9,keyasint,omitempty"`
	URIs      []string    `cbor:"10,keyasint,omitempty"`
	Scopes    []string    `cbor:"11,keyasint,omitempty"`
	ID        string      `cbor:"12,keyasint,omitempty"`
	Secret    *NewSecret  `cbor:"13,keyasint,omitempty"`
	Key       *Key        `cbor:"14,keyasint,omitempty"`
	Emergency bool        `cbor:"15,keyasint,omitempty"`
	Sealed    []SealedKey `cbor:"16,keyasint,omitempty"`

	At Time `cbor:"17,keyasint,omitempty"` // of an effect that was replayed: when it happened first

	// RevokedBefore is the Seq up to which the effect ended grants: those that were born at or
	// before it. 0 means the command's own Seq.
	RevokedBefore uint64 `cbor:"18,keyasint,omitempty"`

	// Identity is that of a user who signs in elsewhere, for what follows the
	// person and not only the row. It may be known although the user is not.
	Identity Identity `cbor:"19,keyasint,omitempty"`
}

// when is the time of e in its record.
func (r *Record) when(e *Effect) Time { return cmp.Or(e.At, r.At) }

// revokedBefore is the position up to which e ends grants when it is applied at seq. A
// position that the backup has means the same after a restore. A later one is of
// a grant that is lost: whatever the backup has was born before it.
func (e *Effect) revokedBefore(seq uint64) uint64 {
	if e.RevokedBefore == 0 {
		return seq
	}
	return min(e.RevokedBefore, seq)
}

// complete reports whether the kind of e is known and e has all fields that the kind needs.
func (e *Effect) complete() bool {
	switch e.Kind {
	case EffectSecretAdded:
		return e.Secret != nil
	case EffectKeyAdded:
		return e.Key != nil
	case EffectScopesSelected:
		return len(e.Scopes) > 0
	case EffectClientTransferred:
		return e.User != ""
	}
	return e.Kind > 0 && e.Kind <= lastEffect && e.At >= 0
}
