package main

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestAcceptance verifies over HTTP what clients are promised: the service document
// sentence by sentence, and the RFCs statement by statement. The name of a document
// subtest begins with the section, and its comment quotes the sentence. The name of an
// RFC subtest begins with the ids of its statements. testdata/document.txt and
// testdata/conformance.txt list every sentence and statement with its tests. Where the
// document leaves something open ("not shown"), the subtest's name says so, and it
// verifies this product's answer.
func TestAcceptance(t *testing.T) {
	// These subtests measure time or cost, so they run alone.
	t.Run("sign_in", conformSignIn)
	t.Run("client_authentication", conformClientAuthentication)
	t.Run("transport", conformTransport)
	groups := map[string]func(*testing.T){
		"failures":                          conformFailures,
		"authorize":                         conformAuthorize,
		"codes":                             conformCodes,
		"token":                             conformToken,
		"code_grant":                        conformCodeGrant,
		"PKCE":                              conformPKCE,
		"refresh":                           conformRefresh,
		"refresh_without_window":            conformRefreshWithoutWindow,
		"refresh_over_time":                 conformRefreshOverTime,
		"access_token":                      conformAccessToken,
		"revocation":                        conformRevocation,
		"key_set":                           conformKeySet,
		"metadata":                          conformMetadata,
		"resource":                          conformResource,
		"introspection":                     conformIntrospection,
		"audiences":                         conformAudiences,
		"clients":                           conformClients,
		"secrets":                           conformSecrets,
		"document_addresses":                documentAddresses,
		"document_purpose":                  documentPurpose,
		"document_lifetime_of_access":       documentLifetimeOfAccess,
		"document_client":                   documentClient,
		"document_client_limits":            documentClientLimits,
		"document_client_state":             documentClientState,
		"document_client_kind":              documentClientKind,
		"document_code":                     documentCode,
		"document_response":                 documentResponse,
		"document_scopes":                   documentScopes,
		"document_transitions":              documentTransitions,
		"document_authorization":            documentAuthorization,
		"document_authorization_parameters": documentAuthorizationParameters,
		"document_exchange":                 documentExchange,
		"document_refresh":                  documentRefresh,
		"document_me":                       documentMe,
		"document_secret_management":        documentSecretManagement,
		"document_calls":                    documentCalls,
		"document_flow":                     documentFlow,
		"document_client_authentication":    documentClientAuthentication,
		"document_rotation":                 documentRotation,
		"document_events":                   documentEvents,
		"document_refusals":                 documentRefusals,
		"document_rate_limit":               documentRateLimit,
		"document_lifetimes":                documentLifetimes,
		"document_version":                  documentVersion,
		"document_migration":                documentMigration,
		"document_wrong_order":              documentWrongOrder,
		"document_old_tokens":               documentOldTokens,
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			groups[name](t)
		})
	}
}

// A suite is a server shared by many subtests, with browsers in which users are signed in
// and its operator's command line. Sign-ins are reused because they are rate-limited and
// each costs a password hash.
type suite struct {
	*testServer
	t      *testing.T
	people map[string]*browser
}

// newSuite starts a server with the usual fixtures and additional lines of clients or
// settings.
func newSuite(t *testing.T, more ...string) *suite {
	t.Helper()
	return suiteOf(t, newTestServer(t, append([]string{fixtureText}, more...)...))
}

func suiteOf(t *testing.T, ts *testServer) *suite { return &suite{ts, t, map[string]*browser{}} }

// A clock is the real clock plus an adjustable offset.
type clock struct{ ahead atomic.Int64 }

func (c *clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clock) forward(d time.Duration) { c.ahead.Add(int64(d)) }

// newClocked is newSuite with an adjustable clock.
func newClocked(t *testing.T, more ...string) (*suite, *clock) {
	t.Helper()
	c := new(clock)
	text := strings.Join(append([]string{fixtureText}, more...), "\n")
	return suiteOf(t, startTestServer(t, t.TempDir(), text, func(config *server.Config) { config.Now = c.Now })), c
}

// run is t.Run with a suite whose failures belong to the subtest, not to its parent.
func (s *suite) run(name string, f func(*suite)) {
	s.t.Helper()
	s.t.Run(name, func(t *testing.T) {
		ts := *s.testServer
		ts.t = t
		f(&suite{&ts, t, s.people})
	})
}

// A stepSequence is a series of subtests that each continue from the previous one. If a
// step fails or does not run, all later steps fail.
type stepSequence struct {
	*suite
	declared, ran int
}

func (s *stepSequence) step(name string, f func(*suite)) {
	s.t.Helper()
	before := s.declared
	s.declared++
	s.run(name, func(d *suite) {
		require.Equal(d.t, before, s.ran, "an earlier step failed or did not run")
		f(d)
		s.ran++
	})
}

// browserOf returns the browser in which a user is signed in; each user signs in only
// once.
func (d *suite) browserOf(user string) *browser {
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

// actor returns the session of a signed-in user, as the settings pages pass it to their
// commands.
func (d *suite) actor(user string) ledger.Actor {
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
