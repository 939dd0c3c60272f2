package ledger

// Dropping a leaked key invalidates everything that was recorded under it. The rows don't
// change; the functions below tell what is invalid.

// KeyDropped reports whether an active secret is invalid because its key was dropped.
func (v View) KeyDropped(s *Secret) bool { return s.Active() && !s.usable(v.keyKnown) }

// A DroppedSecret is a secret that became invalid with its key.
type DroppedSecret struct {
	SecretHolder
	Secret string // the secret's id
}

// DroppedSecrets returns the secrets recorded under a credential key, by client and resource
// server. It walks both tables.
func (v View) DroppedSecrets(number uint32) (all []DroppedSecret) {
	for holder, list := range v.secretLists() {
		for i := range list {
			if s := &list[i]; s.Key == number && v.KeyDropped(s) {
				all = append(all, DroppedSecret{holder, s.ID})
			}
		}
	}
	return all
}

// GrantUnredeemable returns GrantEnded's cause, or that of a live grant that gets no more
// tokens: KeyNotRecorded if the key of its due credential was dropped, ResourceRemoved if its
// resource server was removed. Access tokens of such a grant are accepted until they expire.
func (v View) GrantUnredeemable(g *Grant) Cause {
	if cause := v.GrantEnded(g.ID); cause != NoCause {
		return cause
	}
	return v.redeemable(g)
}

// redeemable returns NoCause if the key of some credential that the grant may still accept
// is known, and so is its resource server. After a restore, a fast-forward may accept a
// credential under another key than the recorded one.
func (v View) redeemable(g *Grant) Cause {
	if _, ok := v.ResourceServerOf(g); !ok {
		return ResourceRemoved
	}
	if v.keyKnown(g.Key) {
		return NoCause
	}
	if r := v.Restore(); r.covers(g.CreatedSeq) && g.FastForwarded != r.Count {
		return NoCause
	}
	return KeyNotRecorded
}
