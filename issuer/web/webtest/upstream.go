package webtest

import (
	"context"
	"crypto/cipher"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/upstream"
	"github.com/mintmark-auth/mintmark/issuer/upstream/upstreamtest"
	"github.com/mintmark-auth/mintmark/issuer/web"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
)

// Sealer implements web.Attempts, web.Devices and web.Sessions under one key.
type Sealer struct{}

func (Sealer) key(uint32) (cipher.AEAD, bool) {
	a, err := chacha20poly1305.NewX([]byte("a key of thirty-two bytes, sharp"))
	return a, err == nil
}

func (s Sealer) SealAttempt(plain []byte) string {
	a, _ := s.key(1)
	return credential.SealText(zeros{}, a, 1, plain)
}

func (s Sealer) OpenAttempt(text string) ([]byte, error) { return credential.OpenText(s.key, text) }

func (s Sealer) deviceKey(uint32) (cipher.AEAD, bool) {
	a, err := chacha20poly1305.NewX([]byte("one more key of 32 bytes, sharp!"))
	return a, err == nil
}

func (s Sealer) SealDevice(plain []byte) string {
	a, _ := s.deviceKey(1)
	return credential.SealText(zeros{}, a, 1, plain)
}

func (s Sealer) OpenDevice(text string) ([]byte, error) {
	return credential.OpenText(s.deviceKey, text)
}

func (Sealer) sessionKey(uint32) (cipher.AEAD, bool) {
	a, err := chacha20poly1305.NewX([]byte("the key of sessions, 32 bytes, !"))
	return a, err == nil
}

func (s Sealer) SealSession(plain []byte) string {
	a, _ := s.sessionKey(1)
	return credential.SealText(zeros{}, a, 1, plain)
}

func (s Sealer) OpenSession(_ context.Context, text string) ([]byte, error) {
	return credential.OpenText(s.sessionKey, text)
}

func (s Sealer) secretKey(uint32) (cipher.AEAD, bool) {
	a, err := chacha20poly1305.NewX([]byte("the third key of 32 bytes, sharp"))
	return a, err == nil
}

func (s Sealer) SealNewSecret(plain []byte) string {
	a, _ := s.secretKey(1)
	return credential.SealText(zeros{}, a, 1, plain)
}

func (s Sealer) OpenNewSecret(text string) ([]byte, error) {
	return credential.OpenText(s.secretKey, text)
}

func (s Sealer) formKey(uint32) (cipher.AEAD, bool) {
	a, err := chacha20poly1305.NewX([]byte("the fourth key, 32 bytes as well"))
	return a, err == nil
}

func (s Sealer) SealForm(plain []byte) string {
	a, _ := s.formKey(1)
	return credential.SealText(zeros{}, a, 1, plain)
}

func (s Sealer) OpenForm(text string) ([]byte, error) {
	return credential.OpenText(s.formKey, text)
}

// zeros is a deterministic source of randomness.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// NewUpstreamEnv returns an env whose users may sign in at a provider too.
func NewUpstreamEnv(t *testing.T, change ...func(*web.Config)) (*Env, *upstreamtest.Provider) {
	t.Helper()
	var w *Env
	p := upstreamtest.New(t, func() time.Time { return w.Clock() })
	w = NewEnv(t, append([]func(*web.Config){func(c *web.Config) { c.Upstream, c.Attempts = Relying(t, p, c), Sealer{} }}, change...)...)
	return w, p
}

// Relying returns the service as a client of a provider, with its metadata fetched.
func Relying(t *testing.T, p *upstreamtest.Provider, c *web.Config) *upstream.Provider {
	t.Helper()
	r := upstream.New(upstream.Config{
		Issuer: p.URL, Name: "Example ID", ClientID: upstreamtest.ClientID, ClientSecret: upstreamtest.ClientSecret,
		RedirectURI: "https://app.mintmark.example" + authn.PathUpstreamCallback, AdminClaim: "groups", AdminValue: "root",
		Now: func() time.Time { return c.Ledger.Now().Std() }, Log: slog.New(slog.DiscardHandler),
	})
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	go r.Run(ctx)
	require.Eventually(t, func() bool {
		_, err := r.Begin(upstream.AuthRequest{}, false)
		return err == nil
	}, 10*time.Second, time.Millisecond)
	return r
}

var upstreamLink = regexp.MustCompile(`<a class="button primary" href="(/auth/upstream/callback/begin\?[^"]*)"`)

// UpstreamLink returns the link to the provider on a sign-in page.
func (a Answer) UpstreamLink(t testing.TB) string {
	t.Helper()
	m := upstreamLink.FindStringSubmatch(a.Text)
	require.NotNil(t, m, "no link in %d %s", a.StatusCode, a.Text)
	return strings.ReplaceAll(m[1], "&amp;", "&")
}

// GoUpstream follows the link of a page, and returns where the provider sends the browser
// after the user with a subject has signed in.
func (b *Browser) GoUpstream(page Answer, p *upstreamtest.Provider, subject string) string {
	b.Env.T.Helper()
	res := b.Get(page.UpstreamLink(b.Env.T))
	require.Equal(b.Env.T, http.StatusSeeOther, res.StatusCode, res.Text)
	return authn.PathUpstreamCallback + "?" + p.SignIn(res.Header.Get("Location"), subject).Encode()
}

func (b *Browser) SignInUpstream(page Answer, p *upstreamtest.Provider, subject string) Answer {
	b.Env.T.Helper()
	return b.Get(b.GoUpstream(page, p, subject))
}

// AttemptBytes returns the length of all those cookies.
func (b *Browser) AttemptBytes() (n int) {
	for _, name := range b.AttemptCookies() {
		n += len(name) + len(b.Cookies[name])
	}
	return n
}

// AttemptCookies returns the names of the cookies of pending sign-ins.
func (b *Browser) AttemptCookies() (names []string) {
	for name := range b.Cookies {
		if strings.Contains(name, "mintmark-upstream-") {
			names = append(names, name)
		}
	}
	return names
}

func (w *Env) UpstreamUser(p *upstreamtest.Provider, subject string) *ledger.User {
	return ledger.At(w.Memory.View()).UserBySubject(p.URL, subject)
}

// BrowserFrom returns a browser with the same cookies except the session.
func (w *Env) BrowserFrom(b *Browser) *Browser {
	delete(b.Cookies, "mintmark")
	return b
}

// WithProvider configures a provider that was never reachable.
func WithProvider(c *web.Config) {
	c.Upstream, c.Attempts = upstream.New(upstream.Config{Issuer: "https://id.example.com", Log: slog.New(slog.DiscardHandler)}), Sealer{}
}
