package ledger

func (s *replayState) applyClient(e *Effect, at Time) bool {
	c := s.clients.get(e.Client)
	if c == nil || c.State == Deleted {
		return false
	}
	next := c.changed(s.m)
	var changed bool
	switch e.Kind {
	case EffectClientState:
		changed = next.applyState(e.State, e.Reason)
	case EffectClientDeleted:
		next.tombstone()
		changed = true
	case EffectClientNarrowed:
		changed = next.retain(e.URIs, e.Scopes)
		if c.Document != nil && (c.unreviewed() || len(intersect(c.RedirectURIs, e.URIs)) == 0) {
			next.replaced() // by URIs that nobody may have reviewed
		}
	case EffectScopesSelected:
		changed = c.Legacy
		next.Legacy, next.Scopes, next.Proposed, next.Draft = false, e.Scopes, nil, nil
	case EffectSecretRevoked:
		// The last active secret too: the application may have been given another, which is lost.
		next.Secrets, changed = c.Secrets.revoked(e.ID, at)
	case EffectSecretAdded:
		if !c.Public() {
			next.Secrets, changed = c.Secrets.restored(*e.Secret, at)
		}
	case EffectSecretEnds:
		if s := c.SecretOf(e.ID); s != nil && s.Active() && s.Ends != e.Ends && c.ActiveSecrets() > 1 {
			next.Secrets, changed = c.Secrets.ending(e.ID, e.Ends), true
		}
	case EffectClientRevoked:
		born := e.revokedBefore(s.m.Seq)
		if r := s.v.Restore(); r.Count > 0 {
			born = min(born, r.Seq) // every grant of the backup was created before
		}
		next = c.withGrantsEnded(s.m)
		next.GrantsRevokedBefore, changed = born, c.GrantsRevokedBefore < born
	case EffectClientTransferred:
		changed = c.Owner != e.User
		next.setOwner(e.User)
	}
	if !changed {
		return false
	}
	next.queue(c, s.m)
	next.Revision++ // invalidates open review forms
	s.clients.put(c.ID, next)
	return true
}

// applyState sets the state of a record. A client that is not usable stays as it is, except
// for one that is resumed after its suspension.
func (c *Client) applyState(state ClientState, reason string) bool {
	switch {
	case state == Approved && c.State == Suspended:
	case state == Suspended && c.State == Approved:
	case state == Rejected && c.State != Rejected:
	case state == Pending && c.State != Pending && c.State != Rejected:
	default:
		return false
	}
	c.State, c.Reason = state, reason
	if state == Pending || state == Rejected { // the next review is of the whole
		c.Proposed = nil
	}
	return true
}

// retain removes redirection URIs and scopes that are not in the given lists. If none would
// remain, the lists replace them: a client has at least one of each, except a legacy
// client's scopes.
func (c *Client) retain(uris, scopes []string) bool {
	old := c.Profile
	if len(uris) > 0 {
		c.RedirectURIs = orElse(intersect(c.RedirectURIs, uris), uris)
	}
	if len(scopes) > 0 && !c.Legacy {
		c.Scopes = orElse(intersect(c.Scopes, scopes), scopes)
	}
	if c.Profile.equal(&old) {
		return false
	}
	c.Proposed = nil // it may contain what was removed
	return true
}
