package ledger

import (
	"github.com/mintmark-auth/mintmark/cluster/command"
)

// An EventKind names the kind of an audit event.
type EventKind string

// Kinds of audit events. Everything that gives, widens, narrows or takes away access is
// recorded. An ordinary refresh is not: it happens every half hour for every grant, and
// the grant's row has the time of the last one.
const (
	EventConfigured        EventKind = "settings.changed"  // the detail has the keys and their values
	EventBranded           EventKind = "settings.branding" // the detail begins with draft, publish or discard
	EventUserPut           EventKind = "user.put"
	EventUserState         EventKind = "user.state"
	EventUserAdded         EventKind = "user.added"   // by an administrator, or at the first sign-in through a provider
	EventUserEdited        EventKind = "user.edited"  // by an administrator
	EventProfileEdited     EventKind = "user.profile" // by a client; the detail has the fields that it edits for the first time on a day
	EventPasswordSet       EventKind = "user.password"
	EventFeedSet           EventKind = "user.feed" // the address of the feed; made, replaced or removed, as the detail says
	EventSignedIn          EventKind = "session.created"
	EventSignedOut         EventKind = "session.ended"
	EventClientCreated     EventKind = "client.created"
	EventClientEdited      EventKind = "client.edited"
	EventClientProposed    EventKind = "client.proposed"
	EventClientReviewed    EventKind = "client.reviewed"
	EventClientDeleted     EventKind = "client.deleted"
	EventClientOffered     EventKind = "client.offered"     // to another user, by its owner
	EventOfferEnded        EventKind = "client.offer_ended" // declined or withdrawn, as the detail says
	EventClientTransferred EventKind = "client.transferred" // to another user; the detail begins with the previous owner
	EventClientImported    EventKind = "client.imported"
	EventClientApplied     EventKind = "client.applied"         // from a file of the operator; the detail has the differences
	EventScopesSelected    EventKind = "client.scopes_selected" // the migration of a legacy client
	EventSecretAdded       EventKind = "secret.added"           // the detail begins with the secret's id
	EventSecretEdited      EventKind = "secret.edited"          // its name or its end
	EventSecretRevoked     EventKind = "secret.revoked"
	EventAllowed           EventKind = "grant.allowed"
	EventExchanged         EventKind = "grant.exchanged"
	EventRetried           EventKind = "grant.retried"        // a refresh was repeated within the retry window; at most one a day for each grant
	EventShared            EventKind = "grant.shared"         // two copies of an application use the grant; at most one a day for each grant
	EventReuse             EventKind = "grant.reuse"          // a spent credential was presented again; the grant was ended
	EventFastForwarded     EventKind = "grant.fast_forwarded" // after a restore or a recovery, the grant accepted a refresh token later than the one due
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
	EventRecovered         EventKind = "restore.recovered" // the only remaining node became a cluster of one
	EventFailures          EventKind = "security.failures" // failed authentications of one hour, summed over all nodes

	EventOperatorTokenAdded   EventKind = "operator.token_added"
	EventOperatorTokenRevoked EventKind = "operator.token_revoked"
	EventOperation            EventKind = "operator.operation" // an operation of a remote operator that has no event of its own

	// The detail of these begins with the identifier URI.
	EventResourceAdded         EventKind = "resource_server.added"
	EventResourceEdited        EventKind = "resource_server.edited"
	EventResourceRemoved       EventKind = "resource_server.removed"
	EventResourceSecretAdded   EventKind = "resource_server.secret_added"
	EventResourceSecretRevoked EventKind = "resource_server.secret_revoked"
	EventResourceApplied       EventKind = "resource_server.applied" // from a file of the operator; the detail has the differences

	// The detail of these begins with the host.
	EventPublisherAdded     EventKind = "publisher.added"     // or approved; the detail has the scopes
	EventPublisherEdited    EventKind = "publisher.edited"    // the detail has the differences
	EventPublisherApplied   EventKind = "publisher.applied"   // from a file of the operator; the detail has the differences
	EventPublisherRevoked   EventKind = "publisher.revoked"   // the grants for all its clients
	EventPublisherRejected  EventKind = "publisher.rejected"  // and the grants for all its clients revoked
	EventPublisherRemoved   EventKind = "publisher.removed"   // and the grants for all its clients revoked
	EventPublisherRequested EventKind = "publisher.requested" // by a user's authorization; the detail is the client_id
	// The detail of these is the client_id.
	EventDocumentAdded   EventKind = "document.added"
	EventDocumentChanged EventKind = "document.changed"
)

// EventKinds are all kinds of events.
var EventKinds = []EventKind{
	EventConfigured, EventBranded, EventUserPut, EventUserState, EventUserAdded, EventUserEdited, EventProfileEdited, EventPasswordSet, EventFeedSet,
	EventSignedIn, EventSignedOut, EventClientCreated, EventClientEdited, EventClientProposed,
	EventClientReviewed, EventClientDeleted, EventClientOffered, EventOfferEnded,
	EventClientTransferred, EventClientImported, EventClientApplied, EventScopesSelected, EventSecretAdded,
	EventSecretEdited, EventSecretRevoked, EventAllowed, EventExchanged, EventRetried, EventShared, EventReuse,
	EventFastForwarded, EventGrantRevoked, EventDisconnected, EventKeyAdded, EventKeyActivated,
	EventKeyDropped, EventKeyEmergency, EventRewrapped, EventNodeForgotten, EventRestored,
	EventReplayed, EventRecovered, EventFailures,
	EventOperatorTokenAdded, EventOperatorTokenRevoked, EventOperation,
	EventResourceAdded, EventResourceEdited, EventResourceRemoved, EventResourceSecretAdded, EventResourceSecretRevoked,
	EventResourceApplied,
	EventPublisherAdded, EventPublisherEdited, EventPublisherApplied, EventPublisherRevoked, EventPublisherRejected, EventPublisherRemoved,
	EventPublisherRequested, EventDocumentAdded, EventDocumentChanged,
}

// An Event is one entry of the audit trail. Entries are in log order; a command adds at
// most one.
type Event struct {
	Seq                 uint64    `cbor:"1,keyasint"` // Meta.Seq
	At                  Time      `cbor:"2,keyasint"`
	Kind                EventKind `cbor:"3,keyasint"`
	Actor               string    `cbor:"4,keyasint,omitempty"` // a user's id, a client's id, Operator, or an operator on another machine: see Actor.Name
	Client              string    `cbor:"5,keyasint,omitempty"`
	User                string    `cbor:"6,keyasint,omitempty"`
	Grant               GrantID   `cbor:"7,keyasint,omitempty"`
	Detail              string    `cbor:"8,keyasint,omitempty"` // never a secret
	TokensRevokedBefore Time      `cbor:"9,keyasint,omitempty"` // User.TokensRevokedBefore, for an event that revoked a user's grants
}

// Operator is the Actor of commands that come from the local socket or from a node's own
// duties.
const Operator = "operator"

// MaxEvents is the number of events that the audit trail keeps. The leader removes the
// surplus, beginning with the actors that have the most events: see Shares. The rate of
// events is bounded as well, because an actor could otherwise displace its own earlier
// events and revocations that readers of the feed have not fetched yet: see auditsRetry,
// maxAllowsPerDay, and the limits on forms in issuer/web.
const MaxEvents = 100_000

func event(m command.Meta, e Event) command.Change {
	e.Seq, e.At = m.Seq, stateTime(m)
	return put(TableAudit, &e)
}

// detailEvent returns an event whose detail is the id of a resource server or a publisher, and
// more, which may be "".
func detailEvent(m command.Meta, kind EventKind, who caller, id, more string) command.Change {
	detail := id
	if more != "" {
		detail += " " + more
	}
	return event(m, Event{Kind: kind, Actor: who.name(), Detail: detail})
}
