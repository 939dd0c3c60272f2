package ledger

import "time"

// RotateNever is the Settings.RotateEvery that disables scheduled rotation. It is not 0,
// since 0 means the default.
const RotateNever time.Duration = -1

// rotateEvery is the default of Settings.RotateEvery.
const rotateEvery = 90 * 24 * time.Hour

// maxRotations is the maximum number of scheduled rotations within GrantAbsolute, for which
// each retired credential key is kept. Every command of a client has a digest for each key,
// and Rewrap changes them all in one command, which may change command.MaxChanges rows. With
// the default rotation GrantAbsolute may still have its greatest value.
const maxRotations = 60

// Rotation returns the age of an active key at which the next one is announced. ok is false
// if only operators rotate keys.
func (s *Settings) Rotation() (every time.Duration, ok bool) {
	switch s.RotateEvery {
	case 0:
		return rotateEvery, true
	case RotateNever:
		return 0, false
	}
	return s.RotateEvery, true
}

// RotationDue reports whether the next key of a purpose must be announced: the active key
// is old enough, and none is announced.
func (v View) RotationDue(p Purpose, at Time) bool {
	every, ok := v.Settings().Rotation()
	if !ok {
		return false
	}
	active := v.ActiveKey(p)
	return active != nil && at >= active.Activated.Add(every) && v.announcedKey(p) == nil
}

// StepDue returns when a key may take its next step: for an active key, when the announced
// key replaces it or, if none is announced, when the next is to be announced. ok is false if
// no step is scheduled.
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

// announcedKey returns the announced key of a purpose, or nil.
func (v View) announcedKey(p Purpose) *Key {
	return first[Key](v, TableKeys, "use", useKey(p, KeyAnnounced))
}
