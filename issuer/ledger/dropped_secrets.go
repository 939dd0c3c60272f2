package ledger

// A key that leaked and was dropped takes with it what was recorded under it. The
// rows stay as they were: whoever lists them asks here.

// KeyDropped reports whether a secret that nobody has revoked counts no more.
func (v View) KeyDropped(s *Secret) bool { return s.Active() && !v.keyKnown(s.Key) }

// A DroppedSecret is one that went with a key.
type DroppedSecret struct {
	Client string
	Secret string // its id
}

// DroppedSecrets are the secrets that went with a credential key, by client. It walks the
// table of clients.
func (v View) DroppedSecrets(number uint32) (all []DroppedSecret) {
	for c := range v.Clients() {
		if c.State == Deleted {
			continue
		}
		for i := range c.Secrets {
			if s := &c.Secrets[i]; s.Key == number && v.KeyDropped(s) {
				all = append(all, DroppedSecret{Client: c.ID, Secret: s.ID})
			}
		}
	}
	return all
}

// GrantUnredeemable is GrantEnded, and says KeyNotRecorded of a grant whose due credential
// went with its key. Its access tokens are accepted until they expire.
func (v View) GrantUnredeemable(g *Grant) Cause {
	if cause := v.GrantEnded(g.ID); cause != NoCause {
		return cause
	}
	if !v.redeemable(g) {
		return KeyNotRecorded
	}
	return NoCause
}

// redeemable says whether some credential of a grant may still be accepted, as far
// as its key goes: that of another one may be after a restore.
func (v View) redeemable(g *Grant) bool {
	if v.keyKnown(g.Key) {
		return true
	}
	r := v.Restore()
	return r.covers(g.CreatedSeq) && g.FastForwarded != r.Count
}
