package issuertest

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/replica"
	"github.com/mintmark-auth/mintmark/issuer/security"
	"github.com/mintmark-auth/mintmark/keys"
)

// RedirectURI is the redirection URI of the client "app".
const RedirectURI = "https://app.example/cb"

// An Issuer runs on a single node whose clock the test sets.
type Issuer struct {
	*issuer.Issuer
	T           testing.TB
	Dir         string
	Key         keys.ClusterKey
	ClusterKeys *keys.ClusterKeys
	Offset      atomic.Int64 // of the clock, in nanoseconds
	Skew        atomic.Int64 // of the issuer's clock against that of its node, in nanoseconds

	// Of the next Start; they may be nil.
	Log           *slog.Logger
	Failures      *security.Recorder
	ApplyObserver machine.Observer
}

// New starts an issuer with the user "u-alice" and the client "app" with the secret
// "a-secret". It is stopped at the end of the test.
func New(t testing.TB) *Issuer {
	key, err := keys.NewClusterKey(rand.Reader)
	require.NoError(t, err)
	b := &Issuer{T: t, Dir: t.TempDir(), Key: key, ClusterKeys: keys.FixedClusterKey(key, "a test")}
	b.Start()
	t.Cleanup(b.Stop)
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	b.Accept(&ledger.Configure{Settings: s})
	b.Accept(&ledger.PutUser{ID: "u-alice", Username: "alice", Password: "hash"})
	secret, err := b.Secret("a-secret")
	require.NoError(t, err)
	b.Accept(&ledger.ImportClient{
		ID: "app", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved, Secrets: []ledger.NewSecret{secret},
		Profile: ledger.Profile{Name: "App", RedirectURIs: []string{RedirectURI}, Scopes: []string{"PROFILE_READ"}},
	})
	return b
}

// Start starts the issuer again after Stop, with the same data and ClusterKeys.
func (b *Issuer) Start() {
	b.T.Helper()
	now := func() time.Time { return time.Now().Add(time.Duration(b.Offset.Load())) }
	log := cmp.Or(b.Log, slog.New(slog.DiscardHandler))
	node, err := cluster.Open(b.T.Context(), cluster.Config{
		Dir: b.Dir, Bootstrap: true, Machine: replica.Machine(), ApplyObserver: b.ApplyObserver, Logger: log, Now: now,
	})
	require.NoError(b.T, err)
	b.Issuer, err = issuer.New(b.T.Context(), issuer.Config{
		Node: node, ClusterKeys: b.ClusterKeys, Version: "test", Log: log, Rand: rand.Reader, Failures: b.Failures,
		Now: func() time.Time { return now().Add(time.Duration(b.Skew.Load())) },
	})
	require.NoError(b.T, err)
}

// Stop stops the issuer and its node.
func (b *Issuer) Stop() {
	b.Close()
	require.NoError(b.T, b.Node.Close(context.Background()))
}

// Accept proposes a command that must not be refused.
func (b *Issuer) Accept(c command.Command) ledger.Outcome {
	b.T.Helper()
	o, _, err := b.Propose(b.T.Context(), c)
	require.NoError(b.T, err)
	require.Nil(b.T, o.Refusal, "%T %+v", c, o.Refusal)
	return o
}

// NewCode returns an authorization code of the user for the client.
func (b *Issuer) NewCode() string {
	b.T.Helper()
	var session, grant [32]byte
	_, _ = rand.Read(session[:])
	_, _ = rand.Read(grant[:])
	b.Accept(&ledger.SignIn{Session: session, User: "u-alice", VerifiedHash: sha256.Sum256([]byte("hash"))})
	o := b.Accept(&ledger.Allow{
		Actor: ledger.Actor{Session: session}, User: "u-alice", Grant: ledger.GrantID(grant[:16]), Revision: 1,
		Request: oauth.AuthorizationRequest{ClientID: "app", RedirectURI: RedirectURI, Scope: "PROFILE_READ"},
	})
	code, err := b.Code(b.T.Context(), o.Issued, 0)
	require.NoError(b.T, err)
	return code.Reveal()
}

// Exchange returns the tokens for a new code.
func (b *Issuer) Exchange() oauth.TokenResponse {
	b.T.Helper()
	r, err := b.Token(b.T.Context(), oauth.TokenRequest{
		GrantType: oauth.AuthorizationCode, Client: oauth.ClientCredentials{ID: "app", Secret: "a-secret"},
		Code: b.NewCode(), RedirectURI: RedirectURI,
	})
	require.NoError(b.T, err)
	return r
}

// Refresh presents a refresh token of the client.
func (b *Issuer) Refresh(token string) (oauth.TokenResponse, error) {
	return b.Token(b.T.Context(), oauth.TokenRequest{
		GrantType: oauth.RefreshToken, Client: oauth.ClientCredentials{ID: "app", Secret: "a-secret"}, RefreshToken: token,
	})
}

// KeyID returns the id of the key that signed an access token.
func KeyID(t testing.TB, token string) string {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[0])
	require.NoError(t, err)
	var h struct{ Kid string }
	require.NoError(t, json.Unmarshal(text, &h))
	return h.Kid
}

// ActiveKey returns the id of the active key of a purpose.
func (b *Issuer) ActiveKey(p ledger.Purpose) string { return b.View().ActiveKey(p).ID }
