package ledger

import (
	"strings"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// A Verdict is an administrator's decision on a client.
type Verdict string

// Verdicts. Approve and Reject decide on a pending client or a proposed revision; Suspend
// and Resume apply to an approved client.
const (
	Approve Verdict = "approve"
	Reject  Verdict = "reject"
	Suspend Verdict = "suspend"
	Resume  Verdict = "resume"
)

// MaxReason is the maximum length of the reason for a decision, in characters.
const MaxReason = 500

// ReviewClient changes the state of a client.
type ReviewClient struct {
	Actor   Actor   `cbor:"1,keyasint"`
	ID      string  `cbor:"2,keyasint"`
	Verdict Verdict `cbor:"3,keyasint"`
	Reason  string  `cbor:"4,keyasint,omitempty"` // required for Reject
	// Revision is the revision that the administrator saw. It prevents two reviewers,
	// or a repeated command, from undoing one another.
	Revision uint64 `cbor:"5,keyasint"`
}

// Kind implements command.Command.
func (*ReviewClient) Kind() command.Kind { return KindReviewClient }

// Decide follows one transition between client states.
func (c *ReviewClient) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyAdministrator(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	old := v.Client(c.ID)
	switch {
	case old == nil || old.State == Deleted:
		return deny(NotFound)
	case old.Last == m.ID:
		return accept(Outcome{ID: c.ID})
	case old.Revision != c.Revision:
		return deny(Conflict)
	}
	if note := checkText(c.Reason, 0, MaxReason); note != "" {
		return badField("reason", note)
	}
	next := old.changed(m)
	next.Revision++
	next.Reason = c.reason(old)
	switch {
	case c.Verdict == Approve && old.State == Pending:
		next.State = Approved
	case c.Verdict == Approve && old.Proposed != nil:
		next.Profile, next.Proposed = *old.Proposed, nil
	case c.Verdict == Reject && c.Reason == "":
		return badField("reason", "is missing: the owner must learn what to change")
	case c.Verdict == Reject && old.State == Pending:
		next.State = Rejected
	case c.Verdict == Reject && old.Proposed != nil:
		next.refuse(c.Reason, m)
	case c.Verdict == Suspend && old.State == Approved:
		next.State = Suspended
	case c.Verdict == Resume && old.State == Suspended:
		next.State = Approved
		if d := old.Document; d != nil && d.Replaced {
			reviewed := *d
			reviewed.Replaced = false
			next.State, next.Document = Pending, &reviewed
		}
	default:
		return deny(WrongState)
	}
	next.queue(old, m)
	return accept(Outcome{ID: c.ID}, put(TableClients, next),
		event(m, Event{Kind: EventClientReviewed, Actor: who.name(), Client: c.ID, User: old.Owner, Detail: c.detail(old)}))
}

// reason returns the new Client.Reason. The reason of a suspension stays until the
// suspension ends; the reason for refusing a revision meanwhile is in Client.Refused and
// in the audit trail.
func (c *ReviewClient) reason(old *Client) string {
	if old.State == Suspended && c.Verdict != Resume {
		return old.Reason
	}
	return c.Reason
}

const (
	reviewReason  = ": "       // separates a verdict from its reason in an event's detail
	reviewChanges = " changes" // follows a verdict on a proposed revision
)

func (c *ReviewClient) detail(old *Client) string {
	detail := string(c.Verdict)
	if (c.Verdict == Approve || c.Verdict == Reject) && old.State != Pending {
		detail += reviewChanges
	}
	if c.Reason == "" {
		return detail
	}
	return detail + reviewReason + c.Reason
}

// Review returns the verdict of an EventClientReviewed and its reason, which may be "".
func (e *Event) Review() (verdict Verdict, reason string) {
	text, reason, _ := strings.Cut(e.Detail, reviewReason)
	return Verdict(strings.TrimSuffix(text, reviewChanges)), reason
}

// ReviewedChanges reports whether an EventClientReviewed is about a proposed revision, not
// about the client.
func (e *Event) ReviewedChanges() bool {
	text, _, _ := strings.Cut(e.Detail, reviewReason)
	return strings.HasSuffix(text, reviewChanges)
}

// DeleteClient deletes a client and so ends all its grants. The row stays as a tombstone:
// the command writes few rows however many grants there are, and the id is never reused.
type DeleteClient struct {
	Actor Actor  `cbor:"1,keyasint"`
	ID    string `cbor:"2,keyasint"`
	// Revision is the client's revision that the administrator saw. The command is
	// refused if the client has another revision now. 0 matches any.
	Revision uint64 `cbor:"3,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*DeleteClient) Kind() command.Kind { return KindDeleteClient }

// Decide also accepts a client that is deleted already.
func (c *DeleteClient) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identify(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	old := v.Client(c.ID)
	switch {
	case old == nil || !who.owns(old.Owner) && !who.administrator():
		return deny(NotFound)
	case old.State == Deleted:
		return accept(Outcome{ID: c.ID})
	case c.Revision != 0 && c.Revision != old.Revision:
		return deny(Conflict)
	}
	next := old.changed(m)
	next.tombstone()
	next.Revision++
	return accept(Outcome{ID: c.ID}, append(v.withoutUsage(c.ID), put(TableClients, next),
		event(m, Event{Kind: EventClientDeleted, Actor: who.name(), Client: c.ID, User: old.Owner}))...)
}

func (c *Client) tombstone() {
	c.State, c.Proposed, c.Refused, c.Secrets, c.Offer, c.Waiting, c.Draft = Deleted, nil, nil, nil, nil, 0, nil
}
