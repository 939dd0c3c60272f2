package e2e

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/dev"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/clientdoc"
)

// A node fetches metadata documents from public addresses only, and the built binary has no
// way to change that. So in tests of agents the node is this test binary, started again, with
// the same main but another fetcher.
const (
	publisherAddress = "E2E_PUBLISHER_ADDRESS" // HOST:PORT that every fetch connects to
	publisherRoots   = "E2E_PUBLISHER_ROOTS"   // PEM file of its certificate
)

// runWithPublisher is main of cmd/mintmark with another fetcher of documents.
func runWithPublisher() int {
	text, err := os.ReadFile(os.Getenv(publisherRoots))
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	documents := clientdoc.New(clientdoc.Config{
		Own: func() []string { return nil }, Now: time.Now, RootCAs: roots,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, os.Getenv(publisherAddress))
		},
	})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Execute(ctx, cli.Root("dev", dev.Command(dev.Options{Version: "dev", Documents: documents}), dev.DemoCommand()))
}

// A publisher serves metadata documents on the loopback, as https://example.com.
type publisher struct {
	*httptest.Server
	documents map[string]map[string]any // by path; not changed once it serves
}

func newPublisher(t testing.TB, documents map[string]map[string]any) *publisher {
	p := &publisher{documents: documents}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := p.documents[r.URL.Path]
		if d == nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(d)
	}))
	t.Cleanup(p.Close)
	return p
}

// startWithPublisher is start for a node that fetches documents from p, and returns the
// command line of its operator too.
func startWithPublisher(t testing.TB, fixtures string, p *publisher) (*server, *testkit.CLI) {
	t.Helper()
	dir := t.TempDir()
	roots := filepath.Join(dir, "roots.pem")
	require.NoError(t, os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw}), 0o600))
	program, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(program)
	c.Env = append(testkit.CleanEnv(), publisherAddress+"="+p.Listener.Addr().String(), publisherRoots+"="+roots)
	s, stop := startIn(t, dir, "127.0.0.1:0", c, fixtures)
	t.Cleanup(stop)
	return s, &testkit.CLI{T: t, Dir: filepath.Join(dir, "data"), Execute: testkit.Program(binary, testkit.Limit)}
}

const agentID = "https://example.com/agent"

// agentDocuments are those of a publisher with one client.
func agentDocuments() map[string]map[string]any {
	return map[string]map[string]any{
		"/agent": {"client_id": agentID, "client_name": "Helper", "redirect_uris": []string{"http://127.0.0.1/callback"}, "token_endpoint_auth_method": "none"},
	}
}

// agentRequest is an authorization request of that client (the challenge is that of RFC 7636,
// appendix B).
func agentRequest(s *server) string {
	return authorizeURL(s, agentID, "http://127.0.0.1/callback", "scope", "PROFILE_READ BOOKING_READ",
		"code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method", "S256")
}

// tourAgents visits what a user sees whose assistant asks for access.
func tourAgents(t *testing.T, b *tab, look func(name string)) {
	t.Helper()
	s, operator := startWithPublisher(t, fixtures(""), newPublisher(t, agentDocuments()))
	operator.OK("", "settings", "set", "agents=listed")
	b.open(agentRequest(s))
	b.signIn("alice", "correct horse")
	look("agent-not-listed")
	operator.OK("", "settings", "set", "agents=reviewed")
	b.open(agentRequest(s))
	look("agent-waiting")
	b.open(s.AppURL + "/account")
	b.signOut()
	tourPublishers(b, s, look)
	b.signOut()
	b.open(agentRequest(s))
	b.signIn("alice", "correct horse")
	look("consent-agent")
}

// tourPublishers visits what an administrator sees of a publisher that waits, and approves it.
func tourPublishers(b *tab, s *server, look func(name string)) {
	b.open(s.AppURL + "/admin?show=publishers")
	b.signIn("root", "administers it")
	look("admin-queue-publisher")
	for _, page := range []struct{ path, name string }{
		{"/publishers", "admin-publishers"},
		{"/publishers?q=nothing", "admin-publishers-nothing-found"},
		{"/publishers/example.com", "admin-publisher-pending"},
		{"/publishers/local", "admin-publisher-local"},
		{"/publishers/local/edit", "admin-publisher-local-turn-on"},
		{"/new-publisher?host=claude.ai", "admin-publisher-new"},
		{"/new-publisher", "admin-publisher-new-own"},
	} {
		b.open(s.AppURL + "/admin" + page.path)
		look(page.name)
	}
	b.press("main button.primary")
	look("admin-publisher-new-problem")
	b.open(s.AppURL + "/admin/publishers/example.com/edit")
	look("admin-publisher-approve")
	b.press("main button.primary")
	look("admin-publisher-approved")
	for _, end := range []string{"revoke", "reject", "remove"} {
		b.open(s.AppURL + "/admin/publishers/example.com/" + end)
		look("admin-publisher-" + end)
	}
}

// TestBrowserReviewOfAPublisher: a user comes with an unknown agent, an administrator approves its
// publisher in the pages, and the page of the user goes on by itself; then the administrator ends
// the access. With JavaScript and without.
func TestBrowserReviewOfAPublisher(t *testing.T) {
	for _, mode := range []struct {
		name    string
		scripts bool
	}{{"scripts on", true}, {"scripts off", false}} {
		t.Run(mode.name, func(t *testing.T) {
			app := startApplication(t)
			s, operator := startWithPublisher(t, fixtures(""), newPublisher(t, agentDocuments()))
			operator.OK("", "settings", "set", "agents=reviewed")
			root, user := newTab(t), newTab(t)
			root.scripts(mode.scripts)
			user.scripts(mode.scripts)
			user.open(strings.Replace(agentRequest(s), url.QueryEscape("http://127.0.0.1/callback"), url.QueryEscape(app.uri), 1))
			user.signIn("alice", "correct horse")
			require.Equal(t, "example.com is waiting for review", user.text("h1"))

			root.open(s.AppURL + "/admin?show=publishers")
			root.signIn("root", "administers it")
			root.press(`main a[href="/admin/publishers/example.com"]`)
			require.Contains(t, root.text("main"), "Requested by alice")
			require.Contains(t, root.text("#applications"), agentID)
			root.press(`main a[href$="/edit"]`)
			root.press("main button.primary")
			require.Contains(t, root.text("[role=status]"), "The publisher was approved.")

			user.do(chromedp.WaitVisible(chromedp.CSS(`button[value="allow"]`)))
			require.Contains(t, user.text("h1"), "example.com")
			user.press(`button[value="allow"]`)
			require.NotEmpty(t, app.answer(t).Get("code"))
			root.press(`main a[href$="/revoke"]`)
			require.Equal(t, "Disconnect everybody from example.com?", root.text("h1"))
			root.press("main button.bad")
			require.Contains(t, root.text("[role=status]"), "Everybody was disconnected.")
			user.open(s.AppURL + "/connected-apps")
			require.NotContains(t, user.text("main"), "example.com")
		})
	}
}

// TestAgent: a client with a metadata document connects from nothing to a node of which only
// the publisher of the client was reviewed, and an operator ends its access.
func TestAgent(t *testing.T) {
	s, operator := startWithPublisher(t, fixtures(""), newPublisher(t, agentDocuments()))
	agent := xoauth2(s, agentID, "", oauth2.AuthStyleInParams, "PROFILE_READ", "BOOKING_READ", "offline_access")
	verifier := oauth2.GenerateVerifier()
	address := agent.AuthCodeURL("a state", oauth2.S256ChallengeOption(verifier))
	user := signInWithoutBrowser(t, s, "alice", "correct horse")
	open := func() answer { return send(t, user.client, mustGet(t, address)) }
	require.Contains(t, open().Body, "App not found", "agents are off")

	operator.OK("", "settings", "set", "agents=listed")
	require.Contains(t, open().Body, "not accepted here")
	operator.OK("", "publisher", "add", "example.com", "--scope", "PROFILE_READ")
	var metadata struct {
		Documents bool `json:"client_id_metadata_document_supported"`
	}
	s.getJSON("/.well-known/oauth-authorization-server", &metadata)
	require.True(t, metadata.Documents)

	to := user.decide(address, "allow")
	require.Equal(t, s.Issuer, to.Query().Get("iss"))
	token, err := agent.Exchange(t.Context(), to.Query().Get("code"), oauth2.VerifierOption(verifier))
	require.NoError(t, err)
	require.Equal(t, "PROFILE_READ", token.Extra("scope"))
	me, err := agent.Client(t.Context(), token).Get(s.BaseURL + testkit.PathMe)
	require.NoError(t, err)
	require.NoError(t, me.Body.Close())
	require.Equal(t, http.StatusOK, me.StatusCode)
	next, err := agent.TokenSource(t.Context(), &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
	require.NoError(t, err)

	operator.OK("", "grant", "revoke", "--publisher", "example.com")
	_, err = agent.TokenSource(t.Context(), &oauth2.Token{RefreshToken: next.RefreshToken}).Token()
	require.ErrorContains(t, err, "invalid_grant")
	require.NotEmpty(t, user.decide(address, "allow").Query().Get("code"), "it may ask again")

	// A program registers, and connects in the same way.
	register := func() answer {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.BaseURL+"/v2/auth/oauth2/register",
			strings.NewReader(`{"client_name":"Program","redirect_uris":["`+callback+`"]}`))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		return send(t, http.DefaultClient, r)
	}
	require.Equal(t, http.StatusBadRequest, register().Status, "the programs of users are not listed")
	operator.OK("", "publisher", "add", "local", "--scope", "PROFILE_READ")
	var registered struct {
		ClientID string `json:"client_id"`
	}
	require.NoError(t, json.Unmarshal([]byte(register().Body), &registered))
	program := xoauth2(s, registered.ClientID, "", oauth2.AuthStyleInParams, "PROFILE_READ")
	to = user.decide(program.AuthCodeURL("a state", oauth2.S256ChallengeOption(verifier)), "allow")
	token, err = program.Exchange(t.Context(), to.Query().Get("code"), oauth2.VerifierOption(verifier))
	require.NoError(t, err)
	_, err = program.TokenSource(t.Context(), &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
	require.NoError(t, err)

	// A resource that isn't one of this service is refused, though none is registered.
	to = user.decide(address+"&resource="+url.QueryEscape("https://mcp.example/mcp"), "allow")
	require.Equal(t, "invalid_target", to.Query().Get("error"))
}
