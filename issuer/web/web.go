package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/security"
	"github.com/mintmark-auth/mintmark/issuer/web/account"
	"github.com/mintmark-auth/mintmark/issuer/web/admin"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	"github.com/mintmark-auth/mintmark/issuer/web/developer"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/signin"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/verifier"
)

// Config configures the pages. It must not be changed after New.
type Config struct {
	Ledger site.Ledger
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
	NewSecrets parts.NewSecrets
	// Forms seals the record, in a form, of the user to whom the form was shown.
	Forms site.Forms
	// Explain opens an error_id. The pages check who may see the result.
	Explain func(errorID string) (ledger.Explanation, error)
	// Verify verifies an access token, as the API of this server does. Default: none can be
	// verified.
	Verify func(ctx context.Context, token string) (*verifier.Claims, error)
	// Devices seals the record of the users who have signed in with a browser.
	Devices authn.Devices
	// Sessions seals the session cookie.
	Sessions site.Sessions
	// Documents fetches the metadata documents of clients. It may be nil: then none can be
	// fetched.
	Documents signin.Documents
	// Registration returns what the client_id of a registered client has, or nil. It may be nil:
	// then there are no such clients.
	Registration func(ctx context.Context, clientID string) *oauth.Registration
	// Refusals are shown to the owner of the client. The default only has those of the
	// authorization step.
	Refusals *parts.Refusals
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
	Passwords authn.Passwords
	// Upstream is a provider for signing in. Default: none.
	Upstream authn.Upstream
	// Attempts is required with Upstream.
	Attempts signin.Attempts
	// NoPasswords disables signing in by password. It requires Upstream.
	NoPasswords bool
	// ClientIP returns the address under which attempts to sign in are counted. Default:
	// the peer's.
	ClientIP func(*http.Request) string
}

// Web serves the pages. Its methods are safe for concurrent use.
type Web struct {
	*site.Site

	Prover    *authn.Prover
	SignIn    *signin.Area
	Account   *account.Area
	Developer *developer.Area
	Admin     *admin.Area
}

// New validates the configuration and parses the templates.
func New(c Config) (*Web, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	s, err := site.New(site.Config{
		Ledger: c.Ledger, Secure: c.Secure, Sessions: c.Sessions, Forms: c.Forms, ErrorID: c.ErrorID,
		Rand: c.Rand, Log: c.Log, Navigation: navigation,
	})
	if err != nil {
		return nil, fmt.Errorf("make the site: %w", err)
	}
	p := authn.New(s, authn.Config{
		Passwords: c.Passwords, Upstream: c.Upstream, NoPasswords: c.NoPasswords, Devices: c.Devices,
		Security: c.Security, ClientIP: c.ClientIP,
	})
	secrets := &parts.SecretForms{Site: s, Secret: c.Secret, NewSecrets: c.NewSecrets}
	w := &Web{Site: s, Prover: p}
	if w.SignIn, err = signin.New(s, p, signin.Config{
		Code: c.Code, Issuer: c.Issuer, Attempts: c.Attempts, Documents: c.Documents, Registration: c.Registration,
		Refusals: c.Refusals, Refused: c.Refused,
	}); err != nil {
		return nil, fmt.Errorf("make the sign-in pages: %w", err)
	}
	if w.Account, err = account.New(s, p, secrets); err != nil {
		return nil, fmt.Errorf("make the account pages: %w", err)
	}
	if w.Developer, err = developer.New(s, secrets, developer.Config{Issuer: c.Issuer, Explain: c.Explain, Verify: c.Verify, Refusals: c.Refusals}); err != nil {
		return nil, fmt.Errorf("make the developer pages: %w", err)
	}
	if w.Admin, err = admin.New(s, p, secrets); err != nil {
		return nil, fmt.Errorf("make the administration pages: %w", err)
	}
	s.Install(slices.Concat(
		s.Routes(), w.SignIn.Routes(), w.Account.Routes(), w.Developer.Routes(), w.Admin.Routes(),
	))
	return w, nil
}

// complete validates a configuration and sets defaults.
func (c *Config) complete() error {
	switch {
	case c.Ledger == nil:
		return errors.New("web: no ledger given")
	case c.Code == nil:
		return errors.New("web: no Code given")
	case c.Issuer == nil:
		return errors.New("web: no issuer given")
	case c.Secret == nil:
		return errors.New("web: no Secret given")
	case c.NewSecrets == nil:
		return errors.New("web: no NewSecrets given")
	case c.Forms == nil:
		return errors.New("web: no Forms given")
	case c.Explain == nil:
		return errors.New("web: no Explain given")
	case c.Devices == nil:
		return errors.New("web: no Devices given")
	case c.Sessions == nil:
		return errors.New("web: no Sessions given")
	case c.Upstream != nil && c.Attempts == nil:
		return errors.New("web: no Attempts given for Upstream")
	case c.Upstream == nil && c.NoPasswords:
		return errors.New("web: NoPasswords without Upstream")
	}
	if c.ErrorID == nil {
		c.ErrorID = func(string, ledger.Refusal) string { return "" }
	}
	if c.Verify == nil {
		c.Verify = func(context.Context, string) (*verifier.Claims, error) { return nil, verifier.ErrKeysUnavailable }
	}
	if c.Refused == nil {
		c.Refused = func(ledger.Cause) {}
	}
	if c.Refusals == nil {
		c.Refusals = parts.NewRefusals()
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
	return nil
}
