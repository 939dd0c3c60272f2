package middleware

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Config shapes the refusals. The zero value is ready for use.
type Config struct {
	// Realm is the realm of the challenge (RFC 9110 §11.5). Empty means none.
	Realm string

	// ResourceMetadata is the URL of this resource server's metadata (RFC 9728
	// §5.1), named in every challenge: [Metadata.URL]. Empty means none.
	ResourceMetadata string

	// ChallengeScopes are the scopes that a client should ask for first. A 401 names them
	// (RFC 6750 §3), so that a client that has only the address of this server, such as an
	// MCP client, asks for no more than it needs. Empty means none.
	ChallengeScopes []string

	// Logger receives a warning when keys or the feed of revocations are unavailable, and
	// when Member returns an error: at most one of each kind in ten seconds. At debug
	// level it receives the reason of every refusal. No record contains a token. Nil
	// means that nothing is logged.
	Logger *slog.Logger
}

// Guard wraps handlers. It is safe for use by many goroutines.
type Guard struct {
	verifier *verifier.Verifier
	closed   bool   // refuse while revocations are not fresh
	realm    string // challenge parameter, or empty
	metadata string // challenge parameter, or empty
	scopes   string // challenge parameter of a 401, or empty
	log      *slog.Logger
	warned   *warned
}

// warned are the kinds of warnings. A guard shares them with the guards derived from it,
// so that the limit holds for all of them together.
type warned struct{ keys, revocations, members warnings }

// New returns a Guard. It panics if v is nil, if a value of c has a character that a
// challenge can't contain, or if a scope isn't in the catalogue: all are mistakes of the
// program.
func New(v *verifier.Verifier, c Config) *Guard {
	if v == nil {
		panic("middleware.New: verifier is nil")
	}
	g := &Guard{verifier: v, log: c.Logger, warned: new(warned)}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if c.Realm != "" {
		g.realm = parameter("realm", c.Realm)
	}
	if c.ResourceMetadata != "" {
		g.metadata = parameter("resource_metadata", c.ResourceMetadata)
	}
	if len(c.ChallengeScopes) > 0 {
		mustScopes("New", c.ChallengeScopes)
		g.scopes = parameter("scope", strings.Join(c.ChallengeScopes, " "))
	}
	return g
}

// Require accepts a request whose token covers all of the scopes: it has the scope
// itself, or the ORG_ scope of a TEAM_ scope, or is a legacy token. It panics if there is
// no scope, or one that isn't in the catalogue.
func (g *Guard) Require(scopes ...string) func(http.Handler) http.Handler {
	need := mustScopes("Require", scopes)
	return g.require(insufficientScope(scopes...), func(token *verifier.Claims) bool {
		return token.AllowsAll(need)
	})
}

// RequireAny accepts a request whose token covers at least one of the scopes. A challenge
// can't express "or", so it names the first scope: put the one that allows least first. It
// panics as Require does.
func (g *Guard) RequireAny(scopes ...string) func(http.Handler) http.Handler {
	mustScopes("RequireAny", scopes)
	each := make([]scope.Set, len(scopes))
	for i, name := range scopes {
		each[i] = scope.MustOf(name)
	}
	return g.require(insufficientScope(scopes[0]), func(token *verifier.Claims) bool {
		for _, need := range each {
			if token.AllowsAll(need) {
				return true
			}
		}
		return false
	})
}

// Optional guards a public route. It accepts a request without a token, and requires no
// scope, but a token must be valid.
func (g *Guard) Optional() func(http.Handler) http.Handler {
	return g.wrap(func(r *http.Request) (*verifier.Claims, *Refusal) {
		return g.Authenticate(r.Context(), r.Header)
	})
}

// Enforce guards all routes of a service by a policy. Put the guard before the router: both
// read the path, so nothing may change the path between the two. A CORS preflight has no
// token: answer it before the guard.
func (g *Guard) Enforce(p *policy.Policy) func(http.Handler) http.Handler {
	if p == nil {
		panic("middleware.Enforce: policy is nil")
	}
	if p.WantsFresh() && !g.verifier.HasRevocations() {
		panic("middleware.Enforce: a row is FRESH, and the verifier has no Revocations")
	}
	return g.wrap(func(r *http.Request) (*verifier.Claims, *Refusal) {
		return g.Authorize(r.Context(), p, r.Method, r.URL, r.Header)
	})
}

// mustScopes is the set of scopes that a program names. It panics on an unknown one.
func mustScopes(caller string, scopes []string) scope.Set {
	if len(scopes) == 0 {
		panic("middleware." + caller + ": no scope; a public route has Optional")
	}
	set, err := scope.Of(scopes...)
	if err != nil {
		panic(fmt.Sprintf("middleware.%s: %v", caller, err))
	}
	return set
}

// require accepts a request with a token that is allowed.
func (g *Guard) require(missing *Refusal, allowed func(*verifier.Claims) bool) func(http.Handler) http.Handler {
	return g.wrap(func(r *http.Request) (*verifier.Claims, *Refusal) {
		token, refused := g.Authenticate(r.Context(), r.Header)
		switch {
		case refused != nil:
			return nil, refused
		case token == nil:
			return nil, &noToken
		case !allowed(token):
			g.log.DebugContext(r.Context(), "token refused", "reason", missing.Code, "route", r.Pattern)
			return nil, missing
		}
		return token, nil
	})
}

// wrap makes a decision before a handler, and puts the claims into the request's context.
func (g *Guard) wrap(decide func(*http.Request) (*verifier.Claims, *Refusal)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			token, refused := decide(r)
			if refused != nil {
				g.Refuse(w, refused)
				return
			}
			if token != nil {
				r = r.WithContext(NewContext(r.Context(), token))
			}
			next.ServeHTTP(w, r)
		})
	}
}
