package upstream

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Config is a provider and what this service is there. It is not changed after
// New.
type Config struct {
	Issuer       string // letter by letter as the provider's metadata says
	Name         string // for people; default: the issuer's host
	ClientID     string
	ClientSecret string // "" for a public client; see SetClientSecret
	RedirectURI  string
	Scopes       []string // beside openid; default: profile and email

	// An administrator is who has AdminValue in AdminClaim, or a verified e-mail
	// address of AdminEmails. Without either the provider does not decide that.
	AdminClaim, AdminValue string
	AdminEmails            []string

	Now func() time.Time // what ID tokens run out by; default: time.Now
	Log *slog.Logger     // default: slog.Default()
	// Transport carries the requests. Default: one with limits of its own.
	Transport http.RoundTripper
}

// A Provider is one OpenID Connect provider. Its methods may be called by any
// goroutine.
type Provider struct {
	config   Config
	client   *http.Client
	metadata atomic.Pointer[metadata]
	secret   atomic.Pointer[string]
}

// metadata is what the provider said of itself.
type metadata struct {
	provider *oidc.Provider
	oauth    oauth2.Config
	verifier *oidc.IDTokenVerifier
	sendsIss bool // in every authorization response (RFC 9207 §3)
}

// New asks the provider nothing yet: see Run.
func New(c Config) *Provider {
	if u, err := url.Parse(c.Issuer); err == nil {
		c.Name = cmp.Or(c.Name, u.Host)
	}
	if len(c.Scopes) == 0 {
		c.Scopes = []string{oidc.ScopeProfile, oidc.ScopeEmail}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Transport == nil {
		c.Transport = newTransport()
	}
	p := &Provider{config: c, client: newClient(c.Transport)}
	p.SetClientSecret(c.ClientSecret)
	return p
}

// SetClientSecret replaces the client secret for all later requests. Whether the client
// is public depends on Config.ClientSecret only and doesn't change.
func (p *Provider) SetClientSecret(secret string) { p.secret.Store(&secret) }

// Name is what people call the provider.
func (p *Provider) Name() string { return p.config.Name }

// Errors of Begin and Finish. Any error that is neither of these nor a *Denial
// means that the answer can't be believed.
var (
	// ErrUnreachable says that the provider did not answer. The same may work in
	// a moment.
	ErrUnreachable = errors.New("the provider can not be reached")
	// ErrNotReauthenticated reports that the provider didn't prove a new sign-in: its ID token has
	// no auth_time, or an earlier one than Proofs.Since.
	ErrNotReauthenticated = errors.New("the provider did not confirm a new sign-in")
)

// A Denial is the provider's answer that there will be none (OpenID Connect Core
// §3.1.2.6).
type Denial struct{ Code string }

// Error has no word of the provider's: the code came by way of the browser, and
// may be anybody's.
func (*Denial) Error() string { return "the provider refused to say who this is" }

// AuthRequest are what binds an answer to the request that it is to: three texts that
// nobody can guess, and that are used for one sign-in.
type AuthRequest struct {
	State    string
	Nonce    string
	Verifier string // of PKCE; 43 to 128 unreserved characters (RFC 7636 §4.1)

	// Since is when a request for a new sign-in began: the person must sign in at or
	// after it. It is zero if an earlier sign-in at the provider suffices.
	Since time.Time
}

// Begin is the address that the browser is sent to. With anew the provider asks
// who is there although it knows somebody in this browser (OpenID Connect Core
// §3.1.2.1): login is the prompt that each has to understand.
func (p *Provider) Begin(proofs AuthRequest, anew bool) (string, error) {
	m := p.metadata.Load()
	if m == nil {
		return "", ErrUnreachable
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(proofs.Nonce), oauth2.S256ChallengeOption(proofs.Verifier)}
	if anew || !proofs.Since.IsZero() {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"))
	}
	if !proofs.Since.IsZero() {
		// max_age and not prompt=login: only max_age makes the provider send auth_time,
		// which proves the new sign-in.
		options = append(options, oauth2.SetAuthURLParam("max_age", "0"))
	}
	return m.oauth.AuthCodeURL(proofs.State, options...), nil
}

// How long the provider is left alone: after it has said of itself what there is
// to know, and, growing, after it has not.
const (
	refreshAfter = time.Hour
	retryMin     = time.Second
	retryMax     = time.Minute
)

// Run learns the provider's metadata and follows its changes until ctx ends.
// While the provider is down what was known goes on being used.
func (p *Provider) Run(ctx context.Context) {
	pause, failed := retryMin, false
	for {
		wait := refreshAfter
		switch m, err := p.discover(ctx); {
		case ctx.Err() != nil:
			return
		case err != nil:
			if !failed {
				p.config.Log.WarnContext(ctx, "the upstream provider can not be asked, trying again", "issuer", p.config.Issuer, "error", err)
			}
			failed, wait, pause = true, pause, min(2*pause, retryMax)
		default:
			if failed || p.metadata.Load() == nil {
				p.config.Log.InfoContext(ctx, "the upstream provider can be asked", "issuer", p.config.Issuer)
			}
			p.metadata.Store(m)
			failed, pause = false, retryMin
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}
