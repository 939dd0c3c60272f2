package authn

import (
	"context"

	"github.com/mintmark-auth/mintmark/issuer/upstream"
)

// PathUpstreamCallback is the path of the redirect URI that is registered at the
// provider. The address of the pages precedes it.
const PathUpstreamCallback = "/auth/upstream/callback"

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
