package server

import (
	"context"

	"github.com/mintmark-auth/mintmark/issuer/upstream"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

// startUpstream starts to fetch the provider's metadata. Nothing waits for it, because
// users with a password can sign in without the provider.
func (s *Server) startUpstream(ctx context.Context) web.Upstream {
	if s.config.Upstream == nil {
		return nil // not a nil *upstream.Provider
	}
	c := *s.config.Upstream
	c.RedirectURI = s.Settings.AppURL + web.PathUpstreamCallback
	c.Now, c.Log = s.config.Now, s.config.Log
	c.Transport = s.config.Traces.Transport(upstream.NewTransport())
	provider := upstream.New(c)
	s.provider.Store(provider)
	ctx, s.stopUpstream = context.WithCancel(context.WithoutCancel(ctx))
	s.upstreamTasks.Go(func() { provider.Run(ctx) })
	return provider
}
