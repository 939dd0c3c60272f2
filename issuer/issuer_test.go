package issuer_test

import (
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
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/keys"
)

const redirect = "https://app.example/cb"

func digestOf(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// A testIssuer is an issuer on a real node whose clock the test sets.
type testIssuer struct {
	t           *testing.T
	dir         string
	key         keys.ClusterKey
	clusterKeys *keys.ClusterKeys
	offset      atomic.Int64 // of the clock, nanoseconds
	node        *cluster.Node
	*issuer.Issuer
}

func newTestIssuer(t *testing.T) *testIssuer {
	key, err := keys.NewClusterKey(rand.Reader)
	require.NoError(t, err)
	b := &testIssuer{t: t, dir: t.TempDir(), key: key, clusterKeys: keys.FixedClusterKey(key, "a test")}
	b.open()
	t.Cleanup(b.close)
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	b.accept(&ledger.Configure{Settings: s})
	b.accept(&ledger.PutUser{ID: "u-alice", Username: "alice", Password: "hash"})
	secret, err := b.Secret("a-secret")
	require.NoError(t, err)
	b.accept(&ledger.ImportClient{
		ID: "app", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved, Secrets: []ledger.NewSecret{secret},
		Profile: ledger.Profile{Name: "App", RedirectURIs: []string{redirect}, Scopes: []string{"PROFILE_READ"}},
	})
	return b
}

func (b *testIssuer) open() {
	b.t.Helper()
	now := func() time.Time { return time.Now().Add(time.Duration(b.offset.Load())) }
	var err error
	log := slog.New(slog.DiscardHandler)
	b.node, err = cluster.Open(b.t.Context(), cluster.Config{Dir: b.dir, Bootstrap: true, Machine: issuer.Machine(), Logger: log, Now: now})
	require.NoError(b.t, err)
	b.Issuer, err = issuer.New(b.t.Context(), issuer.Config{
		Node: b.node, ClusterKeys: b.clusterKeys, Version: "test", Log: log, Now: now, Rand: rand.Reader,
	})
	require.NoError(b.t, err)
}

func (b *testIssuer) close() {
	b.Issuer.Close()
	require.NoError(b.t, b.node.Close(context.Background()))
}

func (b *testIssuer) accept(c ledger.Command) ledger.Outcome {
	b.t.Helper()
	o, _, err := b.Propose(b.t.Context(), c)
	require.NoError(b.t, err)
	require.Nil(b.t, o.Refusal, "%T %+v", c, o.Refusal)
	return o
}

func (b *testIssuer) code() string {
	b.t.Helper()
	var session, grant [32]byte
	_, _ = rand.Read(session[:])
	_, _ = rand.Read(grant[:])
	b.accept(&ledger.SignIn{Session: session, User: "u-alice", VerifiedHash: sha256.Sum256([]byte("hash"))})
	o := b.accept(&ledger.Allow{
		Actor: ledger.Actor{Session: session}, User: "u-alice", Grant: ledger.GrantID(grant[:16]), Revision: 1,
		Request: oauth.AuthorizationRequest{ClientID: "app", RedirectURI: redirect, Scope: "PROFILE_READ"},
	})
	code, err := b.Code(b.t.Context(), o.Issued, 0)
	require.NoError(b.t, err)
	return code.Reveal()
}

func (b *testIssuer) exchange() oauth.TokenResponse {
	b.t.Helper()
	r, err := b.Token(b.t.Context(), oauth.TokenRequest{
		GrantType: oauth.AuthorizationCode, Client: oauth.ClientCredentials{ID: "app", Secret: "a-secret"},
		Code: b.code(), RedirectURI: redirect,
	})
	require.NoError(b.t, err)
	return r
}

func (b *testIssuer) refresh(token string) (oauth.TokenResponse, error) {
	return b.Token(b.t.Context(), oauth.TokenRequest{
		GrantType: oauth.RefreshToken, Client: oauth.ClientCredentials{ID: "app", Secret: "a-secret"}, RefreshToken: token,
	})
}

func kidOf(t *testing.T, token string) string {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[0])
	require.NoError(t, err)
	var h struct{ Kid string }
	require.NoError(t, json.Unmarshal(text, &h))
	return h.Kid
}

func (b *testIssuer) key1(p ledger.Purpose) string { return b.View().ActiveKey(p).ID }

// TestRotationOfSigningKeys takes a key through its life by the leader's
// duties, and looks at what verifiers see at each step.
func TestRotationOfSigningKeys(t *testing.T) {
	b := newTestIssuer(t)
	first := b.key1(ledger.ForSigning)
	require.Equal(t, first, kidOf(t, b.exchange().AccessToken))
	require.Equal(t, 300*time.Second, b.KeySet().MaxAge)

	second, err := b.Rotate(t.Context(), ledger.ForSigning)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		body := string(b.KeySet().Body)
		return strings.Contains(body, first) && strings.Contains(body, second)
	}, 10*time.Second, 10*time.Millisecond, "a key is published before it is used")
	require.Equal(t, first, kidOf(t, b.exchange().AccessToken))

	b.StepKeys(t.Context())
	require.Equal(t, first, b.key1(ledger.ForSigning), "not before two max-ages")

	b.offset.Store(int64(601 * time.Second))
	require.LessOrEqual(t, b.KeySet().MaxAge, 300*time.Second)
	require.Eventually(t, func() bool {
		b.StepKeys(t.Context())
		return b.key1(ledger.ForSigning) == second
	}, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, second, kidOf(t, b.exchange().AccessToken))
	require.Contains(t, string(b.KeySet().Body), first, "an unexpired token may carry it")

	b.offset.Store(int64((601 + 1859) * time.Second))
	b.StepKeys(t.Context())
	require.Contains(t, string(b.KeySet().Body), first)
	b.offset.Store(int64((601 + 1900) * time.Second))
	require.Eventually(t, func() bool {
		b.StepKeys(t.Context())
		return !strings.Contains(string(b.KeySet().Body), first)
	}, 10*time.Second, 10*time.Millisecond)
}

// TestRotationOfCredentialKeys: nobody is signed out by it.
func TestRotationOfCredentialKeys(t *testing.T) {
	b := newTestIssuer(t)
	before := b.exchange()
	attempt, device := b.SealAttempt([]byte("a sign-in elsewhere")), b.SealDevice([]byte("a browser"))
	session, lag := b.SealSession([]byte("a session")), b.Lag()
	id, err := b.Rotate(t.Context(), ledger.ForCredentials)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		b.StepKeys(t.Context())
		return b.key1(ledger.ForCredentials) == id
	}, 10*time.Second, 10*time.Millisecond)

	opened, err := b.OpenAttempt(attempt)
	require.NoError(t, err, "a sign-in that began before")
	require.Equal(t, "a sign-in elsewhere", string(opened))
	_, err = b.OpenAttempt(b.ErrorID("c", ledger.Refusal{})[4:])
	require.Error(t, err, "another kind of sealed text")
	opened, err = b.OpenDevice(device)
	require.NoError(t, err)
	require.Equal(t, "a browser", string(opened))
	_, err = b.OpenDevice(attempt)
	require.Error(t, err, "what a stranger can have sealed is no browser that signed in")
	opened, err = b.OpenSession(t.Context(), session)
	require.NoError(t, err)
	require.Equal(t, "a session", string(opened))
	_, err = b.OpenSession(t.Context(), device)
	require.Error(t, err)
	younger := b.SealSession([]byte("a younger session"))
	lag()
	opened, err = b.OpenSession(t.Context(), younger)
	require.NoError(t, err, "a node that has not heard of the key yet asks for it")
	require.Equal(t, "a younger session", string(opened))

	r, err := b.refresh(before.RefreshToken)
	require.NoError(t, err, "a token made under the older key, and a secret recorded under it")
	r, err = b.refresh(r.RefreshToken)
	require.NoError(t, err)
	_, err = b.refresh(before.RefreshToken)
	require.Error(t, err, "reuse is recognised across the rotation")
	_, err = b.refresh(r.RefreshToken)
	require.Error(t, err)
}

// TestRestart: what was promised survives, down to the same refresh token.
func TestRestart(t *testing.T) {
	b := newTestIssuer(t)
	token := b.exchange().RefreshToken
	once, err := b.refresh(token)
	require.NoError(t, err)
	b.close()
	b.open()
	again, err := b.refresh(token)
	require.NoError(t, err)
	require.Equal(t, once.RefreshToken, again.RefreshToken, "the successor is computed again")
	require.NotEqual(t, once.AccessToken, again.AccessToken)
}

// TestExplain: the cause is in the error_id, and names the grant only to a
// client that has proven that it is its own.
func TestExplain(t *testing.T) {
	b := newTestIssuer(t)
	first := b.exchange()
	second, err := b.refresh(first.RefreshToken)
	require.NoError(t, err)
	_, err = b.refresh(second.RefreshToken)
	require.NoError(t, err)
	_, err = b.refresh(first.RefreshToken)
	var refused *oauth.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, oauth.InvalidGrant, refused.Code)
	e, err := b.Explain(refused.ID)
	require.NoError(t, err)
	require.Equal(t, ledger.RefreshReused, e.Cause)
	require.True(t, e.Named)
	require.EqualValues(t, 1, e.Presented)
	require.EqualValues(t, 3, e.Due)

	_, err = b.Token(t.Context(), oauth.TokenRequest{
		GrantType: oauth.RefreshToken, Client: oauth.ClientCredentials{ID: "app", Secret: "wrong"}, RefreshToken: second.RefreshToken,
	})
	require.ErrorAs(t, err, &refused)
	e, err = b.Explain(refused.ID)
	require.NoError(t, err)
	require.Equal(t, ledger.SecretWrong, e.Cause)
	require.False(t, e.Named)
	require.Zero(t, e.Grant)

	_, err = b.Explain("mme_nonsense")
	require.ErrorIs(t, err, issuer.ErrNotAnErrorID)
}

// TestWrongClusterKey: a node with another cluster key starts nothing.
func TestWrongClusterKey(t *testing.T) {
	b := newTestIssuer(t)
	other, err := keys.NewClusterKey(rand.Reader)
	require.NoError(t, err)
	_, err = issuer.New(t.Context(), issuer.Config{
		Node: b.node, ClusterKeys: keys.FixedClusterKey(other, "a test"), Log: slog.New(slog.DiscardHandler), Now: time.Now, Rand: rand.Reader,
	})
	require.ErrorIs(t, err, keys.ErrUnsealable)
	require.ErrorContains(t, err, "put the right one back")
	require.ErrorContains(t, err, other.ID())
}

// TestSweep: the leader removes what has no effect any more.
func TestSweep(t *testing.T) {
	b := newTestIssuer(t)
	live := b.exchange()
	b.code() // never redeemed
	count := func() (n int) {
		for range b.View().Grants() {
			n++
		}
		return n
	}
	require.Equal(t, 2, count())
	b.offset.Store(int64(25 * time.Hour))
	require.NoError(t, b.SweepOnce(t.Context()))
	require.Equal(t, 1, count())
	_, err := b.refresh(live.RefreshToken)
	require.NoError(t, err)
}
