package web_test

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
)

// A publisher is an https server on the loopback that serves documents as example.com.
type publisher struct {
	*httptest.Server
	mu        sync.Mutex // guards the fields below
	requested []string   // paths
	documents map[string]map[string]any
	down      bool
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
func newAgentEnv(t *testing.T, agents ledger.Agents, change ...func(*web.Config)) (*env, *publisher) {
	p := newPublisher(t)
	roots := x509.NewCertPool()
	roots.AddCert(p.Certificate())
	var w *env
	w = newEnv(t, append(change, func(c *web.Config) {
		c.Documents = clientdoc.New(clientdoc.Config{
			Own: func() []string { return w.View().Settings().Hosts() }, Now: func() time.Time { return w.clock() }, RootCAs: roots,
			Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, p.Listener.Addr().String())
			},
		})
	})...)
	s := *w.View().Settings()
	s.SessionIdle, s.SessionAbsolute = 1000*time.Hour, 1000*time.Hour
	w.must(&ledger.Configure{Settings: s})
	w.agents(agents)
	return w, p
}

func (w *env) agents(is ledger.Agents) {
	s := *w.View().Settings()
	s.Agents = is
	w.must(&ledger.Configure{Settings: s})
}

func (w *env) list(host string) {
	w.must(&ledger.PutPublisher{
		Actor: ledger.Actor{Operator: true}, Host: host, Scopes: []string{"BOOKING_READ", "BOOKING_WRITE"}, Defaults: []string{"BOOKING_READ"},
	})
}

func agentRequest(pairs ...string) url.Values {
	v := with(good(), "client_id", agentID, "redirect_uri", agentCallback, "code_challenge", challenge, "code_challenge_method", "S256")
	return with(v, pairs...)
}

// TestAgentsOff: nothing is looked up, and the client_id is unknown.
func TestAgentsOff(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsOff)
	w.list("example.com")
	w.must(&ledger.PutUser{ID: "u-root", Username: "root", Password: passwordHash(), Admin: true})
	root := w.signedInAs("root")
	require.NotContains(t, root.get("/admin").body, "Publishers")
	for _, b := range []*browser{w.browser(), w.signedIn(), root} {
		proposals := len(w.proposals)
		res := b.get(at(agentRequest()))
		require.Equal(t, http.StatusBadRequest, res.StatusCode)
		require.Contains(t, res.body, "Application not found")
		require.Len(t, w.proposals, proposals)
		for path, unknown := range map[string]string{"/auth/oauth2/waiting": "/auth/oauth2/none", "/admin/new-publisher": "/admin/none", "/admin/publishers": "/admin/none", "/admin/publishers/example.com/remove": "/admin/none"} {
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "OPTIONS"} {
				res := b.send(method, path, nil, nil)
				require.Equal(t, http.StatusNotFound, res.StatusCode, method+path)
				require.Equal(t, b.send(method, unknown, nil, nil).body, res.body, method+path)
				require.NotContains(t, res.Header, "Allow", method+path)
			}
		}
	}
	require.Zero(t, p.requests())

	w.agents(ledger.AgentsListed)
	require.Contains(t, root.get("/admin").body, `<a href="/admin/publishers">`)
	require.Equal(t, http.StatusSeeOther, w.browser().get("/auth/oauth2/waiting").StatusCode)
	require.Equal(t, http.StatusMethodNotAllowed, w.browser().send("POST", "/auth/oauth2/waiting", nil, nil).StatusCode)
}

// TestAgentOfAListedPublisher goes from nothing to a grant.
func TestAgentOfAListedPublisher(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsListed)
	w.list("example.com")

	// The user signs in before anything is looked up.
	b := w.browser()
	page := b.get(at(agentRequest("scope", "BOOKING_WRITE openid")))
	require.Contains(t, page.body, "Sign in")
	require.Zero(t, p.requests())
	res := b.signIn(page, "ada", password)
	require.Zero(t, p.requests())
	page = b.get(res.Header.Get("Location"))
	require.Equal(t, http.StatusOK, page.StatusCode, page.body)
	require.Equal(t, 1, p.requests())

	// The host is what is asked about, and the name is only what the document says.
	require.Contains(t, page.body, `<h1 class="mid"><bdi>example.com</bdi> wants access to your account</h1>`)
	require.Contains(t, page.body, "calls itself <b><bdi>Helper</bdi></b>")
	require.NotContains(t, page.body, "Any program on this computer")

	b.decide(page, "allow").location(t, agentCallback)
	require.Contains(t, b.get("/connected-apps").body, "example.com (Helper)")
	grants := w.grants()
	require.Len(t, grants, 1)
	require.Equal(t, "BOOKING_WRITE", grants[0].Scope, "cut to what the publisher may ask for")
	require.Less(t, len(grants[0].Client), 40)
	require.Equal(t, agentID, w.View().Client(grants[0].Client).ClientID())

	// The row is fresh, so the next request fetches nothing. Defaults are for a request without scope.
	page = b.get(at(agentRequest("scope", "", "redirect_uri", "http://127.0.0.1:4567/cb")))
	require.Equal(t, 1, p.requests())
	require.Contains(t, page.body, "Any program on this computer")
	b.decide(page, "allow").location(t, "http://127.0.0.1:4567/cb")
	require.Equal(t, "BOOKING_READ", w.grants()[1].Scope)
}

// TestAgentOfAnotherPublisher gets a page, and nothing is fetched.
func TestAgentOfAnotherPublisher(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsListed)
	b := w.signedIn()
	proposals := len(w.proposals)
	for _, clientID := range []string{agentID, "https://example.com/", "https://example.com:8443/agent", "https://127.0.0.1/agent", "https://auth.example.com/agent", "https://localhost/agent", "https://example.com/a/../agent"} {
		res := b.get(at(agentRequest("client_id", clientID)))
		require.GreaterOrEqual(t, res.StatusCode, 400, clientID)
		require.Empty(t, res.Header.Get("Location"), clientID)
	}
	require.Zero(t, p.requests())
	require.Len(t, w.proposals, proposals)
}

// TestFloodOfAgents: nobody who isn't signed in causes a fetch or a command.
func TestFloodOfAgents(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsReviewed)
	b := w.browser()
	for n := range 200 {
		res := b.get(at(agentRequest("client_id", fmt.Sprintf("https://example.com/%d", n))))
		require.Contains(t, res.body, "Sign in")
	}
	require.Zero(t, p.requests())
	require.Empty(t, w.proposals)
	require.Zero(t, w.pacedViews.Load())
}

// TestHostileUser: one user causes few fetches, and few publishers that wait.
func TestHostileUser(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsReviewed)
	b := w.signedIn()
	limited := 0
	for n := range 50 {
		path := fmt.Sprintf("/%d", n)
		p.set(path, map[string]any{"client_name": "Helper", "redirect_uris": []string{agentCallback}})
		if res := b.get(at(agentRequest("client_id", "https://example.com"+path))); res.StatusCode == http.StatusTooManyRequests {
			limited++
		}
	}
	require.Equal(t, 10, p.requests())
	require.Equal(t, 47, limited, "an unreviewed publisher has three clients")
	for n := range 50 {
		b.get(at(agentRequest("client_id", fmt.Sprintf("https://other%d.example.com/agent", n))))
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
	w.list("example.com")
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
		w.advance(time.Hour)
		res := w.signedIn().get(at(agentRequest("client_id", "https://example.com"+path)))
		require.Equal(t, http.StatusBadRequest, res.StatusCode, path)
		require.Contains(t, res.body, "can’t be recognized")
		require.NotContains(t, res.body, "evil")
		require.NotContains(t, res.body, "script>")
		require.Nil(t, w.View().ClientNamed("https://example.com"+path))
	}
}

// TestPublisherUnderReview: the user sees a page that goes on once an administrator approves.
func TestPublisherUnderReview(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsReviewed)
	w.user("u-bob", "bob", "Bob")
	b := w.signedIn()
	res := b.get(at(agentRequest("scope", "BOOKING_READ", "state", "a b&c")))
	require.Equal(t, http.StatusSeeOther, res.StatusCode, res.body)
	address := res.Header.Get("Location")
	require.NotContains(t, address, "example.com", "the request is sealed")
	page := b.get(address)
	require.Equal(t, http.StatusOK, page.StatusCode)
	require.Equal(t, "5", page.Header.Get("Refresh"))
	require.Contains(t, page.body, "<bdi>example.com</bdi> waits for a review")

	// It is nobody else's, and it can't be changed.
	require.Equal(t, http.StatusGone, w.signedInAs("bob").get(address).StatusCode)
	require.Equal(t, http.StatusGone, b.get(address[:len(address)-4]+"AAAA").StatusCode)
	require.Equal(t, http.StatusGone, b.get("/auth/oauth2/waiting").StatusCode)
	require.Equal(t, 1, p.requests())

	w.list("example.com")
	next := b.get(address).Header.Get("Location")
	page = b.get(next)
	require.Contains(t, page.body, "<bdi>example.com</bdi> wants access")
	require.Equal(t, "a b&c", b.decide(page, "allow").location(t, agentCallback).Get("state"))

	// After ten minutes it is over.
	w.must(&ledger.EndPublisher{Actor: ledger.Actor{Operator: true}, Host: "example.com", How: ledger.EndRemove})
	address = b.get(at(agentRequest())).Header.Get("Location")
	require.Equal(t, http.StatusOK, b.get(address).StatusCode)
	w.advance(10 * time.Minute)
	require.Equal(t, http.StatusGone, b.get(address).StatusCode)

	w.must(&ledger.EndPublisher{Actor: ledger.Actor{Operator: true}, Host: "example.com", How: ledger.EndReject})
	res = b.get(at(agentRequest()))
	require.Equal(t, http.StatusForbidden, res.StatusCode)
	require.Contains(t, res.body, "was not approved")
}

// TestDocumentIsFetchedAgain: a document that can't be fetched is used for a day more.
func TestDocumentIsFetchedAgain(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsListed)
	w.list("example.com")
	b := w.signedIn()
	require.Equal(t, http.StatusOK, b.get(at(agentRequest())).StatusCode)
	w.advance(time.Hour)
	p.set("/agent", map[string]any{"client_name": "Better helper", "redirect_uris": []string{agentCallback}})
	page := b.get(at(agentRequest()))
	require.Equal(t, 2, p.requests())
	require.Contains(t, page.body, "<bdi>Helper</bdi>", "a new name waits for a review")
	require.Equal(t, http.StatusBadRequest, b.get(at(agentRequest("redirect_uri", "http://127.0.0.1:1/cb"))).StatusCode, "what was removed counts at once")
	require.NotNil(t, w.View().ClientNamed(agentID).Proposed)

	w.must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-ada", State: ledger.Promote})
	require.Contains(t, b.get("/admin").body, "Helper")
	review := b.get("/admin/clients/" + url.PathEscape(ledger.ClientKey(agentID)))
	require.Equal(t, http.StatusOK, review.StatusCode)
	require.Contains(t, review.body, `<a href="/admin/publishers/example.com"><bdi>example.com</bdi></a>`)
	require.Contains(t, review.body, agentID)
	require.NotContains(t, review.body, "/transfer")

	p.mu.Lock()
	p.down = true
	p.mu.Unlock()
	w.advance(time.Hour)
	page = b.get(at(agentRequest()))
	require.Equal(t, http.StatusOK, page.StatusCode)
	require.Equal(t, 3, p.requests())
	b.get(at(agentRequest()))
	require.Equal(t, 3, p.requests(), "the failure is remembered")
	w.advance(24 * time.Hour)
	require.Equal(t, http.StatusServiceUnavailable, b.decide(page, "allow").StatusCode)
	res := b.get(at(agentRequest()))
	require.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	require.Empty(t, w.grants())
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
	b := w.signedIn()
	address := b.get(at(agentRequest())).Header.Get("Location")
	require.Equal(t, []ledger.Cause{ledger.PublisherIsPending}, counted)
	b.get(address)
	require.Equal(t, []ledger.Cause{ledger.PublisherIsPending}, counted, "the page is no refusal of its own")

	w.list("example.com")
	require.Equal(t, http.StatusBadRequest, b.get(at(agentRequest("redirect_uri", "https://example.com/other"))).StatusCode)
	w.must(&ledger.EndPublisher{Actor: ledger.Actor{Operator: true}, Host: "example.com", How: ledger.EndReject})
	require.Contains(t, b.get(at(agentRequest())).body, "mme_agent")
	require.Equal(t, []string{
		fmt.Sprintf("%s %d", agentID, ledger.RedirectURIUnregistered), fmt.Sprintf("%s %d", agentID, ledger.PublisherIsRejected),
	}, sealed)
	require.Len(t, counted, 3)

	w.must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-ada", State: ledger.Promote})
	w.explanations = map[string]ledger.Explanation{"mme_agent": {Client: credential.ClientDigest(agentID), Cause: ledger.PublisherIsRejected}}
	page := b.get("/developer/clients/" + url.PathEscape(ledger.ClientKey(agentID)) + "/errors?error_id=mme_agent")
	require.Contains(t, page.body, "Why it was refused")
}

// TestPublisherChangesWhilePageIsOpen: Allow grants what the page showed or nothing.
func TestPublisherChangesWhilePageIsOpen(t *testing.T) {
	put := func(w *env, defaults ...string) {
		w.must(&ledger.PutPublisher{Actor: ledger.Actor{Operator: true}, Host: "example.com", Scopes: defaults, Defaults: defaults})
	}
	for name, asked := range map[string]string{"defaults": "", "ceiling": "BOOKING_READ PROFILE_READ BOOKING_WRITE"} {
		t.Run(name, func(t *testing.T) {
			w, _ := newAgentEnv(t, ledger.AgentsListed)
			put(w, "BOOKING_READ")
			b := w.signedIn()
			page := b.get(at(agentRequest("scope", asked)))
			for _, change := range [][]string{{"BOOKING_READ", "PROFILE_READ"}, {"PROFILE_READ"}} {
				put(w, change...)
				again := b.decide(page, "allow")
				require.Equal(t, http.StatusConflict, again.StatusCode, again.body)
				require.Empty(t, w.grants())
				again.StatusCode = http.StatusOK // decide expects it
				page = again
			}
			form := page.form(t, "/auth/oauth2/authorize")
			require.Equal(t, "PROFILE_READ", form.Get("scope"))
			require.Equal(t, http.StatusForbidden, b.post("/auth/oauth2/authorize", with(form, "decision", "allow", "scope", "BOOKING_READ")).StatusCode, "the token is bound to the scope")
			b.decide(page, "allow").location(t, agentCallback)
			require.Equal(t, "PROFILE_READ", w.grants()[0].Scope)

			page = b.get(at(agentRequest("scope", asked)))
			put(w, "BOOKING_READ", "PROFILE_READ")
			require.Equal(t, "access_denied", b.decide(page, "cancel").location(t, agentCallback).Get("error"), "Cancel cancels nevertheless")
		})
	}
}

// TestTwentyAgents: a user connects twenty.
func TestTwentyAgents(t *testing.T) {
	w, _ := newAgentEnv(t, ledger.AgentsListed)
	w.list("example.com")
	b := w.signedIn()
	for range 20 {
		b.decide(b.get(at(agentRequest())), "allow").location(t, agentCallback)
	}
	require.Equal(t, "access_denied", b.decide(b.get(at(agentRequest())), "allow").location(t, agentCallback).Get("error"))
	require.Len(t, w.grants(), 20)
	b.decide(b.get(at(with(good(), "scope", "BOOKING_READ"))), "allow").location(t, callback)
}

// TestRegisteredAgent: a registered client has no row until a user who saw its name as what it
// is, a claim, allows it.
func TestRegisteredAgent(t *testing.T) {
	const clientID = "mmd_helper"
	p := newPublisher(t)
	registration := &oauth.Registration{Name: "Helper", RedirectURIs: []string{"http://127.0.0.1/cb", "cursor://a/cb"}}
	opened := 0
	w := newEnv(t, func(c *web.Config) {
		c.Registration = func(_ context.Context, id string) *oauth.Registration {
			opened++
			if id != clientID {
				return nil
			}
			return registration
		}
	})
	request := func(pairs ...string) string {
		return at(agentRequest(append([]string{"client_id", clientID, "redirect_uri", "http://127.0.0.1:4567/cb"}, pairs...)...))
	}
	b := w.signedIn()
	require.Contains(t, b.get(request()).body, "Application not found")
	require.Zero(t, opened, "agents are off")
	s := *w.View().Settings()
	s.Agents = ledger.AgentsListed
	w.must(&ledger.Configure{Settings: s})
	proposals := len(w.proposals)
	res := b.get(request())
	require.Equal(t, http.StatusForbidden, res.StatusCode)
	require.Contains(t, res.body, "not accepted here")
	require.Len(t, w.proposals, proposals)

	w.must(&ledger.PutPublisher{
		Actor: ledger.Actor{Operator: true}, Host: ledger.LocalPublisher, Scopes: []string{"BOOKING_READ"}, RedirectURIs: []string{"cursor://a/cb"},
	})
	require.Equal(t, http.StatusBadRequest, b.get(request("client_id", "mmd_other")).StatusCode)
	require.Contains(t, w.browser().get(request()).body, "Sign in")
	page := b.get(request())
	require.Equal(t, http.StatusOK, page.StatusCode, page.body)
	require.Contains(t, page.body, "<bdi>a program on a computer</bdi> wants access")
	require.Contains(t, page.body, "This app calls itself <b><bdi>Helper</bdi></b>. Its name isn’t verified.")
	require.Contains(t, page.body, "Any program on this computer")
	require.Nil(t, w.View().ClientNamed(clientID), "the page stores nothing")
	b.decide(page, "allow").location(t, "http://127.0.0.1:4567/cb")
	require.Equal(t, clientID, w.View().ClientNamed(clientID).ClientID())
	b.decide(b.get(request("redirect_uri", "cursor://a/cb")), "allow").location(t, "cursor://a/cb")
	require.Len(t, w.grants(), 2)
	b.decide(b.get(at(with(good(), "scope", "BOOKING_READ"))), "allow").location(t, callback)
	apps := b.get("/connected-apps").body
	require.Contains(t, apps, "a program on a computer (Helper)")
	require.Contains(t, apps, "Its access ends after 14 days without use")
	require.Less(t, strings.Index(apps, "The calendar app"), strings.Index(apps, "Helper"), "agents come after other applications")
	require.Zero(t, p.requests())
}

// TestRegisteredHost: a registered client that names a host is one of its publisher, and receives
// the answer there only. Anybody could have registered it for a program on the computer.
func TestRegisteredHost(t *testing.T) {
	uris := []string{"https://vscode.dev/redirect"}
	w := newEnv(t, func(c *web.Config) {
		c.Registration = func(context.Context, string) *oauth.Registration {
			return &oauth.Registration{Name: "Editor", RedirectURIs: uris}
		}
	})
	s := *w.View().Settings()
	s.Agents = ledger.AgentsListed
	w.must(&ledger.Configure{Settings: s})
	w.must(&ledger.PutPublisher{Actor: ledger.Actor{Operator: true}, Host: "vscode.dev", Scopes: []string{"BOOKING_READ"}})
	b := w.signedIn()
	open := func(uri string) answer {
		return b.get(at(agentRequest("client_id", "mmd_editor", "redirect_uri", uri)))
	}
	require.Equal(t, http.StatusBadRequest, open("http://127.0.0.1:33418/").StatusCode)
	page := open(uris[0])
	require.Equal(t, http.StatusOK, page.StatusCode, page.body)
	require.Contains(t, page.body, "<bdi>vscode.dev</bdi> wants access")
	require.NotContains(t, page.body, "Any program on this computer")
	b.decide(page, "allow").location(t, uris[0])
	require.Contains(t, b.get("/connected-apps/"+ledger.ClientKey("mmd_editor")).body, "doesn’t use your account for 14 days")

	// Such a client_id is never made: see oauth.RegistrableURIs.
	uris = append(uris, "http://127.0.0.1/")
	w.must(&ledger.DeleteClient{Actor: ledger.Actor{Operator: true}, ID: ledger.ClientKey("mmd_editor")})
	for _, uri := range uris {
		require.Equal(t, http.StatusBadRequest, b.get(at(agentRequest("client_id", "mmd_other", "redirect_uri", uri))).StatusCode)
	}
}

// TestRegisteredAgentOnALaggingNode: the setting agents or the key of the client_id may be newer
// than the state of the node.
func TestRegisteredAgentOnALaggingNode(t *testing.T) {
	for name, missing := range map[string]int{"setting": 0, "key": 1} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, func(c *web.Config) {
				c.Registration = func(context.Context, string) *oauth.Registration {
					if missing--; missing >= 0 {
						return nil
					}
					return &oauth.Registration{Name: "Helper", RedirectURIs: []string{"http://127.0.0.1/cb"}}
				}
			})
			b := w.signedIn()
			if name == "setting" {
				w.lag()
			}
			s := *w.View().Settings()
			s.Agents = ledger.AgentsListed
			w.must(&ledger.Configure{Settings: s})
			w.must(&ledger.PutPublisher{Actor: ledger.Actor{Operator: true}, Host: ledger.LocalPublisher, Scopes: []string{"BOOKING_READ"}})
			page := b.get(at(agentRequest("client_id", "mmd_helper", "redirect_uri", "http://127.0.0.1/cb", "scope", "BOOKING_READ")))
			require.Equal(t, http.StatusOK, page.StatusCode, page.body)
			b.decide(page, "allow").location(t, "http://127.0.0.1/cb")
		})
	}
}

// TestTooManyRegisteredAgents: Allow of one more than a publisher may have leads to an explanation,
// not to the same page again.
func TestTooManyRegisteredAgents(t *testing.T) {
	registration := &oauth.Registration{Name: "Helper", RedirectURIs: []string{"http://127.0.0.1/cb"}}
	w := newEnv(t, func(c *web.Config) {
		c.Registration = func(context.Context, string) *oauth.Registration { return registration }
	})
	s := *w.View().Settings()
	s.Agents = ledger.AgentsListed
	w.must(&ledger.Configure{Settings: s})
	w.must(&ledger.PutPublisher{Actor: ledger.Actor{Operator: true}, Host: ledger.LocalPublisher, Scopes: []string{"BOOKING_READ"}})
	for n := range 190 {
		user := fmt.Sprintf("u-%d", n/10)
		actor := ledger.Actor{Session: [32]byte{1, byte(n / 10)}}
		if n%10 == 0 {
			w.user(user, user, "Somebody")
			w.must(&ledger.SignIn{Session: actor.Session, User: user, VerifiedHash: sha256.Sum256([]byte(passwordHash()))})
		}
		w.must(&ledger.Allow{Actor: actor, User: user, Revision: 1, Grant: ledger.GrantID{1, byte(n >> 8), byte(n)}, Request: oauth.AuthorizationRequest{
			ClientID: fmt.Sprintf("mmd_%d", n), RedirectURI: "http://127.0.0.1/cb", Scope: "BOOKING_READ", CodeChallenge: challenge, Registration: registration,
		}})
	}
	b := w.signedIn()
	page := b.get(at(agentRequest("client_id", "mmd_more", "redirect_uri", "http://127.0.0.1/cb", "scope", "BOOKING_READ")))
	res := b.decide(page, "allow")
	require.Equal(t, http.StatusTooManyRequests, res.StatusCode, res.body)
	require.Contains(t, res.body, "accepts no more applications of this publisher")
	require.Empty(t, w.grants())
}

// TestFloodOfRegisteredAgents: a client_id that nobody has signed in for costs no command.
func TestFloodOfRegisteredAgents(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsReviewed)
	b := w.browser()
	for n := range 200 {
		require.Contains(t, b.get(at(agentRequest("client_id", fmt.Sprintf("mmd_%d", n)))).body, "Sign in")
	}
	require.Zero(t, p.requests())
	require.Empty(t, w.proposals)
}
