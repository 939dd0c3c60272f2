package web

import (
	"context"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/upstream"
)

// PathUpstreamCallback is the path of the redirect URI that is registered at the
// provider. The address of the pages precedes it.
const PathUpstreamCallback = "/auth/upstream/callback"

// pathUpstream begins a sign-in at the provider. It is below the callback's path, so that
// the browser sends the cookies of earlier attempts, which dropAttempts counts.
const pathUpstream = PathUpstreamCallback + "/begin"

// Upstream is an OpenID Connect provider for signing in: an upstream.Provider.
type Upstream interface {
	// Name returns its display name.
	Name() string
	// Begin returns the address to send the browser to. With anew, the provider asks for
	// a sign-in in any case.
	Begin(proofs upstream.AuthRequest, anew bool) (string, error)
	// Finish returns the person that the response identifies. The error is
	// upstream.ErrUnreachable, an *upstream.Denial, or another error if the response is
	// not valid.
	Finish(context.Context, upstream.Answer, upstream.AuthRequest) (upstream.Person, error)
}

// Attempts seals the state of a sign-in at the provider, for a cookie. Every node must be
// able to open what another one sealed.
type Attempts interface {
	SealAttempt(plain []byte) string
	OpenAttempt(text string) ([]byte, error)
}

// upstreamRoutes returns the routes for signing in at the provider, if there is one.
//
// A link with the token of a form begins it. A form would not work: Chromium checks every
// redirect after a form against form-action, and the targets of the provider's pages are
// unknown.
func (w *Web) upstreamRoutes() []route {
	if w.config.Upstream == nil {
		return nil
	}
	return []route{
		{method: http.MethodGet, path: pathUpstream, serve: w.beginUpstream},
		{method: http.MethodGet, path: pathConfirm, serve: w.confirmUpstream},
		{method: http.MethodGet, path: PathUpstreamCallback, serve: w.finishUpstream},
	}
}
