package ledger

import (
	"github.com/mintmark-auth/mintmark/cluster/command"
)

// JournalRecord returns what a command took away, so that a restore of an older backup
// can be followed by a Replay of it. It returns nil for most commands; for an ordinary
// refresh it costs one comparison. v is the state that d was decided on, before its
// changes are written.
//
// It compares rows and ignores the kind of the command, so that a new command that takes
// something away is journaled without a change here.
func JournalRecord(v View, c command.Command, d command.Decision, m command.Meta) *Record {
	if len(d.Changes) == 0 {
		return nil
	}
	if outcome(d).Refusal == nil {
		switch c := c.(type) {
		case *Refresh, *Allow, *TouchSession, *Sweep, *UpgradePassword, *ReportUsage:
			return nil // these only give access, or remove rows without effect, or keep the password, or count
		case *Replay:
			return c.journal(v, m)
		}
	}
	var actor string
	var emergency bool
	for i := range d.Changes {
		if e, ok := d.Changes[i].Row.(*Event); ok {
			actor, emergency = e.Actor, e.Kind == EventKeyEmergency
		}
	}
	var effects []Effect
	for i := range d.Changes {
		effects = v.effects(effects, &d.Changes[i], emergency)
	}
	if len(effects) == 0 {
		return nil
	}
	return &Record{Seq: m.Seq, At: stateTime(m), Actor: actor, Effects: effects}
}

// effects appends the effects of one change.
func (v View) effects(to []Effect, c *command.Change, emergency bool) []Effect {
	switch row := c.Row.(type) {
	case *Grant:
		if row.Ended == 0 {
			return to
		}
		if before := v.Grant(row.ID); before == nil || before.Ended != 0 {
			return to
		}
		return append(to, Effect{Kind: EffectGrantEnded, Grant: row.ID, User: row.User, Client: row.Client, Cause: row.EndCause})
	case *Session:
		if c.Delete {
			return append(to, Effect{Kind: EffectSignedOut, User: row.User, Session: row.ID})
		}
	case *User:
		if before := v.User(row.ID); before != nil && !before.Deleted {
			return userEffects(to, before, row)
		}
	case *Client:
		// Recording a use of a secret or traffic doesn't change Last.
		if before := v.Client(row.ID); before != nil && before.State != Deleted && before.Last != row.Last {
			return clientEffects(to, before, row)
		}
	case *OperatorToken:
		if before := v.OperatorToken(row.ID); before != nil && before.Revoked == 0 && row.Revoked != 0 {
			return append(to, Effect{Kind: EffectOperatorTokenRevoked, ID: row.ID})
		}
	case *ResourceServer:
		// Recording a use of a secret doesn't change Last.
		if before := v.ResourceServer(row.ID); before != nil && (c.Delete || before.Last != row.Last) {
			return resourceEffects(to, before, row, c.Delete)
		}
	case *Publisher:
		if before := v.Publisher(row.Host); before != nil {
			return publisherEffects(to, before, row, c.Delete)
		}
	case *Key:
		return v.keyEffects(to, row, c.Delete, emergency)
	}
	return to
}

func userEffects(to []Effect, before, after *User) []Effect {
	add := func(kind EffectKind, client string) {
		to = append(to, Effect{Kind: kind, User: after.ID, Client: client})
	}
	addPerson := func(kind EffectKind) {
		to = append(to, Effect{Kind: kind, User: after.ID, Identity: before.identity()})
	}
	if after.Deleted {
		addPerson(EffectUserDeleted)
		return to
	}
	sessions, grants := after.SessionsRevokedBefore > before.SessionsRevokedBefore, after.GrantsRevokedBefore > before.GrantsRevokedBefore
	feed := after.FeedDigest != before.FeedDigest
	switch {
	case after.Disabled && !before.Disabled:
		addPerson(EffectUserDisabled)
		sessions, grants, feed = false, false, false // the effect ends them too
	case before.Disabled && !after.Disabled:
		addPerson(EffectUserEnabled)
	}
	switch {
	case after.Admin && !before.Admin:
		add(EffectAdminGranted, "")
	case before.Admin && !after.Admin:
		add(EffectAdminRevoked, "")
	}
	if after.Password != before.Password {
		to = append(to, Effect{Kind: EffectPassword, User: after.ID, Password: after.Password, PasswordCost: after.PasswordCost})
		sessions = false
	}
	if feed {
		to = append(to, Effect{Kind: EffectFeedSet, User: after.ID, Feed: after.FeedDigest})
	}
	if sessions {
		add(EffectSignedOutAll, "")
	}
	if grants {
		add(EffectDisconnected, "")
	}
	for _, revoked := range after.RevokedBeforeByClient {
		old := before.revokedBefore(revoked.Client)
		if revoked.Seq > old.Seq {
			add(EffectDisconnected, revoked.Client)
		}
		if revoked.Legacy > old.Legacy {
			to = append(to, Effect{Kind: EffectLegacyEnded, User: after.ID, Client: revoked.Client, RevokedBefore: revoked.Legacy})
		}
	}
	return to
}

func clientEffects(to []Effect, before, after *Client) []Effect {
	if after.State == Deleted {
		return append(to, Effect{Kind: EffectClientDeleted, Client: after.ID})
	}
	if after.State != before.State && stateJournaled(before.State, after.State) {
		to = append(to, Effect{Kind: EffectClientState, Client: after.ID, State: after.State, Reason: after.Reason})
	}
	if after.GrantsRevokedBefore > before.GrantsRevokedBefore {
		to = append(to, Effect{Kind: EffectClientRevoked, Client: after.ID, RevokedBefore: after.GrantsRevokedBefore})
	}
	if before.Owner != after.Owner {
		to = append(to, Effect{Kind: EffectClientTransferred, Client: after.ID, User: after.Owner})
	}
	if before.Legacy && !after.Legacy {
		to = append(to, Effect{Kind: EffectScopesSelected, Client: after.ID, Scopes: after.Scopes})
	}
	if len(subtract(before.RedirectURIs, after.RedirectURIs))+len(subtract(before.Scopes, after.Scopes)) > 0 {
		to = append(to, Effect{Kind: EffectClientNarrowed, Client: after.ID, URIs: after.RedirectURIs, Scopes: after.Scopes})
	}
	return secretEffects(to, before.Secrets, after.Secrets, Effect{Client: after.ID}, EffectSecretRevoked, EffectSecretAdded)
}

// secretEffects appends the effects of a change of one row's secrets. of has the row.
func secretEffects(to []Effect, before, after Secrets, of Effect, revoked, added EffectKind) []Effect {
	// Revocations come first, so that there are never more active secrets than allowed.
	cleared := false // a replay clears the end of the other secret
	for i := range before {
		if s := &before[i]; s.Active() && !after.has(s.ID) {
			e := of
			e.Kind, e.ID = revoked, s.ID
			to, cleared = append(to, e), true
		}
	}
	for i := range after {
		if s := &after[i]; s.Active() && !before.has(s.ID) {
			e := of
			e.Kind, e.Secret = added, &NewSecret{ID: s.ID, Key: s.Key, Digest: s.Digest, Tail: s.Tail, Hash: s.Hash, Name: s.Name}
			to = append(to, e)
		}
	}
	for i := range after { // only clients have secrets with ends
		s := &after[i]
		if had := before.of(s.ID); s.Active() && had != nil && (had.Ends != s.Ends || cleared && s.Ends != 0) {
			e := of
			e.Kind, e.ID, e.Ends = EffectSecretEnds, s.ID, s.Ends
			to = append(to, e)
		}
	}
	return to
}

func resourceEffects(to []Effect, before, after *ResourceServer, removed bool) []Effect {
	of := Effect{Resource: before.ID}
	if removed {
		of.Kind = EffectResourceRemoved
		return append(to, of)
	}
	if len(after.Scopes) > 0 && (len(before.Scopes) == 0 || len(subtract(before.Scopes, after.Scopes)) > 0) {
		e := of
		e.Kind, e.Scopes = EffectResourceNarrowed, after.Scopes
		to = append(to, e)
	}
	return secretEffects(to, before.Secrets, after.Secrets, of, EffectResourceSecretRevoked, EffectResourceSecretAdded)
}

func publisherEffects(to []Effect, before, after *Publisher, removed bool) []Effect {
	of := Effect{Publisher: before.Host}
	switch {
	case removed:
		of.Kind = EffectPublisherRemoved
	case after.State == PublisherRejected && before.State != PublisherRejected:
		of.Kind, of.Reason = EffectPublisherRejected, after.Reason
	case before.State == PublisherApproved && (len(subtract(before.Scopes, after.Scopes))+len(subtract(before.Defaults, after.Defaults))+
		len(subtract(before.RedirectURIs, after.RedirectURIs)) > 0 || after.MaxClients < before.MaxClients || before.LongRetry && !after.LongRetry):
		of.Kind, of.Scopes, of.Defaults, of.URIs = EffectPublisherNarrowed, after.Scopes, after.Defaults, after.RedirectURIs
		of.MaxClients, of.LongRetry = after.MaxClients, after.LongRetry
	default:
		return to
	}
	return append(to, of)
}

// stateJournaled reports whether a client's change of state is journaled. An approval is
// not: it was given to a profile that an older state may not have, so an administrator
// reviews again. A resumption after a suspension is.
func stateJournaled(before, after ClientState) bool {
	switch after {
	case Approved:
		return before == Suspended
	case Pending:
		return before != Rejected // an edit after a review; the client is unusable in both states
	}
	return true
}

func (v View) keyEffects(to []Effect, row *Key, dropped, emergency bool) []Effect {
	before := v.Key(row.ID)
	switch {
	case dropped:
		return append(to, Effect{Kind: EffectKeyDropped, ID: row.ID, Emergency: emergency})
	case before == nil:
		return append(to, Effect{Kind: EffectKeyAdded, Key: row})
	case before.State == KeyAnnounced && row.State == KeyActive:
		return append(to, Effect{Kind: EffectKeyActivated, ID: row.ID}) // this also retires the previous key
	case before.SealedUnder != row.SealedUnder:
		sealed := SealedKey{ID: row.ID, Sealed: row.Sealed}
		if n := len(to); n > 0 && to[n-1].Kind == EffectRewrapped {
			to[n-1].Sealed = append(to[n-1].Sealed, sealed)
			return to
		}
		return append(to, Effect{Kind: EffectRewrapped, ID: row.SealedUnder, Sealed: []SealedKey{sealed}})
	}
	return to
}
