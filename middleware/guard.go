package middleware

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Config shapes the refusals. The zero value is good.
type Config struct {
	// Realm is the realm of the challenge (RFC 9110 §11.5). Empty: none.
	Realm string

	// ResourceMetadata is the URL of this resource server's metadata (RFC 9728
	// §5.1), named in every challenge. Empty: none.
	ResourceMetadata string

	// ErrorLog gets a warning when keys are unavailable, and at debug level the
	// reason of each refusal; never a token. Nil: nothing is logged.
	ErrorLog *slog.Logger
}

// Guard wraps handlers. It is safe for use by many goroutines.
type Guard struct {
	verifier *verifier.Verifier
	realm    string // challenge parameter, or empty
	metadata string // challenge parameter, or empty
	log      *slog.Logger
}

// New returns a Guard. It panics if v is nil, or if a value of c can't stand in
// a challenge: both are mistakes of the program.
func New(v *verifier.Verifier, c Config) *Guard {
	if v == nil {
		panic("middleware.New: verifier is nil")
	}
	g := &Guard{verifier: v, log: c.ErrorLog}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if c.Realm != "" {
		g.realm = parameter("realm", c.Realm)
	}
	if c.ResourceMetadata != "" {
		g.metadata = parameter("resource_metadata", c.ResourceMetadata)
	}
	return g
}

// Require lets a request pass whose token opens all of the scopes named: has
// them, has the ORG_ scope of a TEAM_ scope, or is a legacy token. It panics if
// no scope is named, or one that isn't in the catalogue.
func (g *Guard) Require(scopes ...string) func(http.Handler) http.Handler {
	if len(scopes) == 0 {
		panic("middleware.Require: no scope; a public route has Optional")
	}
	need, err := scope.Of(scopes...)
	if err != nil {
		panic(fmt.Sprintf("middleware.Require: %v", err))
	}
	missing := insufficientScope(strings.Join(scopes, " "))
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			claims, refused := g.authenticate(r)
			switch {
			case refused != nil:
				g.refuse(w, refused)
			case claims == nil:
				g.refuse(w, &noToken)
			case !claims.AllowsAll(need):
				g.log.DebugContext(r.Context(), "token refused", "reason", "insufficient_scope", "route", r.Pattern)
				g.refuse(w, missing)
			default:
				next.ServeHTTP(w, r.WithContext(NewContext(r.Context(), claims)))
			}
		})
	}
}

// Optional guards a public route: it may be called without a token and needs no
// scope, but a token that comes along must be valid.
func (g *Guard) Optional() func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			claims, refused := g.authenticate(r)
			if refused != nil {
				g.refuse(w, refused)
				return
			}
			if claims != nil {
				r = r.WithContext(NewContext(r.Context(), claims))
			}
			next.ServeHTTP(w, r)
		})
	}
}

// authenticate returns what the request's token says, nothing at all if there
// is no token, or the refusal that it earns.
func (g *Guard) authenticate(r *http.Request) (*verifier.Claims, *refusal) {
	token, err := bearer(r.Header)
	switch {
	case errors.Is(err, errNoToken):
		return nil, nil
	case err != nil:
		g.log.DebugContext(r.Context(), "token refused", "reason", err.Error(), "route", r.Pattern)
		return nil, &badRequest
	}
	claims, err := g.verifier.Verify(r.Context(), token)
	switch {
	case err == nil:
		return claims, nil
	case errors.Is(err, verifier.ErrKeysUnavailable):
		g.log.WarnContext(r.Context(), "token not verified", "error", err, "route", r.Pattern)
		return nil, &keysUnavailable
	}
	g.log.DebugContext(r.Context(), "token refused", "reason", err, "route", r.Pattern)
	if errors.Is(err, verifier.ErrExpired) {
		return nil, &expired
	}
	return nil, &invalid
}
