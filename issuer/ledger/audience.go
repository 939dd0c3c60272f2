package ledger

import "github.com/mintmark-auth/mintmark/issuer/oauth"

// A grant is for the cluster's audience, or for one resource server that the authorization
// request named (RFC 8707). It is the aud of all its access tokens.

// UnknownResource represents a parameter resource that is too long to name anything.
const UnknownResource = "?"

// target returns the resource server that a parameter resource names, and whether it may be
// named. nil stands for the cluster's audience: without the parameter, if it names the
// audience or this service's own protected resource (RFC 9728), or if no resource server is
// registered and the setting agents is off. In the last case the parameter has no effect, as
// at a server without RFC 8707. Agents are told by a resource where to send their tokens, so
// with them each resource must be known.
func (v View) target(resource string) (s *ResourceServer, known bool) {
	if resource == "" {
		return nil, true
	}
	spellings := oauth.ResourceSpellings(resource)
	for _, id := range spellings {
		if s := v.ResourceServer(id); s != nil {
			return s, true
		}
	}
	settings := v.Settings()
	for _, id := range spellings {
		if id == settings.Audience || id == settings.BaseURL+oauth.PathMe {
			return nil, true
		}
	}
	return nil, !v.FeedServed() && !settings.AcceptsAgents()
}

// ResourceServerOf returns the resource server that a grant is for, nil for the cluster's
// audience. ok is false if it was removed. A resource server that was registered after the
// grant was created is another one, although it may have the same number and identifier.
func (v View) ResourceServerOf(g *Grant) (s *ResourceServer, ok bool) {
	if g.Resource == 0 {
		return nil, true
	}
	s = first[ResourceServer](v, TableResourceServers, indexNumber, numberKey(g.Resource))
	if s == nil || s.CreatedSeq > g.CreatedSeq {
		return nil, false
	}
	return s, true
}

// audience returns the aud of access tokens for a resource server, or the cluster's for nil.
func (v View) audience(s *ResourceServer) string {
	if s == nil {
		return v.Settings().Audience
	}
	return s.ID
}

// audienceFor returns the resource server that an access token of a grant is for, nil for
// the cluster's audience, or why a request with this parameter resource gets none. The
// parameter may repeat what the grant is for and nothing else (RFC 8707 §2.2).
func (v View) audienceFor(g *Grant, resource string) (*ResourceServer, Cause) {
	granted, ok := v.ResourceServerOf(g)
	if !ok {
		return nil, ResourceRemoved
	}
	if resource == "" {
		return granted, NoCause
	}
	asked, known := v.target(resource)
	switch {
	case !known:
		return nil, ResourceUnknown
	case v.audience(asked) != v.audience(granted):
		return nil, ResourceOther
	}
	return granted, NoCause
}

// GrantsFor returns the number of grants for a resource server that were not ended. It walks
// all grants, so it must not run for each request.
func (v View) GrantsFor(s *ResourceServer) (n int) {
	for g := range allRows[Grant](v, TableGrants) {
		if g.Resource == s.Number && g.CreatedSeq > s.CreatedSeq && g.Ended == 0 {
			n++
		}
	}
	return n
}
