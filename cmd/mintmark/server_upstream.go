package main

import (
	"context"

	"github.com/mintmark-auth/mintmark/issuer/upstream"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

// startUpstream begins to learn what the provider says of itself. Nothing waits
// for that: people with a password sign in all the same.
func (s *server) startUpstream(ctx context.Context) web.Upstream {
	if s.config.Upstream == nil {
		return nil // not a nil *upstream.Provider
	}
	c := *s.config.Upstream
	c.RedirectURI = s.settings.AppURL + web.PathUpstreamCallback
	c.Now, c.Log = s.config.Now, s.config.Log
	provider := upstream.New(c)
	s.provider.Store(provider)
	ctx, s.stopUpstream = context.WithCancel(context.WithoutCancel(ctx))
	s.upstreamTasks.Go(func() { provider.Run(ctx) })
	return provider
}
