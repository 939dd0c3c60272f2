package web

import (
	"context"
	"crypto/rand"
	"errors"
	"html/template"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/security"
)

// Ledger is what pages read and propose.
type Ledger interface {
	// View is this node's state, which may lag.
	View() ledger.View
	// ViewAt waits until the command of an index is applied.
	ViewAt(ctx context.Context, index uint64) (ledger.View, error)
	// InTouch says that View lags by a moment at most. A node that has no leader
	// may have missed anything since.
	InTouch() bool
	// ViewFresh misses no command that was answered before the call.
	ViewFresh(ctx context.Context) (ledger.View, error)
	// ViewPaced is ViewFresh for requests without a session. All such requests share a
	// bounded number of fresh views per second: see cluster.Node.ViewPaced.
	ViewPaced(ctx context.Context) (ledger.View, error)
	// Propose has a command decided. The index is where a view shows its
	// effect. The error is oauth.ErrUnavailable where nothing could be decided.
	Propose(ctx context.Context, c command.Command) (ledger.Outcome, uint64, error)
	// Now is a reading of a clock that runs, for what is only shown and for
	// limits. Decisions are stamped elsewhere.
	Now() ledger.Time
}

// Passwords checks a password against a hash and hashes a new one, as
// credential.Hasher does: an empty hash costs as much time as any other and is
// never right.
type Passwords interface {
	Check(ctx context.Context, hash, password string) (bool, error)
	Hash(ctx context.Context, password string) (string, error)
}

// Config is what the pages are made of. It is not changed after New.
type Config struct {
	Ledger Ledger
	// Code mints the authorization code of an accepted Allow.
	Code func(ctx context.Context, o *ledger.Issued, index uint64) (credential.Code, error)
	// Issuer is the issuer identifier that authorization responses carry (RFC
	// 9207 §2).
	Issuer func() string
	// Secure says that browsers reach the pages by https: cookies are Secure
	// with the prefix __Host-, and HSTS is sent.
	Secure bool
	// Secret is what the ledger records of a client secret: its digest, with an
	// id that the form's replaces.
	Secret func(plain string) (ledger.NewSecret, error)
	// NewSecrets seals the client secret in the form that makes it.
	NewSecrets NewSecrets
	// Forms seals the record in a form of the user that the form was shown to.
	Forms Forms
	// Explain opens an error_id. Pages check who may see what is in it.
	Explain func(errorID string) (ledger.Explanation, error)
	// Devices is how browsers that people have signed in with are known again.
	Devices Devices
	// Sessions seals the session cookie.
	Sessions Sessions
	// Refusals are told to the owner of the client. Default: those of the
	// authorization step only.
	Refusals *Refusals
	// Security records failed sign-ins. It may be nil.
	Security *security.Recorder
	// RequestID returns the id of a request in the log. It may be nil.
	RequestID func(*http.Request) string
	// Rand must be safe for concurrent use. Default: crypto/rand.Reader.
	Rand io.Reader
	// Log gets one record a request. Default: slog.Default().
	Log *slog.Logger
	// Passwords must bound how many hashes are computed at once. Default: a
	// credential.Hasher with one for each CPU.
	Passwords Passwords
	// Upstream is a provider that people sign in with. Default: none.
	Upstream Upstream
	// Attempts is needed with Upstream.
	Attempts Attempts
	// NoPasswords says that nobody signs in by a password of this service. It
	// needs Upstream.
	NoPasswords bool
	// ClientIP is the address that attempts to sign in are counted by.
	// Default: the peer's.
	ClientIP func(*http.Request) string
}

// Web serves the pages. Its methods may be called by any goroutine.
type Web struct {
	config    Config
	pages     map[string]*template.Template
	assets    assets
	attempts  *attempts
	hashQueue *hashQueue
	limits    *limits
	counters  *counters
	origin    *http.CrossOriginProtection
	table     []route
	ownPages  *httprouter.Router // knows the pages for who is signed in, and serves none
}

// New checks the configuration and parses the templates.
func New(c Config) (*Web, error) {
	switch {
	case c.Ledger == nil:
		return nil, errors.New("web: no ledger given")
	case c.Code == nil:
		return nil, errors.New("web: nothing mints codes")
	case c.Issuer == nil:
		return nil, errors.New("web: no issuer given")
	case c.Secret == nil:
		return nil, errors.New("web: nothing digests secrets")
	case c.NewSecrets == nil:
		return nil, errors.New("web: nothing seals new secrets")
	case c.Forms == nil:
		return nil, errors.New("web: nothing seals forms")
	case c.Explain == nil:
		return nil, errors.New("web: nothing opens error ids")
	case c.Devices == nil:
		return nil, errors.New("web: nothing seals devices")
	case c.Sessions == nil:
		return nil, errors.New("web: nothing seals sessions")
	case c.Upstream != nil && c.Attempts == nil:
		return nil, errors.New("web: nothing seals sign-ins elsewhere")
	case c.Upstream == nil && c.NoPasswords:
		return nil, errors.New("web: nobody can sign in")
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
		config: c, pages: maps.Clone(pages), assets: newAssets(),
		attempts: newAttempts(), hashQueue: newHashQueue(), limits: newLimits(), counters: newCounters(), origin: http.NewCrossOriginProtection(),
	}
	w.install(w.routes())
	return w, nil
}

// NotFound answers a path that nothing serves.
func (w *Web) NotFound(rw http.ResponseWriter, r *http.Request) {
	w.serve(&request{ResponseWriter: rw, r: r}, func(*request) error { return errNotFound })
}

// MethodNotAllowed answers a method that a path does not have. The router has
// set Allow.
func (w *Web) MethodNotAllowed(rw http.ResponseWriter, r *http.Request) {
	w.serve(&request{ResponseWriter: rw, r: r}, func(*request) error { return methodNotAllowed("") })
}

func peer(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
