package web

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/security"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// Ledger is what pages need of the ledger.
type Ledger interface {
	// View returns this node's state, which may lag.
	View() ledger.View
	// ViewAt waits until the command at an index is applied.
	ViewAt(ctx context.Context, index uint64) (ledger.View, error)
	// InTouch reports whether this node has contact to the leader, so that View lags only
	// briefly.
	InTouch() bool
	// ViewFresh returns a view that includes every command that was answered before the call.
	ViewFresh(ctx context.Context) (ledger.View, error)
	// ViewPaced is ViewFresh for requests without a session. All such requests share a
	// bounded number of fresh views per second: see cluster.Node.ViewPaced.
	ViewPaced(ctx context.Context) (ledger.View, error)
	// Propose has a command decided. A view at the index includes its effect. The error is
	// oauth.ErrUnavailable if nothing could be decided.
	Propose(ctx context.Context, c command.Command) (ledger.Outcome, uint64, error)
	// Now returns the time of a running clock, for display and for limits. Decisions have
	// state time.
	Now() ledger.Time
}

// Passwords verifies a password against a hash and hashes a new one, like
// credential.Hasher: an empty hash never matches, and each check that fails takes the same
// time, for which dearest has what imported hashes cost.
type Passwords interface {
	Check(ctx context.Context, hash, password string, dearest []ledger.HashCost) (bool, error)
	Hash(ctx context.Context, password string) (string, error)
}

// Config configures the pages. It must not be changed after New.
type Config struct {
	Ledger Ledger
	// Code mints the authorization code of an accepted Allow.
	Code func(ctx context.Context, o *ledger.Issued, index uint64) (credential.Code, error)
	// Issuer returns the issuer identifier in authorization responses (RFC 9207 §2).
	Issuer func() string
	// Secure reports that browsers reach the pages by https: cookies are Secure with the
	// prefix __Host-, and HSTS is sent.
	Secure bool
	// Secret returns what the ledger records of a client secret: its digest, with an id
	// that is replaced by the form's.
	Secret func(plain string) (ledger.NewSecret, error)
	// NewSecrets seals the client secret in the form that adds it.
	NewSecrets NewSecrets
	// Forms seals the record, in a form, of the user to whom the form was shown.
	Forms Forms
	// Explain opens an error_id. The pages check who may see the result.
	Explain func(errorID string) (ledger.Explanation, error)
	// Devices seals the record of the users who have signed in with a browser.
	Devices Devices
	// Sessions seals the session cookie.
	Sessions Sessions
	// Documents fetches the metadata documents of clients. It may be nil: then none can be
	// fetched.
	Documents Documents
	// Registration returns what the client_id of a registered client has, or nil. It may be nil:
	// then there are no such clients.
	Registration func(ctx context.Context, clientID string) *oauth.Registration
	// Refusals are shown to the owner of the client. The default only has those of the
	// authorization step.
	Refusals *Refusals
	// Refused counts each answered refusal of the authorization step. Default: it is not counted.
	Refused func(ledger.Cause)
	// ErrorID seals the cause of a refused request for the page of the refusal. client is "" if
	// no client is known. Explain opens it. Default: the page has none.
	ErrorID func(client string, r ledger.Refusal) string
	// Security records failed sign-ins. It may be nil.
	Security *security.Recorder
	// Rand must be safe for concurrent use. Default: crypto/rand.Reader.
	Rand io.Reader
	// Log receives why a page failed, and one record for each request whose context has
	// none of package requestlog. Default: slog.Default().
	Log *slog.Logger
	// Passwords must bound how many hashes are computed concurrently. Default: a
	// credential.Hasher with one for each CPU.
	Passwords Passwords
	// Upstream is a provider for signing in. Default: none.
	Upstream Upstream
	// Attempts is required with Upstream.
	Attempts Attempts
	// NoPasswords disables signing in by password. It requires Upstream.
	NoPasswords bool
	// ClientIP returns the address under which attempts to sign in are counted. Default:
	// the peer's.
	ClientIP func(*http.Request) string
}

// Web serves the pages. Its methods are safe for concurrent use.
type Web struct {
	config    Config
	pages     ui.Pages
	attempts  *attempts
	hashQueue *hashQueue
	limits    *limits
	counters  *counters[ledger.Connected] // by client
	// agentCounters has the number of grants of each client of a publisher: see grantsOf.
	agentCounters *counters[map[string]int]
	origin        *http.CrossOriginProtection
	table         []route
	ownPages      *httprouter.Router // has the pages that need a session; used for matching only
}

// New validates the configuration and parses the templates.
func New(c Config) (*Web, error) {
	switch {
	case c.Ledger == nil:
		return nil, errors.New("web: no ledger given")
	case c.Code == nil:
		return nil, errors.New("web: no Code given")
	case c.Issuer == nil:
		return nil, errors.New("web: no issuer given")
	case c.Secret == nil:
		return nil, errors.New("web: no Secret given")
	case c.NewSecrets == nil:
		return nil, errors.New("web: no NewSecrets given")
	case c.Forms == nil:
		return nil, errors.New("web: no Forms given")
	case c.Explain == nil:
		return nil, errors.New("web: no Explain given")
	case c.Devices == nil:
		return nil, errors.New("web: no Devices given")
	case c.Sessions == nil:
		return nil, errors.New("web: no Sessions given")
	case c.Upstream != nil && c.Attempts == nil:
		return nil, errors.New("web: no Attempts given for Upstream")
	case c.Upstream == nil && c.NoPasswords:
		return nil, errors.New("web: NoPasswords without Upstream")
	}
	if c.ErrorID == nil {
		c.ErrorID = func(string, ledger.Refusal) string { return "" }
	}
	if c.Refused == nil {
		c.Refused = func(ledger.Cause) {}
	}
	if c.Refusals == nil {
		c.Refusals = NewRefusals()
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Passwords == nil {
		c.Passwords = credential.NewHasher(c.Rand, 0)
	}
	if c.ClientIP == nil {
		c.ClientIP = peer
	}
	pages, err := parsedPages()
	if err != nil {
		return nil, err
	}
	w := &Web{
		config: c, pages: maps.Clone(pages),
		attempts: newAttempts(), hashQueue: newHashQueue(), limits: newLimits(), counters: newCounters[ledger.Connected](), agentCounters: newCounters[map[string]int](),
		origin: http.NewCrossOriginProtection(),
	}
	w.install(w.routes())
	return w, nil
}

// NotFound responds for a path without a route.
func (w *Web) NotFound(rw http.ResponseWriter, r *http.Request) {
	w.serve(&request{ResponseWriter: rw, r: r}, func(*request) error { return errNotFound })
}

// MethodNotAllowed responds for a method that a path doesn't support. The router has set Allow.
func (w *Web) MethodNotAllowed(rw http.ResponseWriter, r *http.Request) {
	w.serve(&request{ResponseWriter: rw, r: r}, func(*request) error {
		if agentPath(r.URL.Path) && !w.config.Ledger.View().Settings().AcceptsAgents() {
			rw.Header().Del("Allow")
			return errNotFound
		}
		return methodNotAllowed("")
	})
}

func peer(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
