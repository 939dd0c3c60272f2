package ledger

import "cmp"

// A Record is what one command took away. Records are stored apart from the state, so that
// a restore of an older backup doesn't give back what was taken after it. They describe
// effects instead of rows: an effect can be applied to an older version of the row.
//
// A Record contains no secret in clear: secrets are keyed digests, passwords are
// hashes, keys are sealed.
type Record struct {
	Seq     uint64   `cbor:"1,keyasint"` // Meta.Seq of the command
	At      Time     `cbor:"2,keyasint"`
	Actor   string   `cbor:"3,keyasint,omitempty"` // like Event.Actor
	Effects []Effect `cbor:"4,keyasint"`
}

// An EffectKind identifies what an Effect does. Kinds are appended, never renumbered and
// never given a new meaning: a journal outlives the version that wrote it.
type EffectKind uint8

// Kinds of effects, with the fields that each uses. Not all of them restrict: an effect
// that lifts a restriction is included, or a replay would leave the restriction in place.
const (
	EffectGrantEnded        EffectKind = 1 // Grant: Cause
	EffectDisconnected      EffectKind = 2 // User: Client, "" for all
	EffectLegacyEnded       EffectKind = 3 // User: Client, RevokedBefore; the grants without limits
	EffectSignedOut         EffectKind = 4 // User: Session
	EffectSignedOutAll      EffectKind = 5 // User
	EffectPassword          EffectKind = 6 // User: Password, PasswordCost; ends sessions
	EffectUserDisabled      EffectKind = 7 // Identity
	EffectUserEnabled       EffectKind = 8 // Identity
	EffectUserDeleted       EffectKind = 9 // Identity
	EffectAdminGranted      EffectKind = 10
	EffectAdminRevoked      EffectKind = 11
	EffectClientState       EffectKind = 12 // Client: State, Reason
	EffectClientDeleted     EffectKind = 13
	EffectClientNarrowed    EffectKind = 14 // Client: URIs and Scopes that remained
	EffectScopesSelected    EffectKind = 15 // Client: Scopes
	EffectSecretRevoked     EffectKind = 16 // Client: ID
	EffectSecretAdded       EffectKind = 17 // Client: Secret
	EffectKeyAdded          EffectKind = 18 // Key
	EffectKeyActivated      EffectKind = 19 // ID
	EffectKeyDropped        EffectKind = 20 // ID, Emergency
	EffectRewrapped         EffectKind = 21 // ID of the cluster key, Sealed
	EffectClientTransferred EffectKind = 22 // Client: User, the new owner

	EffectOperatorTokenRevoked EffectKind = 23 // ID

	EffectResourceSecretRevoked EffectKind = 24 // Resource: ID
	EffectResourceSecretAdded   EffectKind = 25 // Resource: Secret
	EffectResourceRemoved       EffectKind = 26 // Resource
	EffectResourceNarrowed      EffectKind = 27 // Resource: Scopes that remained

	EffectClientRevoked     EffectKind = 28 // Client: RevokedBefore; the grants of all users
	EffectPublisherRejected EffectKind = 29 // Publisher: Reason
	EffectPublisherRemoved  EffectKind = 30 // Publisher
	EffectPublisherNarrowed EffectKind = 31 // Publisher: Scopes that remained, Defaults, URIs, MaxClients, LongRetry

	EffectSecretEnds EffectKind = 32 // Client: ID, Ends

	EffectFeedSet EffectKind = 33 // User: Feed, zero if the address was removed

	lastEffect = EffectFeedSet
)

// An Effect is one thing that a command took away or gave back.
type Effect struct {
	Kind EffectKind `cbor:"1,keyasint"`

	User    string   `cbor:"2,keyasint,omitempty"`
	Client  string   `cbor:"3,keyasint,omitempty"`
	Grant   GrantID  `cbor:"4,keyasint,omitzero"`
	Session [32]byte `cbor:"5,keyasint,omitzero"` // like Session.ID, a digest

	Cause     Cause       `cbor:"6,keyasint,omitempty"`
	Password  string      `cbor:"7,keyasint,omitempty"` // like User.Password
	State     ClientState `cbor:"8,keyasint,omitempty"`
	Reason    string      `cbor:"9,keyasint,omitempty"`
	URIs      []string    `cbor:"10,keyasint,omitempty"`
	Scopes    []string    `cbor:"11,keyasint,omitempty"`
	ID        string      `cbor:"12,keyasint,omitempty"`
	Secret    *NewSecret  `cbor:"13,keyasint,omitempty"`
	Key       *Key        `cbor:"14,keyasint,omitempty"`
	Emergency bool        `cbor:"15,keyasint,omitempty"`
	Sealed    []SealedKey `cbor:"16,keyasint,omitempty"`

	At Time `cbor:"17,keyasint,omitempty"` // for an effect that was replayed: when it first happened

	// RevokedBefore is the Seq up to which the effect ended grants: those created at or
	// before it. 0 means the command's own Seq.
	RevokedBefore uint64 `cbor:"18,keyasint,omitempty"`

	// Identity is the identity of a user of an upstream provider, for effects that follow
	// the person and not only the row. It may be set although the user is unknown.
	Identity Identity `cbor:"19,keyasint,omitempty"`

	Resource string `cbor:"20,keyasint,omitempty"` // identifier URI of a resource server

	PasswordCost HashCost `cbor:"21,keyasint,omitzero"` // like User.PasswordCost

	Publisher  string   `cbor:"22,keyasint,omitempty"` // host
	Defaults   []string `cbor:"23,keyasint,omitempty"` // of scopes
	MaxClients int      `cbor:"24,keyasint,omitempty"` // like Publisher.MaxClients
	LongRetry  bool     `cbor:"25,keyasint,omitempty"` // like Publisher.LongRetry

	Ends Time `cbor:"26,keyasint,omitempty"` // like Secret.Ends

	Feed [32]byte `cbor:"27,keyasint,omitzero"` // like User.FeedDigest
}

// when returns the time of e in its record.
func (r *Record) when(e *Effect) Time { return cmp.Or(e.At, r.At) }

// revokedBefore returns the Seq up to which e ends grants when it is applied at seq. A Seq
// that the backup has means the same after a restore. A later Seq belongs to a grant that
// is lost; everything in the backup was created before it.
func (e *Effect) revokedBefore(seq uint64) uint64 {
	if e.RevokedBefore == 0 {
		return seq
	}
	return min(e.RevokedBefore, seq)
}

// complete reports whether the kind of e is known and all fields that it needs are set.
func (e *Effect) complete() bool {
	switch e.Kind {
	case EffectSecretAdded, EffectResourceSecretAdded:
		return e.Secret != nil
	case EffectKeyAdded:
		return e.Key != nil
	case EffectScopesSelected, EffectResourceNarrowed, EffectPublisherNarrowed:
		return len(e.Scopes) > 0
	case EffectClientTransferred:
		return e.User != ""
	}
	return e.Kind > 0 && e.Kind <= lastEffect && e.At >= 0
}
