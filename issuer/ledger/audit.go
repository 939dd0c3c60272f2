package ledger

import (
	"github.com/mintmark-auth/mintmark/cluster/command"
)

// An EventKind names what happened.
type EventKind string

// Events of the audit trail. An ordinary refresh is not among them: it
// happens every half hour for every grant, and the grant's row says when it
// was last. Everything that gives, widens, narrows or takes away access is.
const (
	EventConfigured        EventKind = "settings.changed"
	EventUserPut           EventKind = "user.put"
	EventUserState         EventKind = "user.state"
	EventUserAdded         EventKind = "user.added"  // by an administrator, or at the first sign-in by the provider that Detail names
	EventUserEdited        EventKind = "user.edited" // by an administrator
	EventPasswordSet       EventKind = "user.password"
	EventSignedIn          EventKind = "session.created"
	EventSignedOut         EventKind = "session.ended"
	EventClientCreated     EventKind = "client.created"
	EventClientEdited      EventKind = "client.edited"
	EventClientProposed    EventKind = "client.proposed"
	EventClientReviewed    EventKind = "client.reviewed"
	EventClientDeleted     EventKind = "client.deleted"
	EventClientOffered     EventKind = "client.offered"     // to its User, by its owner
	EventOfferEnded        EventKind = "client.offer_ended" // declined or withdrawn, as Detail says
	EventClientTransferred EventKind = "client.transferred" // to User; Detail begins with the owner before
	EventClientImported    EventKind = "client.imported"
	EventScopesSelected    EventKind = "client.scopes_selected" // the migration of a legacy client
	EventSecretAdded       EventKind = "secret.added"
	EventSecretRevoked     EventKind = "secret.revoked"
	EventAllowed           EventKind = "grant.allowed"
	EventExchanged         EventKind = "grant.exchanged"
	EventRetried           EventKind = "grant.retried"        // a refresh answered again inside the retry window; once a day for each grant
	EventShared            EventKind = "grant.shared"         // Grant.Shared became true, or is still; at most one a day for each grant
	EventReuse             EventKind = "grant.reuse"          // a credential of the chain came twice; the grant was ended
	EventFastForwarded     EventKind = "grant.fast_forwarded" // after a restore or a recovery, the grant accepted a later refresh token than it knew
	EventGrantRevoked      EventKind = "grant.revoked"
	EventDisconnected      EventKind = "grant.disconnected"
	EventKeyAdded          EventKind = "key.added"
	EventKeyActivated      EventKind = "key.activated"
	EventKeyDropped        EventKind = "key.dropped"
	EventKeyEmergency      EventKind = "key.dropped_in_emergency"
	EventRewrapped         EventKind = "key.rewrapped" // under another cluster key
	EventNodeForgotten     EventKind = "node.forgotten"
	EventRestored          EventKind = "restore.begun"
	EventReplayed          EventKind = "restore.replayed"
	EventRecovered         EventKind = "restore.recovered" // the only remaining node was made a cluster of one
	EventFailures          EventKind = "security.failures" // the failures to authenticate of one hour, on all nodes
)

// An Event is one entry of the audit trail, in log order. A command makes at
// most one.
type Event struct {
	Seq                 uint64    `cbor:"1,keyasint"` // Meta.Seq
	At                  Time      `cbor:"2,keyasint"`
	Kind                EventKind `cbor:"3,keyasint"`
	Actor               string    `cbor:"4,keyasint,omitempty"` // a user's id, a client's id, or Operator
	Client              string    `cbor:"5,keyasint,omitempty"`
	User                string    `cbor:"6,keyasint,omitempty"`
	Grant               GrantID   `cbor:"7,keyasint,omitempty"`
	Detail              string    `cbor:"8,keyasint,omitempty"` // never a secret
	TokensRevokedBefore Time      `cbor:"9,keyasint,omitempty"` // User.TokensRevokedBefore, of an event that cut a user's grants
}

// Operator is the Actor of what comes over the local socket or from a
// node's own duties.
const Operator = "operator"

// MaxEvents is how many events the audit trail keeps. Beyond it the leader removes
// events of the actors with the most: see Shares. The rate of events has bounds as
// well, since an actor without one could push out its own earlier events and the
// revocations that the feed has still to read: see auditsRetry, maxAllowsPerDay, and
// issuer/web for the forms of the pages.
const MaxEvents = 100_000

func event(m command.Meta, e Event) command.Change {
	e.Seq, e.At = m.Seq, stateTime(m)
	return put(TableAudit, &e)
}
