package webtest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-memdb"
	"github.com/julienschmidt/httprouter"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/replica"
	"github.com/mintmark-auth/mintmark/issuer/web"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
)

// An Env is a service with a real ledger, one user, Ada, and some clients.
type Env struct {
	T            testing.TB
	Memory       *machine.Memory
	Config       web.Config
	Web          *web.Web
	Handler      http.Handler
	Refusals     *parts.Refusals
	Log          *lockedBuffer
	Explanations map[string]ledger.Explanation // by error_id
	Hashed       []string                      // the hashes that passwords were verified against
	OnCheck      func(dearest []ledger.HashCost)

	Mu              sync.Mutex
	random          io.Reader // of the ids of commands
	now             time.Time
	Index           uint64
	Lagging         *memdb.Txn   // returned by View, if set
	laggingIndex    uint64       // the index of lagging
	PacedViews      atomic.Int32 // number of calls of ViewPaced
	NoLeader        bool         // there is no leader
	NoLeaderContact bool         // there has been no leader for a while
	BeforePropose   func()       // called once, before the next command
	Proposals       []command.Command
	// Decide decides a command instead of the ledger, unless it returns nothing.
	Decide func(command.Command) (*ledger.Outcome, error)
}

const (
	Issuer    = "https://auth.example.com"
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	Challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	Password  = "correct horse battery staple"
	Callback  = "https://app.example.com/cb"
)

var PasswordHash = sync.OnceValue(func() string { return credential.HashPassword(rand.Reader, Password) })

// NewEnv returns an Env with a user and clients.
func NewEnv(t testing.TB, change ...func(*web.Config)) *Env {
	t.Helper()
	w := newEnv(t)
	settings := ledger.DefaultSettings()
	settings.BaseURL, settings.AppURL, settings.Audience = Issuer, "https://app.mintmark.example", "api"
	w.Must(&ledger.Configure{Settings: settings})
	w.Must(&ledger.AddKey{Key: ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, Sealed: []byte{1}}})
	w.User("u-ada", "ada", "Ada Lovelace")
	w.Client("calendar", nil)
	w.Client("native", func(c *ledger.ImportClient) {
		c.Type = ledger.Public
		c.Profile.RedirectURIs = []string{"http://127.0.0.1/cb", "com.example.native:/cb", "http://[::1]/cb"}
	})
	w.Client("old", func(c *ledger.ImportClient) { c.Legacy, c.Profile.Scopes = true, nil })
	w.Client("waiting", func(c *ledger.ImportClient) { c.State = ledger.Pending })
	w.Client("refused", func(c *ledger.ImportClient) { c.State = ledger.Rejected })
	w.Client("stopped", func(c *ledger.ImportClient) { c.State = ledger.Suspended })
	w.configure(change...)
	return w
}

// newEnv returns an Env without data and without pages.
func newEnv(t testing.TB) *Env {
	w := &Env{T: t, now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), Log: &lockedBuffer{}, Refusals: parts.NewRefusals(), random: rand.Reader}
	w.Memory = machine.NewMemory(replica.Machine(), w.Clock)
	return w
}

// configure makes the pages.
func (w *Env) configure(change ...func(*web.Config)) {
	w.T.Helper()
	config := web.Config{
		Ledger: w, Issuer: func() string { return Issuer }, Passwords: w,
		Code: func(_ context.Context, i *ledger.Issued, _ uint64) (credential.Code, error) {
			return credential.MintCode(Mac("code key"), ledger.CredentialRef{Key: i.CredentialKey, Grant: i.Grant}), nil
		},
		Secret: func(plain string) (ledger.NewSecret, error) {
			return ledger.NewSecret{
				ID: "another", Key: 1, Digest: credential.Digest(Mac("secret key"), plain), Tail: credential.Tail(plain),
			}, nil
		},
		Explain:    w.explain,
		Refusals:   w.Refusals,
		Devices:    Sealer{},
		Sessions:   Sealer{},
		NewSecrets: Sealer{},
		Forms:      Sealer{},
		Log:        slog.New(slog.NewTextHandler(w.Log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		ClientIP:   func(r *http.Request) string { return r.Header.Get("Test-Address") },
	}
	for _, f := range change {
		f(&config)
	}
	var err error
	w.Config = config
	w.Web, err = web.New(config)
	require.NoError(w.T, err)
	w.Route()
}

// Route registers the pages with a router, as the server does.
func (w *Env) Route() {
	r := httprouter.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath, r.HandleOPTIONS = false, false, false
	r.NotFound, r.MethodNotAllowed = http.HandlerFunc(w.Web.NotFound), http.HandlerFunc(w.Web.MethodNotAllowed)
	w.Web.Register(r)
	w.Handler = r
}

func (w *Env) User(id, name, full string) {
	w.Must(&ledger.PutUser{ID: id, Username: name, Person: ledger.Person{Name: full, Email: name + "@example.com"}, Password: PasswordHash()})
}

func (w *Env) Client(id string, change func(*ledger.ImportClient)) {
	c := &ledger.ImportClient{
		ID: id, Owner: "u-ada", Type: ledger.Confidential, State: ledger.Approved,
		Profile: ledger.Profile{
			Name: "The " + id + " app", Website: "https://" + strings.ReplaceAll(id, "_", "-") + ".example.com/about", RedirectURIs: []string{Callback},
			Scopes: []string{"BOOKING_READ", "BOOKING_WRITE", "TEAM_BOOKING_READ", "ORG_PROFILE_READ"},
		},
	}
	if change != nil {
		change(c)
	}
	w.Must(c)
}

func (w *Env) Must(c command.Command) ledger.Outcome {
	w.T.Helper()
	out := w.Do(c)
	require.Nil(w.T, out.Refusal, "%T", c)
	return out
}

func (w *Env) Do(c command.Command) ledger.Outcome {
	var id command.ID
	_, _ = io.ReadFull(w.random, id[:])
	value, wrote := w.Memory.Do(c, id, false)
	if wrote {
		w.Mu.Lock()
		w.Index++
		w.Mu.Unlock()
	}
	return value.(ledger.Outcome)
}

func (w *Env) Clock() time.Time {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return w.now
}

func (w *Env) Advance(d time.Duration) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.now = w.now.Add(d)
}

// Lag stops applying commands on this node.
func (w *Env) Lag() { w.Lagging, w.laggingIndex = w.Memory.View(), w.Index }

// View and the following methods implement web.Ledger.
func (w *Env) View() ledger.View {
	if w.Lagging != nil {
		return ledger.At(w.Lagging)
	}
	return ledger.At(w.Memory.View())
}

func (w *Env) ViewAt(ctx context.Context, index uint64) (ledger.View, error) {
	w.Mu.Lock()
	applied := w.Index
	if w.Lagging != nil {
		applied = w.laggingIndex
	}
	w.Mu.Unlock()
	if index > applied {
		<-ctx.Done()
		return ledger.View{}, ctx.Err()
	}
	return w.View(), nil
}

func (w *Env) InTouch() bool { return !w.NoLeaderContact }

func (w *Env) ViewFresh(context.Context) (ledger.View, error) {
	if w.NoLeader {
		return ledger.View{}, oauth.ErrUnavailable
	}
	return ledger.At(w.Memory.View()), nil
}

func (w *Env) ViewPaced(ctx context.Context) (ledger.View, error) {
	w.PacedViews.Add(1)
	return w.ViewFresh(ctx)
}

func (w *Env) Propose(_ context.Context, c command.Command) (ledger.Outcome, uint64, error) {
	if f := w.BeforePropose; f != nil {
		w.BeforePropose = nil
		f()
	}
	if w.NoLeader {
		return ledger.Outcome{}, 0, oauth.ErrUnavailable
	}
	w.Proposals = append(w.Proposals, c)
	if w.Decide != nil {
		switch out, err := w.Decide(c); {
		case err != nil:
			return ledger.Outcome{}, 0, err
		case out != nil:
			return *out, w.Index, nil
		}
	}
	out := w.Do(c)
	return out, w.Index, nil
}

func (w *Env) Now() ledger.Time { return ledger.Time(w.Clock().UnixMilli()) }

// Check implements web.Passwords. It records its arguments, and returns known results without
// hashing.
func (w *Env) Check(_ context.Context, hash, got string, dearest []ledger.HashCost) (bool, error) {
	if w.OnCheck != nil {
		w.OnCheck(dearest)
	}
	w.Hashed = append(w.Hashed, hash)
	return hash == PasswordHash() && got == Password || hash == "hash of "+got, nil
}

// Hash implements web.Passwords, without the cost.
func (w *Env) Hash(_ context.Context, password string) (string, error) {
	return "hash of " + password, nil
}

// explain returns the test's explanations.
func (w *Env) explain(id string) (ledger.Explanation, error) {
	if e, ok := w.Explanations[id]; ok {
		return e, nil
	}
	return ledger.Explanation{}, errors.New("not an error_id")
}

func (w *Env) Grants() []*ledger.Grant {
	return ledger.At(w.Memory.View()).GrantsOf("u-ada", w.Now())
}

type macKey string

func Mac(k string) macKey { return macKey(k) }

func (k macKey) Sum(parts ...[]byte) (sum [32]byte) {
	m := hmac.New(sha256.New, []byte(k))
	for _, p := range parts {
		_, _ = m.Write(p)
	}
	m.Sum(sum[:0])
	return sum
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// CausesOf returns the causes that are recorded for a client.
func CausesOf(r *parts.Refusals, client string) []ledger.Cause {
	var causes []ledger.Cause
	for _, one := range r.List(client) {
		causes = append(causes, one.Cause)
	}
	return causes
}
