package ledger

// A key that leaked and was dropped takes with it what was recorded under it. The
// rows stay as they were: whoever lists them asks here.

// Unkept reports whether a secret that nobody has revoked counts no more.
func (v View) Unkept(s *Secret) bool { return s.Active() && !v.keeps(s.Key) }

// A LostSecret is one that went with a key.
type LostSecret struct {
	Client string
	Secret string // its id
}

// Lost are the secrets that went with a credential key, by client. It walks the
// table of clients.
func (v View) Lost(number uint32) (all []LostSecret) {
	for c := range v.Clients() {
		if c.State == Deleted {
			continue
		}
		for i := range c.Secrets {
			if s := &c.Secrets[i]; s.Key == number && v.Unkept(s) {
				all = append(all, LostSecret{Client: c.ID, Secret: s.ID})
			}
		}
	}
	return all
}

// GrantOver is GrantEnded, and says KeyNotRecorded of a grant whose due credential
// went with its key. Its access tokens are accepted until they expire.
func (v View) GrantOver(g *Grant) Cause {
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
	if v.keeps(g.Key) {
		return true
	}
	r := v.Restore()
	return r.covers(g.Born) && g.Leapt != r.Count
}
