package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// An assistant is a page that is an MCP client, on use-mcp, at an origin of its own.
type assistant struct {
	*tab
	address string
}

// newAssistant serves the page, which the tab of user opens.
func newAssistant(t testing.TB, user *tab, endpoint string) *assistant {
	t.Helper()
	script := filepath.Join(t.TempDir(), "use-mcp.js")
	bundle := exec.Command(installed(t, "node"), filepath.Join("node_modules", "rolldown", "bin", "cli.mjs"), "use-mcp.mjs", "--file", script, "--format", "iife", "--platform", "browser")
	bundle.Dir = "clients"
	out, err := bundle.CombinedOutput()
	require.NoError(t, err, "%s", out)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /use-mcp.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, script) })
	page := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, `<!DOCTYPE html><html lang="en"><head><title>Assistant</title><link rel="icon" href="data:,"></head>`+
			`<body><div id="root"></div><script>endpoint = %q</script><script src="/use-mcp.js"></script></body></html>`, endpoint)
	}
	mux.HandleFunc("GET /{$}", page)
	mux.HandleFunc("GET /oauth/callback", page)
	mux.HandleFunc("GET /empty", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "empty") })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return &assistant{user, s.URL}
}

// allowed does something for which the page asks its user, who allows it in the window that the
// page opens. The page then goes on: the window tells it, and closes.
func (a *assistant) allowed(do func()) {
	a.t.Helper()
	opened := chromedp.WaitNewTarget(a.ctx, func(*target.Info) bool { return true })
	do()
	ctx, cancel := chromedp.NewContext(a.ctx, chromedp.WithTargetID(<-opened))
	defer cancel()
	// use-mcp authorizes twice: the window goes on to the second request.
	require.True(a.t, testkit.Until(testkit.Limit, func() bool {
		return a.evaluate(`mcp.log.some(l => l.message.startsWith("Redirecting for authentication")) ? "both" : ""`) != ""
	}), "both requests")
	window, last := &tab{t: a.t, ctx: ctx}, a.evaluate(keptAs("last_auth_url"))
	require.True(a.t, testkit.Until(testkit.Limit, func() bool { return window.location() == last }), "the window shows the second request")
	window.do(chromedp.Click(chromedp.CSS(`button[value="allow"]`)))
	a.ready()
}

func (a *assistant) ready() { a.t.Helper(); a.do(chromedp.WaitVisible(chromedp.CSS("#ready"))) }

func (a *assistant) evaluate(expression string) (text string) {
	a.t.Helper()
	text, err := chromedp.Run(a.ctx, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
	require.NoError(a.t, err)
	return text
}

// call has the page call a tool. The answer is text of the tool, or that of an error.
func (a *assistant) call(tool string) (answer string) {
	a.t.Helper()
	return a.evaluate(`mcp.callTool(` + quoted(tool) + `, {}).then(r => r.content[0].text, e => "refused: " + e.message)`)
}

// forget has the application forget its tokens and its registration.
func (a *assistant) forget() { a.t.Helper(); a.evaluate(`mcp.clearStorage() ?? ""`) }

// tokens are the access and refresh tokens that the page has kept.
func (a *assistant) tokens() (access, refresh string) {
	a.t.Helper()
	var kept struct {
		AccessToken  string `json:"access_token"`
		RefreshToken string `json:"refresh_token"`
	}
	require.NoError(a.t, json.Unmarshal([]byte(a.evaluate(keptAs("tokens"))), &kept))
	return kept.AccessToken, kept.RefreshToken
}

// keptAs is what use-mcp keeps under a name, in JavaScript.
func keptAs(name string) string {
	return `localStorage[Object.keys(localStorage).find(k => k.endsWith("_` + name + `"))]`
}

// TestMCPInBrowser: a page of another origin, an MCP client with use-mcp, goes through all steps
// of TestMCPClients. use-mcp asks at once for all scopes that the MCP server names, and gets what
// it may have. It asks its user again only when it has no refresh token: for more scopes, and
// after it was refused, the application has to forget what it kept.
func TestMCPInBrowser(t *testing.T) {
	m := newMCP(t)
	s, operator := startWithPublisher(t, m.fixtures(), newPublisher(t, nil))
	m.start(s)
	operator.OK("", "settings", "set", "agents=listed")
	operator.OK("", "publisher", "add", "local", "--scope", "BOOKING_READ", "--default-scope", "BOOKING_READ", "--long-retry")
	user := newUncheckedTab(t) // use-mcp logs
	user.open(s.AppURL + "/auth/sign-in")
	user.signIn("alice", "correct horse")
	a := newAssistant(t, user, m.endpoint)

	// From nothing.
	a.allowed(func() { a.open(a.address) })
	require.Contains(t, a.call("list_bookings"), `"bookings":[{`)

	// Step up: it may not have more, until an administrator raises what its publisher may have.
	require.Contains(t, a.call("list_schedules"), "refused: Streamable HTTP error: Server returned 403")
	operator.OK("", "publisher", "set", "local", "--scope", "BOOKING_READ,SCHEDULE_READ")
	a.forget()
	a.allowed(func() { a.open(a.address) })
	require.Contains(t, a.call("list_schedules"), `"schedules":[{`)
	require.Contains(t, a.call("list_bookings"), `"bookings":[{`)

	// Five processes: the page in five profiles of the browser, with what one has kept.
	_, used := a.tokens()
	a.evaluate(keptAs("tokens") + ` = JSON.stringify({...JSON.parse(` + keptAs("tokens") + `), access_token: "an-access-token-of-yesterday"})`)
	kept := a.evaluate(`JSON.stringify(localStorage)`)
	all := []*assistant{a}
	for range 4 {
		other := &assistant{newUncheckedTab(t), a.address}
		other.open(other.address + "/empty")
		other.evaluate(`Object.assign(localStorage, JSON.parse(` + quoted(kept) + `)), ""`)
		all = append(all, other)
	}
	for _, other := range all {
		other.open(other.address)
	}
	access, refresh := "", ""
	for i, other := range all {
		other.ready()
		require.Contains(t, other.call("list_bookings"), `"bookings":[{`)
		own, successor := other.tokens()
		require.True(t, i == 0 || successor == refresh, "each gets the same refresh token")
		access, refresh = own, successor
	}
	require.NotEqual(t, used, refresh)

	// The user disconnects it.
	disconnect(user, s, m, "a program on a computer (Assistant in a browser)", access)
	a.open(a.address)
	a.do(chromedp.WaitVisible(chromedp.CSS("#failed")))
	require.Contains(t, a.text("#failed"), "The code or refresh token is not valid")

	// It connects again.
	a.forget()
	a.allowed(func() { a.open(a.address) })
	require.Contains(t, a.call("list_bookings"), `"bookings":[{`)
}
