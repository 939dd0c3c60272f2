package ledger

import "strings"

// A Revocation revokes access tokens before they expire: those that match every field it
// names and whose iat, in whole seconds, is not later than At. It names either a grant, or
// a user, a client, or both.
type Revocation struct {
	Seq    uint64  // of the event that caused it; one event may cause several
	At     Time    // at most MaxAhead after the event's At
	Grant  GrantID // zero if it names none
	User   string
	Client string
	// Lifted cancels an earlier revocation of Client alone: tokens of a suspended client
	// are valid again when it is resumed.
	Lifted bool
}

// OfGrant reports whether r names a grant.
func (r *Revocation) OfGrant() bool { return r.Grant != GrantID{} }

// RevocationsOf returns the revocations that an event caused. Most events revoke no issued
// token:
//
//   - A client that was edited, or lost scopes, keeps its grants and their scopes. A secret
//     is for getting tokens, not for using them. An owner is not a user.
//   - Passwords and sessions concern signing in here.
//   - Tokens of a dropped signing key become invalid with the key set. Dropping a credential
//     key ends chains and leaves access tokens valid (see GrantUnredeemable).
//   - A Replay revokes tokens without naming each; readers that list revocations start
//     again after it.
func (v View) RevocationsOf(e *Event) []Revocation {
	// An ended grant and a suspended client get no more tokens, so all of theirs may be
	// revoked, including those whose iat is ahead of the event.
	r := Revocation{Seq: e.Seq, At: e.At.Add(MaxAhead)}
	switch e.Kind {
	case EventGrantRevoked, EventReuse:
		r.Grant = e.Grant
	case EventDisconnected:
		r.At, r.User, r.Client = e.TokensRevokedBefore, e.User, e.Client // the user's tokens for one client, or for all
	case EventUserState:
		if !UserState(e.Detail).revokes() {
			return nil
		}
		r.At, r.User = e.TokensRevokedBefore, e.User
	case EventClientDeleted:
		r.Client = e.Client
	case EventClientReviewed:
		verdict, _ := e.Review()
		if verdict != Suspend && verdict != Resume {
			return nil
		}
		r.Client, r.Lifted = e.Client, verdict == Resume
	case EventClientImported, EventClientApplied:
		// A declaration may suspend or resume an existing client. A client that is
		// pending or rejected gets no more tokens and keeps those that were issued.
		c := v.Client(e.Client)
		if c == nil || c.Created >= e.At {
			return nil
		}
		r.Client, r.Lifted = e.Client, c.State != Suspended
	case EventExchanged:
		return v.endedByScopes(e)
	case EventPublisherRevoked, EventPublisherRejected, EventPublisherRemoved:
		return v.endedByPublisher(e)
	default:
		return nil
	}
	c := v.Client(r.Client)
	if c == nil {
		return []Revocation{r}
	}
	r.Client = c.ClientID()
	if !r.Lifted || c.TokensRevokedBefore == 0 {
		return []Revocation{r}
	}
	// What was lifted includes the end of the client's earlier grants, which stays.
	return []Revocation{r, {Seq: e.Seq, At: c.TokensRevokedBefore, Client: r.Client}}
}

// endedByPublisher returns the clients whose grants ended with their publisher's.
func (v View) endedByPublisher(e *Event) (all []Revocation) {
	host, _, _ := strings.Cut(e.Detail, " ")
	for c := range v.ClientsOfPublisher(host) {
		if c.GrantsRevokedBefore >= e.Seq {
			all = append(all, Revocation{Seq: e.Seq, At: e.At.Add(MaxAhead), Client: c.ClientID()})
		}
	}
	return all
}

// endedByScopes returns the legacy grants that ended when their user's authorization with
// scopes was redeemed. Ended grants are kept for longer than their tokens live, so all of
// them are found.
func (v View) endedByScopes(e *Event) (all []Revocation) {
	g, u := v.Grant(e.Grant), v.User(e.User)
	if g == nil || u == nil || g.Legacy || u.revokedBefore(g.Client).Legacy < g.CreatedSeq {
		return nil
	}
	for _, id := range u.Grants {
		if old := v.Grant(id); old != nil && old.Legacy && old.Client == g.Client && old.CreatedSeq <= g.CreatedSeq {
			all = append(all, Revocation{Seq: e.Seq, At: e.At.Add(MaxAhead), Grant: id})
		}
	}
	return all
}

// Revocations returns the revocations after a Seq, in order. last is the Seq up to which the
// trail was read; replayed is the time of the last Replay in that part, or 0.
func (v View) Revocations(after uint64) (all []Revocation, last uint64, replayed Time) {
	last = after
	for e := range rowsFrom[Event](v, TableAudit, sequence(after+1)) {
		last = e.Seq
		if e.Kind == EventReplayed {
			replayed = e.At
		}
		all = append(all, v.RevocationsOf(e)...)
	}
	return all, last, replayed
}

// TrailBefore returns a Seq that all remaining events at or after a time follow.
func (v View) TrailBefore(t Time) uint64 { return v.lastEventBefore(t) }

// TrailCompleteFrom returns 0 if the trail has every revocation at or after from, and
// otherwise the time since which it has every one.
func (v View) TrailCompleteFrom(from Time) Time { return v.TrailCompleteAfter(0, from) }

// TrailCompleteAfter returns 0 if the trail has every revocation with a Seq above read and
// at or after from, and otherwise the time since which it has every one.
func (v View) TrailCompleteAfter(read uint64, from Time) Time {
	if t := v.Trail(); t.TrimmedRevocationSeq > read && t.TrimmedRevocationAt >= from {
		return t.TrimmedRevocationAt + 1
	}
	return 0
}

// FirstEventTime returns the time of a timeline's first event, or 0 if there is none yet.
func (v View) FirstEventTime(l Timeline) Time {
	if e := v.eventFrom(l.From); e != nil {
		return e.At
	}
	return 0
}

// CurrentTimeline returns the current timeline, or the zero Timeline before the first.
func (v View) CurrentTimeline() Timeline {
	timelines := v.Timelines()
	if len(timelines) == 0 {
		return Timeline{}
	}
	return timelines[len(timelines)-1]
}
