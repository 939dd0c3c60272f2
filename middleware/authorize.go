package middleware

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier"
)

// Authenticate verifies the token in a request's Authorization header. It returns the
// claims, or a refusal, or neither if there is no token. It is the first step of every
// guard, for adapters to other frameworks.
func (g *Guard) Authenticate(ctx context.Context, h http.Header) (*verifier.Claims, *Refusal) {
	token, err := bearer(h)
	switch {
	case errors.Is(err, errNoToken):
		return nil, nil
	case err != nil:
		g.log.DebugContext(ctx, "token refused", "reason", err.Error())
		return nil, badRequest.copy()
	}
	claims, err := g.verifier.Verify(ctx, token)
	switch {
	case err == nil && g.closed:
		if refused := g.stale(ctx); refused != nil {
			return nil, refused
		}
		return claims, nil
	case err == nil:
		return claims, nil
	case errors.Is(err, verifier.ErrKeysUnavailable): // logged as its text, as below: the value may have claims
		g.warned.keys.log(ctx, g.log, "token not verified", "error", err.Error())
		var why *verifier.Error
		errors.As(err, &why) // every refusal of Verify is one
		return nil, unavailable("The access token can't be verified at the moment", why.RetryAfter)
	}
	g.log.DebugContext(ctx, "token refused", "reason", err.Error())
	if errors.Is(err, verifier.ErrExpired) {
		return nil, expired.copy()
	}
	return nil, invalid.copy()
}

// Authorize makes the whole decision of [Guard.Enforce], for adapters to other
// frameworks. It returns neither claims nor a refusal for a public route that was called
// without a token.
//
// The order of checks: the path has one reading; the token is valid; its scopes open the
// route; its user belongs to the team or organization.
func (g *Guard) Authorize(ctx context.Context, p *policy.Policy, method string, u *url.URL, h http.Header) (*verifier.Claims, *Refusal) {
	match, err := p.Match(method, u)
	if err != nil {
		g.log.DebugContext(ctx, "request refused", "reason", err.Error())
		return nil, badPath.copy()
	}
	token, refused := g.Authenticate(ctx, h)
	switch {
	case refused != nil:
		return nil, refused
	case token == nil && match.Public():
		return nil, nil
	case token == nil:
		return nil, noToken.copy()
	case !match.Opens(token):
		row, _ := match.Row()
		g.log.DebugContext(ctx, "token refused", "reason", "insufficient_scope", "route", row.Pattern)
		if name := match.Scope(); name != "" {
			return nil, insufficientScope(name)
		}
		return nil, closed.copy()
	}
	if match.Fresh() {
		if refused := g.stale(ctx); refused != nil {
			return nil, refused
		}
	}
	switch member, err := match.Belongs(ctx, token); {
	case err != nil:
		row, _ := match.Row()
		g.warned.members.log(ctx, g.log, "membership not checked", "error", err, "route", row.Pattern)
		return nil, unavailable("Membership can't be checked at the moment", 0)
	case !member:
		row, _ := match.Row()
		g.log.DebugContext(ctx, "token refused", "reason", "not a member", "route", row.Pattern)
		return nil, notMember.copy()
	}
	return token, nil
}
