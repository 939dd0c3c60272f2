package authn

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/security"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// Passwords verifies a password against a hash and hashes a new one, like
// credential.Hasher: an empty hash never matches, and each check that fails takes the same
// time, for which dearest has what imported hashes cost.
type Passwords interface {
	Check(ctx context.Context, hash, password string, dearest []ledger.HashCost) (bool, error)
	Hash(ctx context.Context, password string) (string, error)
}

// A Config configures a Prover. It must not be changed afterwards.
type Config struct {
	// Passwords must bound how many hashes are computed concurrently.
	Passwords Passwords
	// Upstream is a provider for signing in, or nil.
	Upstream Upstream
	// NoPasswords disables signing in by password.
	NoPasswords bool
	// Devices seals the record of the users who have signed in with a browser.
	Devices Devices
	// Security records failed sign-ins. It may be nil.
	Security *security.Recorder
	// ClientIP returns the address under which attempts to sign in are counted.
	ClientIP func(*http.Request) string
}

// A Prover verifies who somebody is, and limits guessing. Its methods are safe for concurrent
// use.
type Prover struct {
	*site.Site
	Config

	attempts  *attempts
	hashQueue *hashQueue
}

// New returns a Prover for the requests of a Site.
func New(s *site.Site, c Config) *Prover {
	if c.ClientIP == nil {
		c.ClientIP = peer
	}
	return &Prover{Site: s, Config: c, attempts: newAttempts(), hashQueue: newHashQueue()}
}

// AcceptPassword counts a sign-in with a correct password, or returns how long to wait if they
// arrive faster than a person could send them.
func (w *Prover) AcceptPassword(user string) (wait time.Duration) {
	return w.attempts.accept(user, w.Ledger.Now().Std())
}

// AcceptUpstream is AcceptPassword for a user whom the provider has signed in.
func (w *Prover) AcceptUpstream(subject string) (wait time.Duration) {
	return w.attempts.acceptUpstream(subject, w.Ledger.Now().Std())
}

// AttemptSession counts one attempt of a signed-in user who enters the password again, or
// returns how long to wait. After a correct password, forgive removes the attempts of the
// session from the count.
func (w *Prover) AttemptSession(v *site.Session) (wait time.Duration, forgive func()) {
	return w.attempts.trySession(v.Stored.Handle(), w.Ledger.Now().Std())
}

func peer(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
