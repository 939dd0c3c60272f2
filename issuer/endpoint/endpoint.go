package endpoint

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/limit"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/security"
	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/verifier"
)

// A Server handles what the endpoints receive.
type Server interface {
	// Token handles a token request. The error is an *oauth.Error with its ID for a refusal,
	// or oauth.ErrUnavailable if nothing could be decided.
	Token(ctx context.Context, r oauth.TokenRequest) (oauth.TokenResponse, error)
	// Revoke handles a revocation request. Errors are like those of Token; oauth.InvalidGrant
	// means that there was nothing to revoke.
	Revoke(ctx context.Context, r oauth.PresentedToken) error
	// EditProfile edits a profile. It returns the user after the edit, or the refusal; errors
	// are like those of Token.
	EditProfile(ctx context.Context, c *ledger.EditProfile) (*ledger.User, *ledger.Refusal, error)
	// Introspect handles an introspection request. Errors are like those of Token.
	Introspect(ctx context.Context, r oauth.PresentedToken) (oauth.Introspection, error)
	// AuthenticateFeedReader authenticates a resource server that reads the revocation feed, and
	// returns its identifier. Errors are like those of Token.
	AuthenticateFeedReader(ctx context.Context, c oauth.ClientCredentials) (string, error)
	// Register returns the client_id of a registration, or a refusal without an ID.
	Register(r oauth.Registration) (clientID string, refusal *oauth.Error)
	// KnowsSecret reports whether the state of this node has an active secret of the client
	// or resource server that is the presented one. It waits for nothing.
	KnowsSecret(c oauth.ClientCredentials) bool
	// ErrorID seals the cause of a refusal that an endpoint made.
	ErrorID(client string, r ledger.Refusal) string
	// View returns the state of this node.
	View() ledger.View
}

// Config configures the endpoints.
type Config struct {
	Server Server
	// KeySet returns the current key set (RFC 7517 §5).
	KeySet func() oauth.KeySet
	// Verifier verifies the tokens for GET /v2/me. It must refuse tokens of an ended grant,
	// which is known here, unlike at a resource server.
	Verifier *verifier.Verifier
	// Revocations is the revocation feed.
	Revocations Revocations
	// ClientIP returns the address under which failures are counted.
	ClientIP func(*http.Request) string
	// Security records failed authentications. It may be nil.
	Security *security.Recorder
	Log      *slog.Logger
	Now      func() time.Time
}

// The limits on failures of one client from one address: a burst, and a rate per second.
// Failures beyond them get 429. Only failures are counted and refused, so a valid
// credential always gets its response. So does a genuine code or refresh token that is no
// longer valid: the client must learn that, whatever other requests from the same address
// fail.
const (
	failureBurst   = 500
	failureRate    = 5
	maxFailureKeys = 20_000 // pairs of client and address that are counted
)

// Endpoints are the handlers of this package.
type Endpoints struct {
	Config
	failures *limit.Limiter
	guesses  *guessLimiter
	// registrations counts registrations by the registrant's network.
	registrations *limit.Limiter
	guard         *middleware.Guard // of /v2/me
}

// New returns the endpoints. It doesn't validate c.
func New(c Config) *Endpoints {
	return &Endpoints{
		Config: c, failures: limit.New(failureRate, failureBurst, maxFailureKeys), guesses: newGuessLimiter(c.Server.KnowsSecret),
		registrations: limit.New(registerRate, registerBurst, maxRegistrants),
	}
}

// Routes is a router, or something in front of one.
type Routes interface {
	Handle(method, path string, h httprouter.Handle)
	Handler(method, path string, h http.Handler)
}

// Register adds the routes. HEAD is registered with GET, except for the feed, since the router
// doesn't imply it.
func (e *Endpoints) Register(r Routes) {
	r.Handle(http.MethodPost, oauth.PathToken, e.token)
	r.Handle(http.MethodPost, oauth.PathRevoke, e.revoke)
	r.Handle(http.MethodPost, oauth.PathRegister, e.whileAgents(e.register))
	r.Handle(http.MethodOptions, oauth.PathRegister, e.whileAgents(options("POST")))
	for _, path := range crossOrigin {
		r.Handle(http.MethodOptions, path, options("POST"))
	}
	described, guard := e.resourceMetadata(), middleware.Config{}
	if described != nil {
		guard.ResourceMetadata = described.URL()
	}
	e.guard = middleware.New(e.Verifier, guard)
	me := e.guard.Require(meScope)(http.HandlerFunc(e.me))
	r.Handler(http.MethodPatch, oauth.PathMe, e.guard.Require(editScope)(http.HandlerFunc(e.editMe)))
	document := options("GET, HEAD")
	if described != nil {
		r.Handle(http.MethodOptions, described.Path(), document)
	}
	r.Handle(http.MethodOptions, oauth.PathJWKS, document)
	r.Handle(http.MethodOptions, oauth.PathMetadata, document)
	r.Handle(http.MethodOptions, oauth.PathOpenAPI, document)
	description := e.openAPI()
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		if described != nil {
			r.Handler(method, described.Path(), described)
		}
		r.Handle(method, oauth.PathJWKS, e.keySet)
		r.Handle(method, oauth.PathMetadata, e.metadata)
		r.Handle(method, oauth.PathOpenAPI, description)
		r.Handler(method, oauth.PathMe, me)
	}
	r.Handle(http.MethodPost, oauth.PathIntrospect, e.introspect)
	r.Handle(http.MethodGet, oauth.PathRevocations, e.revocations)
}

// NotFound responds for a path of the API that doesn't exist.
func NotFound(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusNotFound, map[string]string{"error": "not_found"})
}

// MethodNotAllowed responds for a method that a path doesn't support. The router has set Allow.
func (e *Endpoints) MethodNotAllowed(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == oauth.PathRegister && !e.acceptsAgents() {
		w.Header().Del("Allow")
		NotFound(w, r)
		return
	}
	writeError(w, http.StatusMethodNotAllowed, &oauth.Error{
		Code: oauth.InvalidRequest, Description: "The path does not have this method; see the header Allow.",
	})
}

// IsAPI reports whether a path gets JSON responses rather than pages.
func IsAPI(path string) bool {
	return strings.HasPrefix(path, "/v2/") || path == "/v2" || strings.HasPrefix(path, "/.well-known/")
}

// fail writes an error that is not a refusal: 503 if the server can't decide now, 500 for an
// internal error, without its reason.
func (e *Endpoints) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, cause := http.StatusInternalServerError, ledger.ServerFailed
	answer := &oauth.Error{Code: oauth.ServerError, Description: "The server failed."}
	if errors.Is(err, oauth.ErrUnavailable) {
		status, cause = http.StatusServiceUnavailable, ledger.Undecided
		answer = &oauth.Error{Code: oauth.TemporarilyUnavailable, Description: "The server can not decide now. Try again."}
		w.Header().Set("Retry-After", "1")
		if errors.Is(err, oauth.ErrOutcomeUnknown) {
			w.Header().Set("Retry-After", "2") // longer than an election usually takes
		}
	} else {
		e.Log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	answer.ID = e.Server.ErrorID("", ledger.Refusal{Code: answer.Code, Cause: cause})
	writeError(w, status, answer)
}
