// Package admintest provides a ledger in memory behind a real admin socket, for tests of the
// operations and of the command line. Decisions are made by the code that a node runs; there
// is no log, and there are no peers and no persistent keys.
package admintest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/replica"
	"github.com/mintmark-auth/mintmark/keys"
)

// An Env is everything that operations act on.
type Env struct {
	t        testing.TB
	memory   *machine.Memory
	now      atomic.Int64 // Unix milliseconds
	noLeader atomic.Bool
	key      keys.Secret

	Passwords *credential.Hasher
	Log       Log // output of the server
	Proposals atomic.Int64
	Paced     atomic.Int64 // calls of ViewPaced
	Slow      atomic.Bool  // whether views wait until the caller gives up
	Rotated   atomic.Bool  // whether Declared has a digest under a newer key too

	// Cluster is set for a node with peers, before Config or Serve is called.
	Cluster *Cluster
	Rewrap  func(ctx context.Context, force bool) (admin.RewrapResult, error)
	Replace func(ctx context.Context, leaked string) (admin.Rotated, error)
	Backup  func(context.Context, io.Writer) error
	Journal func(context.Context, io.Writer) error
}

// New returns an Env with a signing key and a credential key only.
func New(t testing.TB) *Env {
	t.Helper()
	key, err := keys.GenerateSecret(rand.Reader)
	require.NoError(t, err)
	w := &Env{t: t, key: key, Passwords: credential.NewHasher(rand.Reader, 0)}
	w.now.Store(Started.UnixMilli())
	w.memory = machine.NewMemory(replica.Machine(), func() time.Time { return w.Now().Std() })
	w.Do(&ledger.AddKey{Key: ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, Sealed: []byte("sealed")}})
	w.Do(&ledger.AddKey{Key: ledger.Key{ID: "k1", Purpose: ledger.ForSigning, Sealed: []byte("sealed")}})
	return w
}

// Serve opens the socket and returns the data directory with it.
func (w *Env) Serve() string {
	w.t.Helper()
	dir, _ := Open(w.t, admin.NewHandler(w.Config()))
	return dir
}

// Open is Serve for any handler.
func Open(t testing.TB, h http.Handler) (dir string, s *admin.Server) {
	t.Helper()
	// Not t.TempDir, whose path includes the test's name: the path of a socket must be short.
	dir, err := os.MkdirTemp("", "admin")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s, err = admin.Open(filepath.Join(dir, admin.SocketName), h)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.NoError(t, <-done)
	})
	return dir, s
}

// Config returns the configuration of the operations.
func (w *Env) Config() admin.Config {
	c := admin.Config{
		Backup: w.Backup, Journal: w.Journal, Rewrap: w.Rewrap,
		Ledger: w, Rand: rand.Reader, Secret: w.Secret, SecretOfSHA256: w.SecretOfSHA256, SecretOfHash: w.SecretOfHash, SecretDigests: w.SecretDigests,
		Digest: w.digest, Declared: w.Declared, Explain: w.explain, Rotate: w.rotate, Replace: w.Replace, Passwords: w.Passwords,
		Log: slog.New(slog.NewTextHandler(&w.Log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if w.Cluster != nil {
		c.Cluster = w.Cluster
	}
	return c
}

// Do decides a command that must be accepted.
func (w *Env) Do(c command.Command) ledger.Outcome {
	w.t.Helper()
	out := w.propose(c)
	require.Nil(w.t, out.Refusal, "%T: %+v", c, out.Refusal)
	return out
}

func (w *Env) propose(c command.Command) ledger.Outcome {
	var id command.ID
	_, _ = rand.Read(id[:]) // never fails
	out, wrote := w.memory.Do(c, id, false)
	if wrote {
		w.Proposals.Add(1)
	}
	return out.(ledger.Outcome)
}

// Propose implements admin.Ledger.
func (w *Env) Propose(_ context.Context, c command.Command) (ledger.Outcome, uint64, error) {
	if w.noLeader.Load() {
		return ledger.Outcome{}, 0, oauth.ErrUnavailable
	}
	return w.propose(c), 0, nil
}

// ViewFresh implements admin.Ledger.
func (w *Env) ViewFresh(ctx context.Context) (ledger.View, error) {
	if w.Slow.Load() {
		<-ctx.Done()
		return ledger.View{}, fmt.Errorf("%w: %w", oauth.ErrUnavailable, ctx.Err())
	}
	if w.noLeader.Load() {
		return ledger.View{}, oauth.ErrUnavailable
	}
	return w.View(), nil
}

// ViewPaced implements admin.Ledger.
func (w *Env) ViewPaced(ctx context.Context) (ledger.View, error) {
	w.Paced.Add(1)
	return w.ViewFresh(ctx)
}

// View implements admin.Ledger.
func (w *Env) View() ledger.View { return ledger.At(w.memory.View()) }

// Now implements admin.Ledger.
func (w *Env) Now() ledger.Time { return ledger.Time(w.now.Load()) }

// Advance advances the clock.
func (w *Env) Advance(d time.Duration) { w.now.Add(d.Milliseconds()) }

// SetNoLeader sets whether nothing can be decided.
func (w *Env) SetNoLeader(down bool) { w.noLeader.Store(down) }

// Secret returns the digest of a secret.
func (w *Env) Secret(plain string) (ledger.NewSecret, error) {
	s, err := w.SecretOfSHA256(sha256.Sum256([]byte(plain)))
	s.Tail = credential.Tail(plain)
	return s, err
}

// SecretOfSHA256 is Secret for a secret of which only the SHA-256 is known.
func (w *Env) SecretOfSHA256(sum [32]byte) (ledger.NewSecret, error) {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return ledger.NewSecret{
		ID: "s_" + hex.EncodeToString(id[:]), Key: 1, Digest: credential.DigestOfSHA256(w.key.MAC("secret"), sum),
	}, nil
}

// SecretOfHash is Secret for a secret of which only a hash of another system is known.
func (w *Env) SecretOfHash(hash string) (ledger.NewSecret, error) {
	s, err := w.SecretOfSHA256([sha256.Size]byte{})
	return ledger.NewSecret{ID: s.ID, Hash: hash}, err
}

func (w *Env) digest(key uint32, plain string) ([32]byte, bool) {
	return credential.Digest(w.key.MAC("secret"), plain), key == 1
}

// SecretDigests returns the digest of a secret of which only the SHA-256 is known.
func (w *Env) SecretDigests(sum [32]byte) []ledger.Digest {
	return []ledger.Digest{{Key: 1, MAC: credential.DigestOfSHA256(w.key.MAC("secret"), sum)}}
}

// Declared returns keyed digests, under the newest key first.
func (w *Env) Declared(text []byte) (all []string) {
	keys := []string{"declared"}
	if w.Rotated.Load() {
		keys = []string{"newer", "declared"}
	}
	for _, key := range keys {
		sum := w.key.MAC(key).Sum(text)
		all = append(all, hex.EncodeToString(sum[:]))
	}
	return all
}

// ErrorID seals a cause.
func (w *Env) ErrorID(c credential.Cause) string {
	return credential.SealCause(rand.Reader, w.key.AEAD("error"), 1, c)
}

func (w *Env) explain(id string) (ledger.Explanation, error) {
	c, err := credential.OpenCause(func(uint32) (cipher.AEAD, bool) { return w.key.AEAD("error"), true }, id)
	return ledger.Explanation{
		Client: c.Client, Cause: ledger.Cause(c.Code), At: ledger.Time(c.At),
		Named: c.Named, Grant: c.Grant, Presented: c.Presented, Due: c.Due, When: ledger.Time(c.When),
	}, err
}

func (w *Env) rotate(_ context.Context, p ledger.Purpose) (string, error) {
	out := w.propose(&ledger.AddKey{Key: ledger.Key{ID: "k9", Purpose: p, Number: 9, Sealed: []byte("sealed")}})
	if out.Refusal != nil {
		return "", Rule(out.Refusal.Cause.String())
	}
	return "k9", nil
}

// SignIn creates a session.
func (w *Env) SignIn(user string) ledger.Actor {
	w.t.Helper()
	var id [32]byte
	_, _ = rand.Read(id[:]) // never fails
	w.Do(&ledger.SignIn{Session: id, User: user, VerifiedHash: sha256.Sum256([]byte(w.View().User(user).Password))})
	return ledger.Actor{Session: id}
}

// Allow creates a grant, a legacy one if scope is "", for the cluster's audience or for a
// resource server.
func (w *Env) Allow(user, client, scope string, resource ...string) ledger.GrantID {
	w.t.Helper()
	var id ledger.GrantID
	_, _ = rand.Read(id[:]) // never fails
	c := w.View().Client(client)
	w.Do(&ledger.Allow{
		Actor: w.SignIn(user), User: user, Grant: id, Revision: c.Revision,
		Request: oauth.AuthorizationRequest{
			ClientID: client, RedirectURI: c.RedirectURIs[0], Scope: scope, ResponseType: "code", Resource: cmp.Or(resource...),
		},
	})
	return id
}

// A Log collects log output.
type Log struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
