package ledger

// Dropping a leaked key invalidates everything that was recorded under it. The rows don't
// change; the functions below tell what is invalid.

// KeyDropped reports whether an active secret is invalid because its key was dropped.
func (v View) KeyDropped(s *Secret) bool { return s.Active() && !v.keyKnown(s.Key) }

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

// GrantUnredeemable returns GrantEnded's cause, or KeyNotRecorded for a live grant whose
// due credential's key was dropped. Access tokens of such a grant are accepted until they
// expire.
func (v View) GrantUnredeemable(g *Grant) Cause {
	if cause := v.GrantEnded(g.ID); cause != NoCause {
		return cause
	}
	if !v.redeemable(g) {
		return KeyNotRecorded
	}
	return NoCause
}

// redeemable reports whether the key of some credential that the grant may still accept
// is known. After a restore, a fast-forward may accept a credential under another key than
// the recorded one.
func (v View) redeemable(g *Grant) bool {
	if v.keyKnown(g.Key) {
		return true
	}
	r := v.Restore()
	return r.covers(g.CreatedSeq) && g.FastForwarded != r.Count
}
