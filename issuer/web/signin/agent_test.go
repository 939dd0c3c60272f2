package signin_test

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/clientdoc"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// A publisher is an https server on the loopback that serves documents as example.com.
type publisher struct {
	*httptest.Server
	mu        sync.Mutex // guards the fields below
	requested []string   // paths
	documents map[string]map[string]any
	down      bool
	onRequest func() // nil, or called for each request
}

const (
	agentID       = "https://example.com/agent"
	agentCallback = "https://example.com/cb"
)

func newPublisher(t *testing.T) *publisher {
	p := &publisher{documents: map[string]map[string]any{"/agent": {"client_name": "Helper", "redirect_uris": []string{agentCallback, "http://127.0.0.1/cb"}}}}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

func (p *publisher) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requested = append(p.requested, r.URL.Path)
	if p.onRequest != nil {
		p.onRequest()
	}
	d := p.documents[r.URL.Path]
	if d == nil || p.down {
		http.NotFound(w, r)
		return
	}
	d["client_id"] = "https://example.com" + r.URL.Path
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(d)
}

func (p *publisher) set(path string, document map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.documents[path] = document
}

func (p *publisher) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.requested)
}

// newAgentEnv has a publisher, and the setting agents.
func newAgentEnv(t *testing.T, agents ledger.Agents, change ...func(*web.Config)) (*Env, *publisher) {
	p := newPublisher(t)
	roots := x509.NewCertPool()
	roots.AddCert(p.Certificate())
	var w *Env
	w = NewEnv(t, append(change, func(c *web.Config) {
		c.Documents = clientdoc.New(clientdoc.Config{
			Own: func() []string { return w.View().Settings().Hosts() }, Now: func() time.Time { return w.Clock() }, RootCAs: roots,
			Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, p.Listener.Addr().String())
			},
		})
	})...)
	s := *w.View().Settings()
	s.SessionIdle, s.SessionAbsolute = 1000*time.Hour, 1000*time.Hour
	w.Must(&ledger.Configure{Settings: s})
	w.Agents(agents)
	return w, p
}

func agentRequest(pairs ...string) url.Values {
	v := With(Good(), "client_id", agentID, "redirect_uri", agentCallback, "code_challenge", Challenge, "code_challenge_method", "S256")
	return With(v, pairs...)
}

// TestAgentsOff: nothing is looked up, and the client_id is unknown.
func TestAgentsOff(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsOff)
	w.List("example.com")
	w.Must(&ledger.PutUser{ID: "u-root", Username: "root", Password: PasswordHash(), Admin: true})
	root := w.SignedInAs("root")
	require.NotContains(t, root.Get("/admin").Text, "Publishers")
	for _, b := range []*Browser{w.Browser(), w.SignedIn(), root} {
		proposals := len(w.Proposals)
		res := b.Get(At(agentRequest()))
		require.Equal(t, http.StatusBadRequest, res.StatusCode)
		require.Contains(t, res.Text, "App not found")
		require.Len(t, w.Proposals, proposals)
		for path, unknown := range map[string]string{"/auth/oauth2/waiting": "/auth/oauth2/none", "/admin/new-publisher": "/admin/none", "/admin/publishers": "/admin/none", "/admin/publishers/example.com/remove": "/admin/none"} {
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "OPTIONS"} {
				res := b.Send(method, path, nil, nil)
				require.Equal(t, http.StatusNotFound, res.StatusCode, method+path)
				require.Equal(t, b.Send(method, unknown, nil, nil).Text, res.Text, method+path)
				require.NotContains(t, res.Header, "Allow", method+path)
			}
		}
	}
	require.Zero(t, p.requests())

	w.Agents(ledger.AgentsListed)
	require.Contains(t, root.Get("/admin").Text, `<a href="/admin/publishers">`)
	require.Equal(t, http.StatusSeeOther, w.Browser().Get("/auth/oauth2/waiting").StatusCode)
	require.Equal(t, http.StatusMethodNotAllowed, w.Browser().Send("POST", "/auth/oauth2/waiting", nil, nil).StatusCode)
}

// TestAgentOfAListedPublisher goes from nothing to a grant.
func TestAgentOfAListedPublisher(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsListed)
	w.List("example.com")

	// The user signs in before anything is looked up.
	b := w.Browser()
	page := b.Get(At(agentRequest("scope", "BOOKING_WRITE openid")))
	require.Contains(t, page.Text, "Sign in")
	require.Zero(t, p.requests())
	res := b.SignIn(page, "ada", Password)
	require.Zero(t, p.requests())
	page = b.Get(res.Header.Get("Location"))
	require.Equal(t, http.StatusOK, page.StatusCode, page.Text)
	require.Equal(t, 1, p.requests())

	// The host is what is asked about, and the name is only what the document says.
	require.Contains(t, page.Text, `<h1 class="mid"><bdi>example.com</bdi> wants access to your account</h1>`)
	require.Contains(t, page.Text, "The app calls itself <b>“<bdi>Helper</bdi>”</b>.<br>Anybody can choose that name.")
	require.NotContains(t, page.Text, "another program could be asking")

	b.Decide(page, "allow").Location(t, agentCallback)
	require.Contains(t, b.Get("/connected-apps").Text, "example.com (Helper)")
	grants := w.Grants()
	require.Len(t, grants, 1)
	require.Equal(t, "BOOKING_WRITE", grants[0].Scope, "cut to what the publisher may ask for")
	require.Less(t, len(grants[0].Client), 40)
	require.Equal(t, agentID, w.View().Client(grants[0].Client).ClientID())

	// The row is fresh, so the next request fetches nothing. Defaults are for a request without scope.
	page = b.Get(At(agentRequest("scope", "", "redirect_uri", "http://127.0.0.1:4567/cb")))
	require.Equal(t, 1, p.requests())
	require.Contains(t, page.Text, "another program could be asking")
	b.Decide(page, "allow").Location(t, "http://127.0.0.1:4567/cb")
	require.Equal(t, "BOOKING_READ", w.Grants()[1].Scope)
}

// TestAgentOfAnotherPublisher gets a page, and nothing is fetched.
func TestAgentOfAnotherPublisher(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsListed)
	b := w.SignedIn()
	proposals := len(w.Proposals)
	for _, clientID := range []string{agentID, "https://example.com/", "https://example.com:8443/agent", "https://127.0.0.1/agent", "https://auth.example.com/agent", "https://localhost/agent", "https://example.com/a/../agent"} {
		res := b.Get(At(agentRequest("client_id", clientID)))
		require.GreaterOrEqual(t, res.StatusCode, 400, clientID)
		require.Empty(t, res.Header.Get("Location"), clientID)
	}
	require.Zero(t, p.requests())
	require.Len(t, w.Proposals, proposals)
}

// TestFloodOfAgents: nobody who isn't signed in causes a fetch or a command.
func TestFloodOfAgents(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsReviewed)
	b := w.Browser()
	for n := range 200 {
		res := b.Get(At(agentRequest("client_id", fmt.Sprintf("https://example.com/%d", n))))
		require.Contains(t, res.Text, "Sign in")
	}
	require.Zero(t, p.requests())
	require.Empty(t, w.Proposals)
	require.Zero(t, w.PacedViews.Load())
}

// TestHostileUser: one user causes few fetches, and few publishers that wait.
func TestHostileUser(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsReviewed)
	b := w.SignedIn()
	limited := 0
	for n := range 50 {
		path := fmt.Sprintf("/%d", n)
		p.set(path, map[string]any{"client_name": "Helper", "redirect_uris": []string{agentCallback}})
		if res := b.Get(At(agentRequest("client_id", "https://example.com"+path))); res.StatusCode == http.StatusTooManyRequests {
			limited++
		}
	}
	require.Equal(t, 10, p.requests())
	require.Equal(t, 47, limited, "an unreviewed publisher has three clients")
	for n := range 50 {
		b.Get(At(agentRequest("client_id", fmt.Sprintf("https://other%d.example.com/agent", n))))
	}
	require.Equal(t, 10, p.requests())
	pending := 0
	for range w.View().Publishers() {
		pending++
	}
	require.Equal(t, 1, pending)
}

// TestHostileDocuments are refused with a page; nothing is noted and nothing is repeated.
func TestHostileDocuments(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsListed)
	w.List("example.com")
	for n, document := range []map[string]any{
		nil,
		{"client_name": "Helper", "redirect_uris": []string{"https://evil.example/cb"}},
		{"client_name": "Helper", "redirect_uris": []string{agentCallback}, "token_endpoint_auth_method": "client_secret_post"},
		{"client_name": "Mintmark", "redirect_uris": []string{agentCallback}},
		{"client_name": "auth.example.com", "redirect_uris": []string{agentCallback}},
		{"client_name": "Helper\u202e", "redirect_uris": []string{agentCallback}},
		{"client_name": "<script>" + strings.Repeat("x", 100), "redirect_uris": []string{agentCallback}},
		{"client_name": "Helper", "redirect_uris": []string{"javascript:alert(1)"}},
		{"client_name": "Helper", "redirect_uris": []string{}},
		{"client_name": strings.Repeat("x", 6000), "redirect_uris": []string{agentCallback}},
	} {
		path := fmt.Sprintf("/%d", n)
		p.set(path, document)
		w.Advance(time.Hour)
		res := w.SignedIn().Get(At(agentRequest("client_id", "https://example.com"+path)))
		require.Equal(t, http.StatusBadRequest, res.StatusCode, path)
		require.Contains(t, res.Text, "can’t be recognized")
		require.NotContains(t, res.Text, "evil")
		require.NotContains(t, res.Text, "script>")
		require.Nil(t, w.View().ClientNamed("https://example.com"+path))
	}
}

// TestRefusedDocumentIsRemembered: a document that was fetched and refused is not fetched again for
// five minutes, and does not count again among the user's new ones.
func TestRefusedDocumentIsRemembered(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsListed)
	w.List("example.com")
	b := w.SignedIn()
	p.set("/bad", map[string]any{"client_name": "Mintmark", "redirect_uris": []string{agentCallback}})
	bad := At(agentRequest("client_id", "https://example.com/bad"))
	first := b.Get(bad)
	require.Contains(t, first.Text, "In the metadata document, client_name is like this service&#39;s own.")
	for range 20 {
		again := b.Get(bad)
		require.Equal(t, http.StatusBadRequest, again.StatusCode)
		require.Contains(t, again.Text, "In the metadata document, client_name is like this service&#39;s own.")
	}
	require.Equal(t, 1, p.requests())
	require.Equal(t, http.StatusOK, b.Get(At(agentRequest())).StatusCode, "another new one")
	w.Advance(5 * time.Minute)
	b.Get(bad)
	require.Equal(t, 3, p.requests())

	// One that was accepted before is used until it is stale, as if the fetch had failed.
	w.Advance(time.Hour)
	p.set("/agent", map[string]any{"client_name": "Mintmark", "redirect_uris": []string{agentCallback}})
	for range 2 {
		require.Contains(t, b.Get(At(agentRequest())).Text, "<bdi>Helper</bdi>")
		require.Equal(t, 4, p.requests())
	}
}

// TestPublisherUnderReview: the user sees a page that goes on once an administrator approves.
func TestPublisherUnderReview(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsReviewed)
	w.User("u-bob", "bob", "Bob")
	b := w.SignedIn()
	res := b.Get(At(agentRequest("scope", "BOOKING_READ", "state", "a b&c")))
	require.Equal(t, http.StatusSeeOther, res.StatusCode, res.Text)
	address := res.Header.Get("Location")
	require.NotContains(t, address, "example.com", "the request is sealed")
	page := b.Get(address)
	require.Equal(t, http.StatusOK, page.StatusCode)
	require.Equal(t, "5", page.Header.Get("Refresh"))
	require.Contains(t, page.Text, "<bdi>example.com</bdi> is waiting for review")
	require.Contains(t, page.Text, "Calls itself “<bdi>Helper</bdi>”; anybody can choose that name.")

	// It is nobody else's, and it can't be changed.
	require.Equal(t, http.StatusGone, w.SignedInAs("bob").Get(address).StatusCode)
	require.Equal(t, http.StatusGone, b.Get(address[:len(address)-4]+"AAAA").StatusCode)
	require.Equal(t, http.StatusGone, b.Get("/auth/oauth2/waiting").StatusCode)
	require.Equal(t, 1, p.requests())

	w.List("example.com")
	next := b.Get(address).Header.Get("Location")
	page = b.Get(next)
	require.Contains(t, page.Text, "<bdi>example.com</bdi> wants access")
	require.Equal(t, "a b&c", b.Decide(page, "allow").Location(t, agentCallback).Get("state"))

	// After ten minutes it is over.
	w.Must(&ledger.EndPublisher{Actor: ledger.Actor{Operator: true}, Host: "example.com", How: ledger.EndRemove})
	address = b.Get(At(agentRequest())).Header.Get("Location")
	require.Equal(t, http.StatusOK, b.Get(address).StatusCode)
	w.Advance(10 * time.Minute)
	require.Equal(t, http.StatusGone, b.Get(address).StatusCode)

	w.Must(&ledger.EndPublisher{Actor: ledger.Actor{Operator: true}, Host: "example.com", How: ledger.EndReject})
	res = b.Get(At(agentRequest()))
	require.Equal(t, http.StatusForbidden, res.StatusCode)
	require.Contains(t, res.Text, "was not approved")
}

// TestDocumentIsFetchedAgain: a document that can't be fetched is used for a day more.
func TestDocumentIsFetchedAgain(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsListed)
	w.List("example.com")
	b := w.SignedIn()
	require.Equal(t, http.StatusOK, b.Get(At(agentRequest())).StatusCode)
	w.Advance(time.Hour)
	p.set("/agent", map[string]any{"client_name": "Better helper", "redirect_uris": []string{agentCallback}})
	page := b.Get(At(agentRequest()))
	require.Equal(t, 2, p.requests())
	require.Contains(t, page.Text, "<bdi>Helper</bdi>", "a new name waits for a review")
	require.Equal(t, http.StatusBadRequest, b.Get(At(agentRequest("redirect_uri", "http://127.0.0.1:1/cb"))).StatusCode, "what was removed counts at once")
	require.NotNil(t, w.View().ClientNamed(agentID).Proposed)

	w.Must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-ada", State: ledger.Promote})
	require.Contains(t, b.Get("/admin").Text, "Helper")
	review := b.Get("/admin/clients/" + url.PathEscape(ledger.ClientKey(agentID)))
	require.Equal(t, http.StatusOK, review.StatusCode)
	require.Contains(t, review.Text, `<a href="/admin/publishers/example.com"><bdi>example.com</bdi></a>`)
	require.Contains(t, review.Text, agentID)
	require.NotContains(t, review.Text, "/transfer")

	p.mu.Lock()
	p.down = true
	p.mu.Unlock()
	w.Advance(time.Hour)
	page = b.Get(At(agentRequest()))
	require.Equal(t, http.StatusOK, page.StatusCode)
	require.Equal(t, 3, p.requests())
	b.Get(At(agentRequest()))
	require.Equal(t, 3, p.requests(), "the failure is remembered")
	w.Advance(24 * time.Hour)
	require.Equal(t, http.StatusServiceUnavailable, b.Decide(page, "allow").StatusCode)
	res := b.Get(At(agentRequest()))
	require.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	require.Empty(t, w.Grants())
}

// TestRefusedAgent: each refusal is counted, and the error_id of its page names the client by its
// client_id.
func TestRefusedAgent(t *testing.T) {
	var counted []ledger.Cause
	var sealed []string
	w, _ := newAgentEnv(t, ledger.AgentsReviewed, func(c *web.Config) {
		c.Refused = func(cause ledger.Cause) { counted = append(counted, cause) }
		c.ErrorID = func(client string, r ledger.Refusal) string {
			sealed = append(sealed, fmt.Sprintf("%s %d", client, r.Cause))
			return "mme_agent"
		}
	})
	b := w.SignedIn()
	address := b.Get(At(agentRequest())).Header.Get("Location")
	require.Equal(t, []ledger.Cause{ledger.PublisherIsPending}, counted)
	b.Get(address)
	require.Equal(t, []ledger.Cause{ledger.PublisherIsPending}, counted, "the page is no refusal of its own")

	w.List("example.com")
	require.Equal(t, http.StatusBadRequest, b.Get(At(agentRequest("redirect_uri", "https://example.com/other"))).StatusCode)
	w.Must(&ledger.EndPublisher{Actor: ledger.Actor{Operator: true}, Host: "example.com", How: ledger.EndReject})
	require.Contains(t, b.Get(At(agentRequest())).Text, "mme_agent")
	require.Equal(t, []string{
		fmt.Sprintf("%s %d", agentID, ledger.RedirectURIUnregistered), fmt.Sprintf("%s %d", agentID, ledger.PublisherIsRejected),
	}, sealed)
	require.Len(t, counted, 3)

	w.Must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-ada", State: ledger.Promote})
	w.Explanations = map[string]ledger.Explanation{"mme_agent": {Client: credential.ClientDigest(agentID), Cause: ledger.PublisherIsRejected}}
	page := b.Get("/developer/clients/" + url.PathEscape(ledger.ClientKey(agentID)) + "/errors?error_id=mme_agent")
	require.Contains(t, page.Text, "Why it was refused")
}

// TestPublisherChangesWhilePageIsOpen: Allow grants what the page showed or nothing.
func TestPublisherChangesWhilePageIsOpen(t *testing.T) {
	put := func(w *Env, defaults ...string) {
		w.Must(&ledger.PutPublisher{Actor: ledger.Actor{Operator: true}, Host: "example.com", Scopes: defaults, Defaults: defaults})
	}
	for name, asked := range map[string]string{"defaults": "", "ceiling": "BOOKING_READ PROFILE_READ BOOKING_WRITE"} {
		t.Run(name, func(t *testing.T) {
			w, _ := newAgentEnv(t, ledger.AgentsListed)
			put(w, "BOOKING_READ")
			b := w.SignedIn()
			page := b.Get(At(agentRequest("scope", asked)))
			for _, change := range []struct {
				scopes []string
				says   string
				new    int
			}{
				{[]string{"BOOKING_READ", "PROFILE_READ"}, "What’s new is marked", 2}, // in the sum and among the exact permissions
				{[]string{"PROFILE_READ"}, "The app asks for less", 0},
			} {
				put(w, change.scopes...)
				again := b.Decide(page, "allow")
				require.Equal(t, http.StatusConflict, again.StatusCode, again.Text)
				require.Contains(t, again.Text, change.says)
				require.Equal(t, change.new, strings.Count(again.Text, ">New<"))
				require.Empty(t, w.Grants())
				again.StatusCode = http.StatusOK // decide expects it
				page = again
			}
			form := page.Form(t, "/auth/oauth2/authorize")
			require.Equal(t, "PROFILE_READ", form.Get("scope"))
			require.Equal(t, http.StatusForbidden, b.Post("/auth/oauth2/authorize", With(form, "decision", "allow", "scope", "BOOKING_READ")).StatusCode, "the token is bound to the scope")
			b.Decide(page, "allow").Location(t, agentCallback)
			require.Equal(t, "PROFILE_READ", w.Grants()[0].Scope)

			page = b.Get(At(agentRequest("scope", asked)))
			put(w, "BOOKING_READ", "PROFILE_READ")
			require.Equal(t, "access_denied", b.Decide(page, "cancel").Location(t, agentCallback).Get("error"), "Cancel cancels nevertheless")
		})
	}
}

// TestSignOutWhileADocumentIsFetched: whoever signs out meanwhile is asked to sign in.
func TestSignOutWhileADocumentIsFetched(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsListed)
	w.List("example.com")
	b := w.SignedIn()
	p.onRequest = func() {
		w.Must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-ada", State: ledger.SignOutUser})
	}
	page := b.Get(At(agentRequest()))
	require.Equal(t, http.StatusOK, page.StatusCode, page.Text)
	require.Contains(t, page.Text, `name="password"`)
	require.Equal(t, 1, p.requests())
	require.Empty(t, w.View().ClientNamed(agentID), "nothing was recorded")
}

// TestTwentyAgents: a user connects twenty.
func TestTwentyAgents(t *testing.T) {
	w, _ := newAgentEnv(t, ledger.AgentsListed)
	w.List("example.com")
	b := w.SignedIn()
	for range 20 {
		b.Decide(b.Get(At(agentRequest())), "allow").Location(t, agentCallback)
	}
	require.Equal(t, "access_denied", b.Decide(b.Get(At(agentRequest())), "allow").Location(t, agentCallback).Get("error"))
	require.Len(t, w.Grants(), 20)
	b.Decide(b.Get(At(With(Good(), "scope", "BOOKING_READ"))), "allow").Location(t, Callback)
}

// TestRegisteredAgent: a registered client has no row until a user who saw its name as what it
// is, a claim, allows it.
func TestRegisteredAgent(t *testing.T) {
	const clientID = "mmd_helper"
	p := newPublisher(t)
	registration := &oauth.Registration{Name: "Helper", RedirectURIs: []string{"http://127.0.0.1/cb", "cursor://a/cb"}}
	opened := 0
	w := NewEnv(t, func(c *web.Config) {
		c.Registration = func(_ context.Context, id string) *oauth.Registration {
			opened++
			if id != clientID {
				return nil
			}
			return registration
		}
	})
	request := func(pairs ...string) string {
		return At(agentRequest(append([]string{"client_id", clientID, "redirect_uri", "http://127.0.0.1:4567/cb"}, pairs...)...))
	}
	b := w.SignedIn()
	require.Contains(t, b.Get(request()).Text, "App not found")
	require.Zero(t, opened, "agents are off")
	s := *w.View().Settings()
	s.Agents = ledger.AgentsListed
	w.Must(&ledger.Configure{Settings: s})
	proposals := len(w.Proposals)
	res := b.Get(request())
	require.Equal(t, http.StatusForbidden, res.StatusCode)
	require.Contains(t, res.Text, "not accepted here")
	require.Len(t, w.Proposals, proposals)

	w.Must(&ledger.PutPublisher{
		Actor: ledger.Actor{Operator: true}, Host: ledger.LocalPublisher, Scopes: []string{"BOOKING_READ"}, RedirectURIs: []string{"cursor://a/cb"},
	})
	require.Equal(t, http.StatusBadRequest, b.Get(request("client_id", "mmd_other")).StatusCode)
	require.Contains(t, w.Browser().Get(request()).Text, "Sign in")
	page := b.Get(request())
	require.Equal(t, http.StatusOK, page.StatusCode, page.Text)
	require.Contains(t, page.Text, "<bdi>a program on a computer</bdi> wants access")
	require.Contains(t, page.Text, "The app calls itself <b>“<bdi>Helper</bdi>”</b>.<br>Anybody can choose that name.")
	require.Contains(t, page.Text, "another program could be asking")
	require.Nil(t, w.View().ClientNamed(clientID), "the page stores nothing")
	b.Decide(page, "allow").Location(t, "http://127.0.0.1:4567/cb")
	require.Equal(t, clientID, w.View().ClientNamed(clientID).ClientID())
	b.Decide(b.Get(request("redirect_uri", "cursor://a/cb")), "allow").Location(t, "cursor://a/cb")
	require.Len(t, w.Grants(), 2)
	b.Decide(b.Get(At(With(Good(), "scope", "BOOKING_READ"))), "allow").Location(t, Callback)
	apps := b.Get("/connected-apps").Text
	require.Contains(t, apps, "a program on a computer (Helper)")
	require.Contains(t, apps, "Access of an agent ends after 14 days without use")
	require.Less(t, strings.Index(apps, "The calendar app"), strings.Index(apps, "Helper"), "agents come after other applications")
	require.Zero(t, p.requests())
}

// TestRegisteredHost: a registered client that names a host is one of its publisher, and receives
// the answer there only. Anybody could have registered it for a program on the computer.
func TestRegisteredHost(t *testing.T) {
	uris := []string{"https://vscode.dev/redirect"}
	w := NewEnv(t, func(c *web.Config) {
		c.Registration = func(context.Context, string) *oauth.Registration {
			return &oauth.Registration{Name: "Editor", RedirectURIs: uris}
		}
	})
	s := *w.View().Settings()
	s.Agents = ledger.AgentsListed
	w.Must(&ledger.Configure{Settings: s})
	w.Must(&ledger.PutPublisher{Actor: ledger.Actor{Operator: true}, Host: "vscode.dev", Scopes: []string{"BOOKING_READ"}})
	b := w.SignedIn()
	open := func(uri string) Answer {
		return b.Get(At(agentRequest("client_id", "mmd_editor", "redirect_uri", uri)))
	}
	require.Equal(t, http.StatusBadRequest, open("http://127.0.0.1:33418/").StatusCode)
	page := open(uris[0])
	require.Equal(t, http.StatusOK, page.StatusCode, page.Text)
	require.Contains(t, page.Text, "<bdi>vscode.dev</bdi> wants access")
	require.NotContains(t, page.Text, "another program could be asking")
	b.Decide(page, "allow").Location(t, uris[0])
	require.Contains(t, b.Get("/connected-apps/"+ledger.ClientKey("mmd_editor")).Text, "or after 14 days without use")

	// Such a client_id is never made: see oauth.RegistrableURIs.
	uris = append(uris, "http://127.0.0.1/")
	w.Must(&ledger.DeleteClient{Actor: ledger.Actor{Operator: true}, ID: ledger.ClientKey("mmd_editor")})
	for _, uri := range uris {
		require.Equal(t, http.StatusBadRequest, b.Get(At(agentRequest("client_id", "mmd_other", "redirect_uri", uri))).StatusCode)
	}
}

// TestRegisteredAgentOnALaggingNode: the setting agents or the key of the client_id may be newer
// than the state of the node.
func TestRegisteredAgentOnALaggingNode(t *testing.T) {
	for name, missing := range map[string]int{"setting": 0, "key": 1} {
		t.Run(name, func(t *testing.T) {
			w := NewEnv(t, func(c *web.Config) {
				c.Registration = func(context.Context, string) *oauth.Registration {
					if missing--; missing >= 0 {
						return nil
					}
					return &oauth.Registration{Name: "Helper", RedirectURIs: []string{"http://127.0.0.1/cb"}}
				}
			})
			b := w.SignedIn()
			if name == "setting" {
				w.Lag()
			}
			s := *w.View().Settings()
			s.Agents = ledger.AgentsListed
			w.Must(&ledger.Configure{Settings: s})
			w.Must(&ledger.PutPublisher{Actor: ledger.Actor{Operator: true}, Host: ledger.LocalPublisher, Scopes: []string{"BOOKING_READ"}})
			page := b.Get(At(agentRequest("client_id", "mmd_helper", "redirect_uri", "http://127.0.0.1/cb", "scope", "BOOKING_READ")))
			require.Equal(t, http.StatusOK, page.StatusCode, page.Text)
			b.Decide(page, "allow").Location(t, "http://127.0.0.1/cb")
		})
	}
}

// TestTooManyRegisteredAgents: Allow of one more than a publisher may have leads to an explanation,
// not to the same page again.
func TestTooManyRegisteredAgents(t *testing.T) {
	registration := &oauth.Registration{Name: "Helper", RedirectURIs: []string{"http://127.0.0.1/cb"}}
	w := NewEnv(t, func(c *web.Config) {
		c.Registration = func(context.Context, string) *oauth.Registration { return registration }
	})
	s := *w.View().Settings()
	s.Agents = ledger.AgentsListed
	w.Must(&ledger.Configure{Settings: s})
	w.Must(&ledger.PutPublisher{Actor: ledger.Actor{Operator: true}, Host: ledger.LocalPublisher, Scopes: []string{"BOOKING_READ"}})
	for n := range 190 {
		user := fmt.Sprintf("u-%d", n/10)
		actor := ledger.Actor{Session: [32]byte{1, byte(n / 10)}}
		if n%10 == 0 {
			w.User(user, user, "Somebody")
			w.Must(&ledger.SignIn{Session: actor.Session, User: user, VerifiedHash: sha256.Sum256([]byte(PasswordHash()))})
		}
		w.Must(&ledger.Allow{Actor: actor, User: user, Revision: 1, Grant: ledger.GrantID{1, byte(n >> 8), byte(n)}, Request: oauth.AuthorizationRequest{
			ClientID: fmt.Sprintf("mmd_%d", n), RedirectURI: "http://127.0.0.1/cb", Scope: "BOOKING_READ", CodeChallenge: Challenge, Registration: registration,
		}})
	}
	b := w.SignedIn()
	page := b.Get(At(agentRequest("client_id", "mmd_more", "redirect_uri", "http://127.0.0.1/cb", "scope", "BOOKING_READ")))
	res := b.Decide(page, "allow")
	require.Equal(t, http.StatusTooManyRequests, res.StatusCode, res.Text)
	require.Contains(t, res.Text, "accepts no more apps of this publisher")
	require.Empty(t, w.Grants())
}

// TestFloodOfRegisteredAgents: a client_id that nobody has signed in for costs no command.
func TestFloodOfRegisteredAgents(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsReviewed)
	b := w.Browser()
	for n := range 200 {
		require.Contains(t, b.Get(At(agentRequest("client_id", fmt.Sprintf("mmd_%d", n)))).Text, "Sign in")
	}
	require.Zero(t, p.requests())
	require.Empty(t, w.Proposals)
}
