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

// Server is what the endpoints are given.
type Server interface {
	// Token answers a token request. A refusal is an *oauth.Error with its ID;
	// oauth.ErrUnavailable says that nothing could be decided.
	Token(ctx context.Context, r oauth.TokenRequest) (oauth.TokenResponse, error)
	// ErrorID seals the cause of a refusal that was made here.
	ErrorID(client string, r ledger.Refusal) string
	// View is the state of this node.
	View() ledger.View
}

// Config is what the endpoints are made of.
type Config struct {
	Server Server
	// KeySet returns the current key set (RFC 7517 §5).
	KeySet func() oauth.KeySet
	// Verifier checks the tokens that come to GET /v2/me. It must refuse those
	// of a grant that has ended: here, unlike at a resource server, that is
	// known.
	Verifier *verifier.Verifier
	// Revocations is what was taken back from tokens, for Readers, which may be
	// others each time; nil where that is not offered.
	Revocations Revocations
	Readers     func() *Readers
	// ClientIP is the address that failures are counted by.
	ClientIP func(*http.Request) string
	// Security records failures to authenticate. It may be nil.
	Security *security.Recorder
	// RequestID returns the id of a request in the log. It may be nil.
	RequestID func(*http.Request) string
	Log       *slog.Logger
	Now       func() time.Time
}

// The limits on failures of one client from one address: a burst, and a rate per second.
// Failures beyond them are answered 429. Only failures are counted, and only failures
// are answered so, so a correct credential always gets its answer. A genuine code or
// refresh token that is no longer valid does too: the client must learn that, whatever
// other requests fail at the same address.
const (
	failureBurst   = 500
	failureRate    = 5
	maxFailureKeys = 20_000 // pairs of client and address remembered
)

// Endpoints are the handlers of this package.
type Endpoints struct {
	Config
	failures *limit.Limiter
	guesses  *guessLimiter
}

// New checks nothing but wires all.
func New(c Config) *Endpoints {
	return &Endpoints{Config: c, failures: limit.New(failureRate, failureBurst, maxFailureKeys), guesses: newGuessLimiter()}
}

// Routes is where routes are added: an httprouter.Router, or what stands before
// one.
type Routes interface {
	Handle(method, path string, h httprouter.Handle)
	Handler(method, path string, h http.Handler)
}

// Register adds the routes. HEAD stands beside each GET, since the router
// does not imply it.
func (e *Endpoints) Register(r Routes) {
	r.Handle(http.MethodPost, oauth.PathToken, e.token)
	r.Handle(http.MethodOptions, oauth.PathToken, e.tokenOptions)
	described, guard := e.resourceMetadata(), middleware.Config{}
	if described != nil {
		guard.ResourceMetadata = described.URL()
	}
	me := middleware.New(e.Verifier, guard).Require(meScope)(http.HandlerFunc(e.me))
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		if described != nil {
			r.Handler(method, described.Path(), described)
		}
		r.Handle(method, oauth.PathJWKS, e.keySet)
		r.Handle(method, oauth.PathMetadata, e.metadata)
		r.Handler(method, oauth.PathMe, me)
	}
	if e.Revocations != nil {
		r.Handle(http.MethodGet, oauth.PathRevocations, e.revocations)
	}
}

// NotFound answers a path of the API that does not exist.
func NotFound(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusNotFound, map[string]string{"error": "not_found"})
}

// MethodNotAllowed answers a method that a path does not have. The router
// has set Allow.
func MethodNotAllowed(w http.ResponseWriter, _ *http.Request) {
	writeError(w, http.StatusMethodNotAllowed, &oauth.Error{
		Code: oauth.InvalidRequest, Description: "The path does not have this method; see the header Allow.",
	})
}

// IsAPI reports whether a path is answered in JSON rather than as a page.
func IsAPI(path string) bool {
	return strings.HasPrefix(path, "/v2/") || path == "/v2" || strings.HasPrefix(path, "/.well-known/")
}

// fail writes an error that is no refusal: 503 where the server can't decide
// now, 500 where it is at fault, with no word about why.
func (e *Endpoints) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, cause := http.StatusInternalServerError, ledger.ServerFailed
	answer := &oauth.Error{Code: oauth.ServerError, Description: "The server failed."}
	if errors.Is(err, oauth.ErrUnavailable) {
		status, cause = http.StatusServiceUnavailable, ledger.Undecided
		answer = &oauth.Error{Code: oauth.TemporarilyUnavailable, Description: "The server can not decide now. Try again."}
		w.Header().Set("Retry-After", "1")
		if errors.Is(err, oauth.ErrOutcomeUnknown) {
			w.Header().Set("Retry-After", "2") // an election takes its time
		}
	} else {
		e.Log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	answer.ID = e.Server.ErrorID("", ledger.Refusal{Code: answer.Code, Cause: cause})
	writeError(w, status, answer)
}
