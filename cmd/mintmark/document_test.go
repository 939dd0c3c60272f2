package main

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestDocument holds the service document, sentence by sentence and row by
// row. The name of a subtest begins with the section, its comment quotes the
// sentence, and testdata/document.txt lists every line of the document with
// its tests. What the document leaves open ("not shown") is tested for the
// answer that this product gives; those names say so.
func TestDocument(t *testing.T) {
	for _, section := range []func(*testing.T){
		documentAddresses, documentPurpose, documentLifetimeOfAccess,
		documentClient, documentClientLimits, documentClientState, documentClientKind,
		documentCode, documentResponse, documentScopes, documentTransitions,
		documentAuthorization, documentAuthorizationParameters,
		documentExchange, documentRefresh, documentMe, documentSecretManagement,
		documentCalls, documentFlow, documentClientAuthentication, documentRotation, documentEvents,
		documentErrors, documentRefusals, documentRateLimit, documentLifetimes,
		documentVersion, documentMigration, documentWrongOrder, documentOldTokens,
	} {
		section(t)
	}
}

// A docServer is one server for many statements, with browsers in which people
// have signed in, and its operator's command line.
type docServer struct {
	*testServer
	t      *testing.T
	people map[string]*browser
}

// newDocServer starts a server with the usual fixtures and more clients.
func newDocServer(t *testing.T, more ...string) *docServer {
	t.Helper()
	ts := newTestServer(t, append([]string{fixtureText}, more...)...)
	return &docServer{ts, t, map[string]*browser{}}
}

// A handClock is the real one, moved by hand.
type handClock struct{ ahead atomic.Int64 }

func (c *handClock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *handClock) forward(d time.Duration) { c.ahead.Add(int64(d)) }

// newClockedDocServer is newDocServer with a clock to move.
func newClockedDocServer(t *testing.T, more ...string) (*docServer, *handClock) {
	t.Helper()
	c := new(handClock)
	text := strings.Join(append([]string{fixtureText}, more...), "\n")
	ts := startTestServer(t, t.TempDir(), text, func(config *server.Config) { config.Now = c.Now })
	return &docServer{ts, t, map[string]*browser{}}, c
}

// run is t.Run with a docServer that fails the subtest and not its parent.
func (d *docServer) run(name string, f func(*docServer)) {
	d.t.Helper()
	d.t.Run(name, func(t *testing.T) {
		ts := *d.testServer
		ts.t = t
		f(&docServer{&ts, t, d.people})
	})
}

// A stepSequence is a row of subtests of which each goes on where the one before
// ended. Where that one was not run or failed, the rest is skipped.
type stepSequence struct {
	*docServer
	declared, ran int
}

func (s *stepSequence) step(name string, f func(*docServer)) {
	s.t.Helper()
	before := s.declared
	s.declared++
	s.run(name, func(d *docServer) {
		if s.ran != before {
			d.t.Skip("it goes on from a step that was not run to its end")
		}
		f(d)
		s.ran++
	})
}

// browserOf is the browser in which somebody has signed in; nobody signs in twice.
func (d *docServer) browserOf(user string) *browser {
	d.t.Helper()
	b := d.people[user]
	if b == nil {
		b = d.browser()
		in := b.submit(b.get("/auth/sign-in"), "password", "username", user, "password", passwords[user])
		require.Equal(d.t, http.StatusSeeOther, in.Status, in.Body)
		d.people[user] = b
	}
	return &browser{d.testServer, b.client}
}

// actor is somebody signed in, as the commands behind the pages of settings
// see them.
func (d *docServer) actor(user string) ledger.Actor {
	d.t.Helper()
	d.browserOf(user)
	var last *ledger.Session
	for s := range d.s.Issuer.View().Sessions() {
		if s.User == "u-"+user && (last == nil || s.CreatedSeq > last.CreatedSeq) {
			last = s
		}
	}
	require.NotNil(d.t, last)
	return ledger.Actor{Session: last.ID}
}
