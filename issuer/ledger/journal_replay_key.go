package ledger

import (
	"bytes"
	"iter"
	"slices"
)

func (s *replayState) applyKey(e *Effect, at Time) bool {
	switch e.Kind {
	case EffectKeyAdded:
		return s.addKey(*e.Key)
	case EffectKeyActivated:
		return s.activateKey(e.ID, at)
	case EffectKeyDropped:
		i := s.keyIndex(e.ID)
		if i < 0 || s.keyring[i].State == KeyActive {
			return false // there is no other key to mint with
		}
		if k := s.keyring[i]; !e.Emergency && k.Purpose == ForCredentials && s.secretsUnder(k.Number) {
			return false
		}
		s.dropKey(i)
		return true
	}
	changed := false
	for _, sealed := range e.Sealed {
		i := s.keyIndex(sealed.ID)
		if i < 0 || s.keyring[i].SealedUnder == e.ID {
			continue
		}
		next := s.changedKey(i)
		next.Sealed, next.SealedUnder = sealed.Sealed, e.ID
		changed = true
	}
	return changed
}

// secretsUnder reports whether a secret is recorded under a credential key. The secrets were
// recorded under a newer key before this one was dropped, which the backup doesn't know: the
// key can be dropped once they have been used again.
func (s *replayState) secretsUnder(number uint32) bool {
	for _, list := range s.secretLists() {
		if list.under(number) > 0 {
			return true
		}
	}
	return false
}

// lockedOut returns the clients and resource servers of the backup that can't authenticate
// any more, because their secrets are recorded under a dropped key.
func (s *replayState) lockedOut() (all []SecretHolder) {
	known := func(number uint32) bool {
		return slices.ContainsFunc(s.keyring, func(k *Key) bool { return k.Purpose == ForCredentials && k.Number == number })
	}
	before := s.v.LockedOut()
	for holder, list := range s.secretLists() {
		if list.lockedOut(known) && !slices.Contains(before, holder) {
			all = append(all, holder)
		}
	}
	return all
}

// secretLists is View.secretLists after the effects that were applied.
func (s *replayState) secretLists() iter.Seq2[SecretHolder, Secrets] {
	return func(yield func(SecretHolder, Secrets) bool) {
		for holder := range s.v.secretLists() {
			var list Secrets
			if c := s.clients.get(holder.Client); c != nil {
				list = c.Secrets
			}
			if r := s.resources.get(holder.Resource); r != nil {
				list = r.Secrets
			}
			if !yield(holder, list) {
				return
			}
		}
	}
}

// dropKey removes a key in the same way as DropKey.
func (s *replayState) dropKey(i int) {
	gone := s.keyring[i]
	s.keyring = slices.Delete(s.keyring, i, i+1)
	if gone.Purpose != ForCredentials {
		return
	}
	if a := s.activeKeyIndex(ForCredentials); a >= 0 && max(s.keyring[a].Number, s.keyring[a].HighestNumber) < gone.Number {
		s.changedKey(a).HighestNumber = gone.Number
	}
}

// addKey adds a key from a record: tokens issued after the backup were made with it. A
// recovered node may have the key already, if its log reached further than the start of
// the records. If another key has the same id, or another credential key the same number,
// that key was made after the restore: it stays, and the replay is too late.
func (s *replayState) addKey(k Key) bool {
	for _, other := range s.keyring {
		if other.ID == k.ID && bytes.Equal(other.Sealed, k.Sealed) && other.SealedUnder == k.SealedUnder {
			return false
		}
		if other.ID == k.ID || k.Purpose == ForCredentials && other.Purpose == k.Purpose && other.Number == k.Number {
			s.tooLate = true
			return false
		}
	}
	if k.State == KeyActive && s.activeKeyIndex(k.Purpose) >= 0 {
		k.State, k.Activated = KeyAnnounced, 0
	}
	k.Last = s.m.ID
	k.clampTimes(stateTime(s.m))
	s.keyring = append(s.keyring, &k)
	return true
}

// clampTimes replaces times of a key that are later than now with now, since the key's next
// step would wait for them. The time that verifiers need to learn the key then starts now.
func (k *Key) clampTimes(now Time) {
	k.PropagatedAt = min(k.PropagatedAt, now+max(k.PropagatedAt-k.Announced, 0))
	k.Announced, k.Activated, k.Retired = min(k.Announced, now), min(k.Activated, now), min(k.Retired, now)
}

func (s *replayState) activateKey(id string, at Time) bool {
	i := s.keyIndex(id)
	if i < 0 || s.keyring[i].State != KeyAnnounced {
		return false
	}
	if j := s.activeKeyIndex(s.keyring[i].Purpose); j >= 0 {
		old := s.changedKey(j)
		old.State, old.Retired = KeyRetiring, at
	}
	next := s.changedKey(i)
	next.State, next.Activated = KeyActive, at
	return true
}

// keyIndex returns the index of a key in the keyring, or -1.
func (s *replayState) keyIndex(id string) int {
	return slices.IndexFunc(s.keyring, func(k *Key) bool { return k.ID == id })
}

func (s *replayState) activeKeyIndex(p Purpose) int {
	return slices.IndexFunc(s.keyring, func(k *Key) bool { return k.Purpose == p && k.State == KeyActive })
}

// changedKey replaces a key with a copy to change, and returns the copy.
func (s *replayState) changedKey(i int) *Key {
	next := *s.keyring[i]
	next.Last = s.m.ID
	s.keyring[i] = &next
	return &next
}
