package signin

import (
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// pathUpstream begins a sign-in at the provider. It is below the callback's path, so that
// the browser sends the cookies of earlier attempts, which dropAttempts counts.
const pathUpstream = authn.PathUpstreamCallback + "/begin"

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
func (w *Area) upstreamRoutes() []site.Route {
	if w.prover.Upstream == nil {
		return nil
	}
	return []site.Route{
		{Method: http.MethodGet, Path: pathUpstream, Serve: w.beginUpstream},
		{Method: http.MethodGet, Path: authn.PathConfirm, Serve: w.confirmUpstream},
		{Method: http.MethodGet, Path: authn.PathUpstreamCallback, Serve: w.finishUpstream},
	}
}
