package web_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
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
)

// An env is a service with a real ledger, one user, Ada, and some clients.
type env struct {
	t            testing.TB
	memory       *machine.Memory
	config       web.Config
	web          *web.Web
	handler      http.Handler
	refusals     *web.Refusals
	log          *lockedBuffer
	explanations map[string]ledger.Explanation // by error_id
	hashed       []string                      // the hashes that passwords were verified against
	onCheck      func(dearest []ledger.HashCost)

	mu              sync.Mutex
	now             time.Time
	index           uint64
	lagging         *memdb.Txn   // returned by View, if set
	laggingIndex    uint64       // the index of lagging
	pacedViews      atomic.Int32 // number of calls of ViewPaced
	noLeader        bool         // there is no leader
	noLeaderContact bool         // there has been no leader for a while
	beforePropose   func()       // called once, before the next command
	proposals       []command.Command
}

const (
	issuer    = "https://auth.example.com"
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	password  = "correct horse battery staple"
	callback  = "https://app.example.com/cb"
)

var passwordHash = sync.OnceValue(func() string { return credential.HashPassword(rand.Reader, password) })

func newEnv(t testing.TB, change ...func(*web.Config)) *env {
	t.Helper()
	w := &env{t: t, now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), log: &lockedBuffer{}, refusals: web.NewRefusals()}
	w.memory = machine.NewMemory(replica.Machine(), w.clock)
	settings := ledger.DefaultSettings()
	settings.BaseURL, settings.AppURL, settings.Audience = issuer, "https://app.mintmark.example", "api"
	w.must(&ledger.Configure{Settings: settings})
	w.must(&ledger.AddKey{Key: ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, Sealed: []byte{1}}})
	w.user("u-ada", "ada", "Ada Lovelace")
	w.client("calendar", nil)
	w.client("native", func(c *ledger.ImportClient) {
		c.Type = ledger.Public
		c.Profile.RedirectURIs = []string{"http://127.0.0.1/cb", "com.example.native:/cb", "http://[::1]/cb"}
	})
	w.client("old", func(c *ledger.ImportClient) { c.Legacy, c.Profile.Scopes = true, nil })
	w.client("waiting", func(c *ledger.ImportClient) { c.State = ledger.Pending })
	w.client("refused", func(c *ledger.ImportClient) { c.State = ledger.Rejected })
	w.client("stopped", func(c *ledger.ImportClient) { c.State = ledger.Suspended })

	config := web.Config{
		Ledger: w, Issuer: func() string { return issuer }, Passwords: w,
		Code: func(_ context.Context, i *ledger.Issued, _ uint64) (credential.Code, error) {
			return credential.MintCode(mac("code key"), ledger.CredentialRef{Key: i.CredentialKey, Grant: i.Grant}), nil
		},
		Secret: func(plain string) (ledger.NewSecret, error) {
			return ledger.NewSecret{
				ID: "another", Key: 1, Digest: credential.Digest(mac("secret key"), plain), Tail: credential.Tail(plain),
			}, nil
		},
		Explain:    w.explain,
		Refusals:   w.refusals,
		Devices:    sealer{},
		Sessions:   sealer{},
		NewSecrets: sealer{},
		Forms:      sealer{},
		Log:        slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		ClientIP:   func(r *http.Request) string { return r.Header.Get("Test-Address") },
	}
	for _, f := range change {
		f(&config)
	}
	var err error
	w.config = config
	w.web, err = web.New(config)
	require.NoError(t, err)
	w.route()
	return w
}

// route registers the pages with a router, as the server does.
func (w *env) route() {
	r := httprouter.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath, r.HandleOPTIONS = false, false, false
	r.NotFound, r.MethodNotAllowed = http.HandlerFunc(w.web.NotFound), http.HandlerFunc(w.web.MethodNotAllowed)
	w.web.Register(r)
	w.handler = r
}

func (w *env) user(id, name, full string) {
	w.must(&ledger.PutUser{ID: id, Username: name, Person: ledger.Person{Name: full, Email: name + "@example.com"}, Password: passwordHash()})
}

func (w *env) client(id string, change func(*ledger.ImportClient)) {
	c := &ledger.ImportClient{
		ID: id, Owner: "u-ada", Type: ledger.Confidential, State: ledger.Approved,
		Profile: ledger.Profile{
			Name: "The " + id + " app", Website: "https://" + strings.ReplaceAll(id, "_", "-") + ".example.com/about", RedirectURIs: []string{callback},
			Scopes: []string{"BOOKING_READ", "BOOKING_WRITE", "TEAM_BOOKING_READ", "ORG_PROFILE_READ"},
		},
	}
	if change != nil {
		change(c)
	}
	w.must(c)
}

func (w *env) must(c command.Command) ledger.Outcome {
	w.t.Helper()
	out := w.do(c)
	require.Nil(w.t, out.Refusal, "%T", c)
	return out
}

func (w *env) do(c command.Command) ledger.Outcome {
	var id command.ID
	_, _ = rand.Read(id[:])
	value, wrote := w.memory.Do(c, id, false)
	if wrote {
		w.mu.Lock()
		w.index++
		w.mu.Unlock()
	}
	return value.(ledger.Outcome)
}

func (w *env) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *env) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// lag stops applying commands on this node.
func (w *env) lag() { w.lagging, w.laggingIndex = w.memory.View(), w.index }

// View and the following methods implement web.Ledger.
func (w *env) View() ledger.View {
	if w.lagging != nil {
		return ledger.At(w.lagging)
	}
	return ledger.At(w.memory.View())
}

func (w *env) ViewAt(ctx context.Context, index uint64) (ledger.View, error) {
	w.mu.Lock()
	applied := w.index
	if w.lagging != nil {
		applied = w.laggingIndex
	}
	w.mu.Unlock()
	if index > applied {
		<-ctx.Done()
		return ledger.View{}, ctx.Err()
	}
	return w.View(), nil
}

func (w *env) InTouch() bool { return !w.noLeaderContact }

func (w *env) ViewFresh(context.Context) (ledger.View, error) {
	if w.noLeader {
		return ledger.View{}, oauth.ErrUnavailable
	}
	return ledger.At(w.memory.View()), nil
}

func (w *env) ViewPaced(ctx context.Context) (ledger.View, error) {
	w.pacedViews.Add(1)
	return w.ViewFresh(ctx)
}

func (w *env) Propose(_ context.Context, c command.Command) (ledger.Outcome, uint64, error) {
	if f := w.beforePropose; f != nil {
		w.beforePropose = nil
		f()
	}
	if w.noLeader {
		return ledger.Outcome{}, 0, oauth.ErrUnavailable
	}
	w.proposals = append(w.proposals, c)
	out := w.do(c)
	return out, w.index, nil
}

func (w *env) Now() ledger.Time { return ledger.Time(w.clock().UnixMilli()) }

// Check implements web.Passwords. It records its arguments, and returns known results without
// hashing.
func (w *env) Check(_ context.Context, hash, got string, dearest []ledger.HashCost) (bool, error) {
	if w.onCheck != nil {
		w.onCheck(dearest)
	}
	w.hashed = append(w.hashed, hash)
	return hash == passwordHash() && got == password || hash == "hash of "+got, nil
}

// Hash implements web.Passwords, without the cost.
func (w *env) Hash(_ context.Context, password string) (string, error) {
	return "hash of " + password, nil
}

// explain returns the test's explanations.
func (w *env) explain(id string) (ledger.Explanation, error) {
	if e, ok := w.explanations[id]; ok {
		return e, nil
	}
	return ledger.Explanation{}, errors.New("not an error_id")
}

func (w *env) grants() []*ledger.Grant {
	return ledger.At(w.memory.View()).GrantsOf("u-ada", w.Now())
}

type macKey string

func mac(k string) macKey { return macKey(k) }

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
