package ledger

func (s *replayState) applyPublisher(e *Effect) bool {
	p := s.publishers.get(e.Publisher)
	if p == nil {
		return false
	}
	next := p.changed(s.m)
	var changed bool
	switch e.Kind {
	case EffectPublisherRemoved:
		s.publishers.put(p.Host, nil)
		return true
	case EffectPublisherRejected:
		changed = p.State != PublisherRejected
		next.State, next.Reason = PublisherRejected, e.Reason
	case EffectPublisherNarrowed:
		next.Scopes = orElse(intersect(p.Scopes, e.Scopes), e.Scopes)
		next.Defaults = intersect(intersect(p.Defaults, e.Defaults), next.Scopes)
		next.RedirectURIs = intersect(p.RedirectURIs, e.URIs)
		next.MaxClients, next.LongRetry = min(p.MaxClients, e.MaxClients), p.LongRetry && e.LongRetry
		changed = len(p.Scopes) > 0 && len(publisherChanges(p, next)) > 0
	}
	if changed {
		s.publishers.put(p.Host, next)
	}
	return changed
}
