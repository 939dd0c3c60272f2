package ledger

import "slices"

func (s *replayState) applyResource(e *Effect, at Time) bool {
	r := s.resources.get(e.Resource)
	if r == nil {
		return false
	}
	if e.Kind == EffectResourceRemoved {
		s.resources.put(r.ID, nil)
		return true
	}
	next := r.changed(s.m)
	var changed bool
	switch e.Kind {
	case EffectResourceSecretRevoked:
		next.Secrets, changed = r.Secrets.revoked(e.ID, at)
	case EffectResourceSecretAdded:
		next.Secrets, changed = r.Secrets.restored(*e.Secret, at)
	case EffectResourceNarrowed:
		next.Scopes = orElse(intersect(r.Scopes, e.Scopes), e.Scopes)
		changed = !slices.Equal(next.Scopes, r.Scopes)
	}
	if changed {
		s.resources.put(r.ID, next)
	}
	return changed
}
