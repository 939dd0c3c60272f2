package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/clustertest"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// mcpSecret is the secret with which the MCP server reads the feed of revocations.
const mcpSecret = "mms_c2NoZWR1bGluZ3NjaGVkdWxpbmdzY2hlZHVsaW5nc2M"

// An mcpServer is a running middleware/examples/mcp.
type mcpServer struct {
	t                 testing.TB
	address, endpoint string
}

// newMCP chooses the endpoint, which a server of Mintmark has to know.
func newMCP(t testing.TB) *mcpServer {
	address := clustertest.Address(t)
	return &mcpServer{t, address, "http://" + address + "/mcp"}
}

// fixtures register the MCP server.
func (m *mcpServer) fixtures() string {
	return fixtures(fmt.Sprintf("resource_servers:\n  - {id: %q, name: scheduling, secret: %s}\n", m.endpoint, mcpSecret))
}

// start runs the MCP server for the tokens of s until the test ends.
func (m *mcpServer) start(s *server) {
	m.t.Helper()
	dir := m.t.TempDir()
	require.NoError(m.t, testkit.GoBuild(filepath.Join(root, "middleware", "examples"), "-o", dir, "./mcp"))
	c := exec.Command(filepath.Join(dir, "mcp"), "-listen", m.address, "-issuer", s.Issuer, "-name", "scheduling")
	c.Env = append(os.Environ(), "MCP_SECRET="+mcpSecret)
	p, err := testkit.Start(c, filepath.Join(dir, "log"))
	require.NoError(m.t, err)
	m.t.Cleanup(p.Kill)
	require.True(m.t, testkit.Until(testkit.Limit, func() bool {
		return !p.Running() || m.status("") == http.StatusUnauthorized
	}) && p.Running(), "the MCP server does not start")
}

// status is that of a request with an access token; 0 if there is none.
func (m *mcpServer) status(token string) int {
	m.t.Helper()
	r, err := http.NewRequestWithContext(m.t.Context(), http.MethodPost, m.endpoint, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	require.NoError(m.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	a, err := testkit.Send(http.DefaultClient, r)
	if err != nil {
		return 0
	}
	return a.Status
}

// mcpArgs are the arguments of clients/mcp.mjs, and those of clients/mcp-go.
type mcpArgs struct {
	Library     string    `json:"library,omitempty"`
	Endpoint    string    `json:"endpoint"`
	File        string    `json:"file"`     // what the client keeps
	Document    string    `json:"document"` // URL of its metadata document
	RedirectURI string    `json:"redirectURI"`
	Decision    string    `json:"decision,omitempty"` // "cancel": it only notes that it would ask the user
	Expired     bool      `json:"expired,omitempty"`  // its access token has expired
	Calls       []mcpCall `json:"calls"`
}

type mcpCall struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments,omitempty"`
}

type mcpResult struct {
	Answers []struct {
		Text   string
		Failed bool
	}
	Visits                                  []string // the scopes that the user was asked for
	Refused, Client, Access, Refresh, Scope string
}

// bookings reads the answer to list_bookings.
func (r *mcpResult) bookings(t testing.TB) (all []map[string]any) {
	t.Helper()
	require.Len(t, r.Answers, 1)
	require.False(t, r.Answers[0].Failed, r.Answers[0].Text)
	var list struct{ Bookings []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(r.Answers[0].Text), &list), r.Answers[0].Text)
	return list.Bookings
}

// requireAsked checks that the user was asked once, for these scopes in any order.
func (r *mcpResult) requireAsked(t testing.TB, scopes ...string) {
	t.Helper()
	require.Len(t, r.Visits, 1)
	require.ElementsMatch(t, scopes, strings.Fields(r.Visits[0]))
}

// TestMCPClients: the SDKs connect to an MCP server of which they know the address only, ask
// their user for more when a tool needs it, share a refresh token among five processes, are
// refused when the user has disconnected them, and connect again. Every client that can do so is
// tested with these steps; the guide for agents has their versions:
//
//	                                         connect  call a  step  five       refused when  connect
//	                                                  tool    up    processes  disconnected  again
//	@modelcontextprotocol/sdk          here     x       x      x        x           x          x
//	@modelcontextprotocol/client       here     x       x      x        x           x          x
//	SDK for Go                         here     x       x      x        x           x          x
//	mcp-remote              TestMCPPrograms     x       x      x        x           x          x
//	Inspector, command line TestMCPPrograms     x       x      x        x           x          x
//	use-mcp                TestMCPInBrowser     x       x      x        x           x          x
//	conformance             TestMCPPrograms     x       -      -        -           -          -
//
// The authorization command of the conformance tests ends when it has tokens. What is special
// about a client is said where it is tested.
func TestMCPClients(t *testing.T) {
	m := newMCP(t)
	goClient := filepath.Join(t.TempDir(), "mcp-go")
	require.NoError(t, testkit.GoBuild(filepath.Join(root, "cmd", "mintmark", "e2e", "clients", "mcp-go"), "-o", goClient, "."))
	inGo := func(_ testing.TB, args string) *exec.Cmd { return exec.Command(goClient, args) }
	inNode := func(t testing.TB, args string) *exec.Cmd { return nodeScript(t, "mcp.mjs", args) }
	clients := []struct {
		name, library string
		command       func(t testing.TB, args string) *exec.Cmd
	}{
		{"typescript-1", "@modelcontextprotocol/sdk", inNode},
		{"typescript-2", "@modelcontextprotocol/client", inNode},
		{"go", "", inGo},
	}
	documents := map[string]map[string]any{}
	for _, c := range clients {
		documents["/"+c.name] = map[string]any{
			"client_id": "https://example.com/" + c.name, "client_name": "Assistant " + c.name,
			"redirect_uris": []string{"http://127.0.0.1/callback"}, "token_endpoint_auth_method": "none",
			"grant_types": []string{"authorization_code", "refresh_token"},
		}
	}
	s, operator := startWithPublisher(t, m.fixtures(), newPublisher(t, documents))
	m.start(s)
	operator.OK("", "settings", "set", "agents=listed")
	operator.OK("", "publisher", "add", "example.com", "--scope", "BOOKING_READ,BOOKING_WRITE,PROFILE_READ", "--default-scope", "BOOKING_READ", "--long-retry")
	user := signInWithoutBrowser(t, s, "alice", "correct horse")
	browser := newTab(t)
	browser.open(s.AppURL + "/auth/sign-in")
	browser.signIn("alice", "correct horse")

	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			user := *user
			user.t = t
			file := filepath.Join(t.TempDir(), "kept.json")
			command := func(change func(*mcpArgs)) *exec.Cmd {
				a := mcpArgs{
					Library: c.library, Endpoint: m.endpoint, File: file, Document: "https://example.com/" + c.name, RedirectURI: callback,
					Calls: []mcpCall{{Name: "list_bookings"}},
				}
				if change != nil {
					change(&a)
				}
				text, err := json.Marshal(a)
				require.NoError(t, err)
				return c.command(t, string(text))
			}
			run := func(change func(*mcpArgs)) (r mcpResult) {
				t.Helper()
				runClient(t, command(change), &user, &r)
				return r
			}
			cancel := func(a *mcpArgs) { a.Decision = "cancel" }

			// From nothing.
			r := run(nil)
			require.Equal(t, "https://example.com/"+c.name, r.Client)
			r.requireAsked(t, "BOOKING_READ")
			require.Equal(t, "BOOKING_READ", r.Scope)
			before := r.bookings(t)
			require.NotEmpty(t, before)

			// Step up: the new token can do what the old one could.
			uid, start := before[0]["uid"], before[0]["start"].(string)
			at, err := time.Parse(time.RFC3339, start)
			require.NoError(t, err)
			r = run(func(a *mcpArgs) {
				a.Calls = []mcpCall{{"reschedule_booking", map[string]any{"uid": uid, "start": at.Add(time.Hour)}}}
			})
			r.requireAsked(t, "BOOKING_READ", "BOOKING_WRITE")
			require.ElementsMatch(t, []string{"BOOKING_READ", "BOOKING_WRITE"}, strings.Fields(r.Scope), "the SDK of Go keeps scopes in a map")
			require.False(t, r.Answers[0].Failed, r.Answers[0].Text)
			r = run(cancel)
			require.Empty(t, r.Refused)
			require.Equal(t, at.Add(time.Hour).Format(time.RFC3339), r.bookings(t)[0]["start"])

			file = fiveProcesses(t, file, r.Refresh, command)
			r = run(func(a *mcpArgs) { cancel(a); a.Expired = true })
			require.Empty(t, r.Refused)
			require.NotEmpty(t, r.bookings(t))

			// The user disconnects it.
			browser.open(s.AppURL + "/connected-apps")
			browser.disconnect("example.com (Assistant " + c.name + ")")
			require.True(t, testkit.Until(testkit.Limit, func() bool { return m.status(r.Access) == http.StatusUnauthorized }), "the token is refused")
			r = run(cancel)
			require.Equal(t, "the user is asked", r.Refused)
			require.Empty(t, r.Answers)

			// It connects again.
			r = run(nil)
			r.requireAsked(t, "BOOKING_READ")
			require.NotEmpty(t, r.bookings(t))

			// A user who cancels a request for more scopes keeps the grant.
			r = run(func(a *mcpArgs) {
				cancel(a)
				a.Calls = []mcpCall{{Name: "list_schedules"}}
			})
			r.requireAsked(t, "BOOKING_READ", "SCHEDULE_READ")
			require.Empty(t, r.Answers)
		})
	}
}

// fiveProcesses has five processes with copies of a client's file refresh at once. Each gets
// the same successor of the refresh token. It returns the file of one of them.
func fiveProcesses(t *testing.T, file, refresh string, command func(func(*mcpArgs)) *exec.Cmd) string {
	t.Helper()
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	type outcome struct {
		out    []byte
		stderr bytes.Buffer
		err    error
	}
	ends := make(chan *outcome)
	copies := t.TempDir()
	for i := range 5 {
		own := filepath.Join(copies, fmt.Sprint(i))
		require.NoError(t, os.WriteFile(own, kept, 0o600))
		c := command(func(a *mcpArgs) { a.File, a.Expired, a.Decision = own, true, "cancel" })
		go func() {
			end := new(outcome)
			c.Stderr = &end.stderr
			end.out, end.err = c.Output()
			ends <- end
		}()
	}
	successors := map[string]int{}
	for range 5 {
		end := <-ends
		require.NoError(t, end.err, "%s", &end.stderr)
		var line struct{ Result mcpResult }
		require.NoError(t, json.Unmarshal(end.out, &line), "%s", end.out)
		require.Empty(t, line.Result.Refused)
		require.NotEmpty(t, line.Result.bookings(t))
		successors[line.Result.Refresh]++
	}
	require.Len(t, successors, 1)
	require.NotContains(t, successors, refresh)
	return filepath.Join(copies, "0")
}
