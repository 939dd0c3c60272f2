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

// Config configures a provider and this service as its client. It must not be changed
// after New.
type Config struct {
	Issuer       string // exactly as in the provider's metadata
	Name         string // for users; default: the issuer's host
	ClientID     string
	ClientSecret string // "" for a public client; see SetClientSecret
	RedirectURI  string
	Scopes       []string // in addition to openid; default: profile and email

	// A person is an administrator with AdminValue in AdminClaim, or with a verified
	// e-mail address in AdminEmails. If both are empty, the provider does not decide.
	AdminClaim, AdminValue string
	AdminEmails            []string

	Now func() time.Time // for the expiry of ID tokens; default: time.Now
	Log *slog.Logger     // default: slog.Default()
	// Transport sends the requests. Default: NewTransport().
	Transport http.RoundTripper
}

// A Provider is one OpenID Connect provider. Its methods are safe for concurrent use.
type Provider struct {
	config   Config
	client   *http.Client
	metadata atomic.Pointer[metadata]
	secret   atomic.Pointer[string]
}

// metadata is the relevant metadata of the provider.
type metadata struct {
	provider *oidc.Provider
	oauth    oauth2.Config
	verifier *oidc.IDTokenVerifier
	sendsIss bool // in every authorization response (RFC 9207 §3)
}

// New returns a Provider without metadata: see Run.
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
		c.Transport = NewTransport()
	}
	p := &Provider{config: c, client: newClient(c.Transport)}
	p.SetClientSecret(c.ClientSecret)
	return p
}

// SetClientSecret replaces the client secret for all later requests. Whether the client is
// public depends on Config.ClientSecret only and doesn't change.
func (p *Provider) SetClientSecret(secret string) { p.secret.Store(&secret) }

// Name returns the display name of the provider.
func (p *Provider) Name() string { return p.config.Name }

// Errors of Begin and Finish. Any error that is neither of these nor a *Denial means that
// the response is not valid.
var (
	// ErrUnreachable reports that the provider did not respond. The request can be
	// repeated later.
	ErrUnreachable = errors.New("the provider can not be reached")
	// ErrNotReauthenticated reports that the provider didn't prove a new sign-in: its ID
	// token has no auth_time, or an earlier one than AuthRequest.Since.
	ErrNotReauthenticated = errors.New("the provider did not confirm a new sign-in")
)

// A Denial reports an error response of the provider (OpenID Connect Core §3.1.2.6).
type Denial struct{ Code string }

// Error contains no text of the provider: the code came through the browser and may be
// forged.
func (*Denial) Error() string { return "the provider refused to say who this is" }

// An AuthRequest binds a response to its request: three random texts that are used for one
// sign-in.
type AuthRequest struct {
	State    string
	Nonce    string
	Verifier string // PKCE code verifier, 43 to 128 unreserved characters (RFC 7636 §4.1)

	// Since is when a request for a new sign-in began: the person must sign in at or after
	// it. It is zero if an earlier sign-in at the provider suffices.
	Since time.Time
}

// Begin returns the address to send the browser to. If anew is set, the provider asks for
// a sign-in although it may have a session in this browser (OpenID Connect Core §3.1.2.1):
// every provider must support the prompt login.
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
		// max_age is sent beside prompt=login, because only max_age makes the provider send
		// auth_time, which proves the new sign-in.
		options = append(options, oauth2.SetAuthURLParam("max_age", "0"))
	}
	return m.oauth.AuthCodeURL(proofs.State, options...), nil
}

// How long to wait before the next request for metadata: after a success and, with growing
// pauses, after failures.
const (
	refreshAfter = time.Hour
	retryMin     = time.Second
	retryMax     = time.Minute
)

// Run fetches the provider's metadata and refreshes it until ctx ends. While the provider
// is down, the last metadata is used.
func (p *Provider) Run(ctx context.Context) {
	pause, failed := retryMin, false
	for {
		wait := refreshAfter
		switch m, err := p.discover(ctx); {
		case ctx.Err() != nil:
			return
		case err != nil:
			if !failed {
				p.config.Log.WarnContext(ctx, "upstream provider not reached, retrying", "issuer", p.config.Issuer, "error", err)
			}
			failed, wait, pause = true, pause, min(2*pause, retryMax)
		default:
			if failed || p.metadata.Load() == nil {
				p.config.Log.InfoContext(ctx, "upstream provider reached", "issuer", p.config.Issuer)
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
