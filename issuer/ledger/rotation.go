package ledger

import "time"

// RotateNever is the Settings.RotateEvery that turns the schedule off. It is
// not 0: rows from before there was a schedule have 0, and mean the default.
const RotateNever time.Duration = -1

// rotateEvery is the RotateEvery of a new cluster, and of a row without one.
const rotateEvery = 90 * 24 * time.Hour

// Rotation is how old an active key may become before the next is announced.
// ok is false where keys are rotated by operators only.
func (s *Settings) Rotation() (every time.Duration, ok bool) {
	switch s.RotateEvery {
	case 0:
		return rotateEvery, true
	case RotateNever:
		return 0, false
	}
	return s.RotateEvery, true
}

// RotationDue reports whether it is time to announce the next key of a
// purpose: the active one is old enough, and none is announced already.
func (v View) RotationDue(p Purpose, at Time) bool {
	every, ok := v.Settings().Rotation()
	if !ok {
		return false
	}
	active := v.ActiveKey(p)
	return active != nil && at >= active.Activated.Add(every) && v.announcedKey(p) == nil
}

// StepDue is when a key may take its next step: of one that is active, when the
// next one takes its place, or where none is announced yet, when that is. ok is
// false where nothing comes by itself.
func (v View) StepDue(k *Key) (at Time, ok bool) {
	s := v.Settings()
	if k.State != KeyActive {
		return k.Due(s), true
	}
	if next := v.announcedKey(k.Purpose); next != nil {
		return next.Due(s), true
	}
	every, ok := s.Rotation()
	if !ok {
		return 0, false
	}
	return k.Activated.Add(every), true
}

// announcedKey is the key of a purpose that waits to become active, nil where
// there is none.
func (v View) announcedKey(p Purpose) *Key {
	return first[Key](v, TableKeys, "use", useKey(p, KeyAnnounced))
}
