package web

import (
	"context"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/upstream"
)

// PathUpstreamCallback is where the provider sends browsers back to: with the
// address of the pages before it, the redirection URI that is registered there.
const PathUpstreamCallback = "/auth/upstream/callback"

// pathUpstream begins a sign-in at the provider. It is below the callback's path, so
// that the browser sends the cookies of earlier attempts, which dropAttempts counts.
const pathUpstream = PathUpstreamCallback + "/begin"

// Upstream is an OpenID Connect provider that people sign in with: an
// upstream.Provider.
type Upstream interface {
	// Name is what people call it.
	Name() string
	// Begin is the address that the browser is sent to; with anew, to be asked who
	// is there in any case.
	Begin(proofs upstream.AuthRequest, anew bool) (string, error)
	// Finish is who the answer that came back is about. The error is
	// upstream.ErrUnreachable, an *upstream.Denial, or says what can't be believed.
	Finish(context.Context, upstream.Answer, upstream.AuthRequest) (upstream.Person, error)
}

// Attempts hides what a browser carries while somebody signs in at the provider. What
// one node sealed another must open.
type Attempts interface {
	SealAttempt(plain []byte) string
	OpenAttempt(text string) ([]byte, error)
}

// upstreamRoutes are those of signing in at the provider, where there is an elsewhere.
//
// What begins it is a link, with the token of a form. A form would not do:
// Chromium holds every redirect that follows one against form-action, and where
// the provider's pages lead to is not known here.
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
