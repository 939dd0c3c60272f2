package ledger

// A Revocation revokes access tokens before they expire: those that match every field
// it names and whose iat, in whole seconds, is not later than At. It names a grant; or
// a user, a client, or both.
type Revocation struct {
	Seq    uint64  // of the event that caused it; one event may cause several
	At     Time    // at most MaxAhead after the event's At
	Grant  GrantID // all zero: it names none
	User   string
	Client string
	// Lifted gives back what an earlier one took from Client alone: tokens of a
	// suspended client count again when it is resumed.
	Lifted bool
}

// OfGrant reports whether r names a grant, and so nothing else.
func (r *Revocation) OfGrant() bool { return r.Grant != GrantID{} }

// RevocationsOf are what an event took back. Most events take nothing from
// tokens that are out:
//
//   - A client that was edited, or lost scopes, keeps its grants and their scopes;
//     a secret is for getting tokens, not for using them; an owner is not a user.
//   - A password and a session are about signing in here.
//   - A signing key that goes takes its tokens with it, by the key set. One of
//     credentials ends chains, and leaves the access tokens (see GrantUnredeemable).
//   - Replays of a journal take back what is not told one by one; whoever lists
//     revocations begins anew behind them.
func (v View) RevocationsOf(e *Event) []Revocation {
	// A grant that has ended and a client that is suspended get no more tokens. So all
	// of theirs may be revoked, also those whose iat is ahead of the event.
	r := Revocation{Seq: e.Seq, At: e.At.Add(MaxAhead)}
	switch e.Kind {
	case EventGrantRevoked, EventReuse:
		r.Grant = e.Grant
	case EventDisconnected:
		r.At, r.User, r.Client = e.TokensRevokedBefore, e.User, e.Client // the user's tokens of one client, or of all
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
	case EventClientImported:
		// A declaration may suspend a client that is there, or resume it. One that
		// waits for a review, or was rejected, gets no more tokens and keeps those
		// that are out.
		c := v.Client(e.Client)
		if c == nil || c.Created >= e.At {
			return nil
		}
		r.Client, r.Lifted = e.Client, c.State != Suspended
	case EventExchanged:
		return v.endedByScopes(e)
	default:
		return nil
	}
	return []Revocation{r}
}

// endedByScopes are the legacy grants that ended as their user's authorization
// with scopes was redeemed. A grant stays for longer after it ended than its
// tokens live, so all of them are found.
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

// Revocations are those behind a Seq, in order of it; last is the Seq up to which
// the trail was read, and replayed is when a journal was replayed last in what
// was read, 0 for never.
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

// TrailBefore is a Seq behind which all events at or after a time are, as far as
// the trail reaches back.
func (v View) TrailBefore(t Time) uint64 { return v.lastEventBefore(t) }

// TrailCompleteFrom returns 0 if the trail has every revocation at or after from, and otherwise
// the time since when it has every one.
func (v View) TrailCompleteFrom(from Time) Time { return v.TrailCompleteAfter(0, from) }

// TrailCompleteAfter returns 0 if the trail has every revocation with a Seq above read and at or
// after from, and otherwise the time since when it has every one.
func (v View) TrailCompleteAfter(read uint64, from Time) Time {
	if t := v.Trail(); t.TrimmedRevocationSeq > read && t.TrimmedRevocationAt >= from {
		return t.TrimmedRevocationAt + 1
	}
	return 0
}

// FirstEventTime is when a timeline's first event was, 0 where there is none yet.
func (v View) FirstEventTime(l Timeline) Time {
	if e := v.eventFrom(l.From); e != nil {
		return e.At
	}
	return 0
}

// CurrentTimeline is the present one, the zero Timeline before a cluster has got its first.
func (v View) CurrentTimeline() Timeline {
	lives := v.Timelines()
	if len(lives) == 0 {
		return Timeline{}
	}
	return lives[len(lives)-1]
}
