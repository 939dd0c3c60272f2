package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// An npmProgram is a running program of an npm package. It prints the address that its user has
// to open.
type npmProgram struct {
	t      testing.TB
	user   *tab
	stdin  io.WriteCloser
	lines  chan string // standard output; closed when the program has ended
	visits chan string // authorization URLs that it printed
	asked  []string    // the scopes in those that the user has opened
	log    testkit.Buffer
	err    error // of its end; read it after lines is closed
}

var printedRequest = regexp.MustCompile(`http://\S+/auth/oauth2/authorize\?\S+`)

// startNPM starts a script of clients/ until the test ends. It finds no browser to open.
func startNPM(t testing.TB, user *tab, env []string, script string, args ...string) *npmProgram {
	t.Helper()
	c := exec.Command(installed(t, "node"), append(strings.Fields(script), args...)...)
	c.Dir = "clients"
	home := t.TempDir()
	c.Env = append(append(testkit.CleanEnv(), env...), "HOME="+home, "PATH="+home)
	p := &npmProgram{t: t, user: user, lines: make(chan string, 1000), visits: make(chan string, 10)}
	var err error
	p.stdin, err = c.StdinPipe()
	require.NoError(t, err)
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	stderr, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	var reading sync.WaitGroup
	read := func(from io.Reader, line func(string)) {
		lines := bufio.NewScanner(io.TeeReader(from, &p.log))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if address := printedRequest.FindString(lines.Text()); address != "" {
				p.visits <- address
			} else {
				line(lines.Text())
			}
		}
	}
	reading.Go(func() { read(stdout, func(line string) { p.lines <- line }) })
	reading.Go(func() { read(stderr, func(string) {}) })
	ended := make(chan struct{})
	go func() {
		reading.Wait()
		p.err = c.Wait()
		close(p.lines)
		close(ended)
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("%s: %s", script, &p.log)
		}
	})
	return p
}

// next returns the next line of the standard output. Meanwhile the user allows what the program
// asks for, and the browser goes back to the program.
func (p *npmProgram) next() (line string, ok bool) {
	p.t.Helper()
	limit := time.After(testkit.Limit)
	for {
		select {
		case line, ok = <-p.lines:
			return line, ok
		case address := <-p.visits:
			p.allow(address)
		case <-limit:
			require.Fail(p.t, "no line", "%s", &p.log)
		}
	}
}

func (p *npmProgram) allow(address string) {
	p.t.Helper()
	u, err := url.Parse(address)
	require.NoError(p.t, err)
	p.asked = append(p.asked, u.Query().Get("scope"))
	back, err := url.Parse(u.Query().Get("redirect_uri"))
	require.NoError(p.t, err)
	require.True(p.t, testkit.Until(testkit.Limit, func() bool { // it may print first, and listen then
		c, err := net.Dial("tcp", back.Host)
		return err == nil && c.Close() == nil
	}), "the program does not listen at %s", back)
	p.user.open(address)
	p.user.press(`button[value="allow"]`)
}

// output is what a program prints that ends by itself.
func (p *npmProgram) output() string {
	p.t.Helper()
	var all strings.Builder
	for line, ok := p.next(); ok; line, ok = p.next() {
		all.WriteString(line + "\n")
	}
	return all.String()
}

// requireAsked checks that the user was asked once since the last call, for these scopes.
func (p *npmProgram) requireAsked(scopes ...string) {
	p.t.Helper()
	require.Len(p.t, p.asked, 1, "%s", &p.log)
	require.ElementsMatch(p.t, scopes, strings.Fields(p.asked[0]))
	p.asked = nil
}

// accessToken is the one in a file of a client, whose name has a pattern.
func accessToken(t testing.TB, pattern string) (token string) {
	t.Helper()
	changeToken(t, pattern, func(kept string) string { token = kept; return kept })
	return token
}

// expire replaces that token by one that is not valid.
func expire(t testing.TB, pattern string) {
	t.Helper()
	changeToken(t, pattern, func(string) string { return "an-access-token-of-yesterday" })
}

func changeToken(t testing.TB, pattern string, change func(kept string) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	kept := regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]+`).FindString(string(text))
	require.NotEmpty(t, kept, "no access token in %s", files[0])
	require.NoError(t, os.WriteFile(files[0], []byte(strings.ReplaceAll(string(text), kept, change(kept))), 0o600))
}

// disconnect has the user of a tab end the access of a client, and waits until its access token
// is refused.
func disconnect(b *tab, s *server, m *mcpServer, client, token string) {
	b.t.Helper()
	require.NotEqual(b.t, http.StatusUnauthorized, m.status(token))
	b.open(s.AppURL + "/connected-apps")
	b.disconnect(client)
	require.True(b.t, testkit.Until(testkit.Limit, func() bool { return m.status(token) == http.StatusUnauthorized }), "the token is refused")
}

// TestMCPPrograms: programs that assistants and developers run connect to an MCP server of which
// they know the address only. Their user decides in a browser, which goes back to them.
func TestMCPPrograms(t *testing.T) {
	m := newMCP(t)
	documents := map[string]map[string]any{}
	for name, redirectURI := range map[string]string{"inspector": "http://127.0.0.1/oauth/callback", "conformance": "http://127.0.0.1/callback"} {
		documents["/"+name] = map[string]any{
			"client_id": "https://example.com/" + name, "client_name": name, "redirect_uris": []string{redirectURI}, "token_endpoint_auth_method": "none",
		}
	}
	s, operator := startWithPublisher(t, m.fixtures(), newPublisher(t, documents))
	m.start(s)
	operator.OK("", "settings", "set", "agents=listed")
	operator.OK("", "publisher", "add", "example.com", "--scope", "BOOKING_READ", "--default-scope", "BOOKING_READ", "--long-retry")
	operator.OK("", "publisher", "add", "local", "--scope", "BOOKING_READ,BOOKING_WRITE", "--default-scope", "BOOKING_READ", "--long-retry")
	newUser := func(t *testing.T) *tab {
		b := newUncheckedTab(t) // it visits pages of the programs too
		b.open(s.AppURL + "/auth/sign-in")
		b.signIn("alice", "correct horse")
		return b
	}
	// Nothing is rescheduled: the tests differ in what they are refused.
	const rescheduled = "there is no such booking"
	reschedule := map[string]any{"uid": "none", "start": "2040-01-01T10:00:00Z"}

	// mcp-remote connects assistants that can only start programs. It registers (RFC 7591).
	t.Run("mcp-remote", func(t *testing.T) {
		t.Parallel()
		user, folder := newUser(t), t.TempDir()
		start := func(user *tab) *bridge {
			return &bridge{npmProgram: startNPM(t, user, []string{"MCP_REMOTE_CONFIG_DIR=" + folder},
				"node_modules/mcp-remote/dist/proxy.js", m.endpoint, fmt.Sprint(freePort(t)), "--transport", "http-only")}
		}
		b := start(user)
		b.connect()
		b.requireAsked("BOOKING_READ")
		require.Contains(t, b.request("tools/list", map[string]any{}), `"name":"reschedule_booking"`)
		require.Contains(t, b.call("list_bookings", map[string]any{}), `"bookings":[{`)
		require.Contains(t, b.call("reschedule_booking", reschedule), rescheduled)
		b.requireAsked("BOOKING_READ", "BOOKING_WRITE")

		// Five of them share what one has kept.
		expire(t, filepath.Join(folder, "*", "*_tokens.json"))
		var all []*bridge
		for range 5 {
			other := start(user)
			other.begin()
			all = append(all, other)
		}
		for _, other := range all {
			other.connected()
			require.Contains(t, other.call("list_bookings", map[string]any{}), `"bookings":[{`)
			require.Empty(t, other.asked)
		}

		disconnect(user, s, m, "a program on a computer (MCP CLI Proxy)", accessToken(t, filepath.Join(folder, "*", "*_tokens.json")))
		b = start(user)
		b.connect()
		b.requireAsked("BOOKING_READ")
		require.Contains(t, b.call("list_bookings", map[string]any{}), `"bookings":[{`)
	})

	// The command line of the MCP Inspector has a metadata document here. It asks for all the
	// scopes that the MCP server names, and gets those that its publisher may have. It does not
	// revoke what it has: 2.12.0 looks for the endpoint where its command line keeps nothing.
	t.Run("inspector", func(t *testing.T) {
		t.Parallel()
		user, folder, port := newUser(t), t.TempDir(), freePort(t)
		run := func(args ...string) *npmProgram {
			t.Helper()
			p := startNPM(t, user, []string{"MCP_STORAGE_DIR=" + folder, "MCP_INSPECTOR_SECRET_STORE=file", "MCP_AUTO_OPEN_ENABLED=true"},
				"node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js", append([]string{
					"--server-url", m.endpoint, "--client-metadata-url", "https://example.com/inspector",
					"--callback-url", fmt.Sprintf("http://127.0.0.1:%d/oauth/callback", port), "--format", "json",
				}, args...)...)
			_, err := io.WriteString(p.stdin, "y\n") // it asks whether it may ask for more scopes
			require.NoError(t, err)
			return p
		}
		list := []string{"--method", "tools/call", "--tool-name", "list_bookings"}
		all := []string{"BOOKING_READ", "BOOKING_WRITE", "PROFILE_READ", "SCHEDULE_READ"}

		p := run("--method", "tools/list")
		require.Contains(t, p.output(), `"name":"reschedule_booking"`)
		p.requireAsked(all...)
		require.NotContains(t, p.log.String(), "Schema portability", "what it finds in the schemas of the tools")

		operator.OK("", "publisher", "set", "example.com", "--scope", "BOOKING_READ,BOOKING_WRITE")
		arguments, err := json.Marshal(reschedule)
		require.NoError(t, err)
		p = run("--method", "tools/call", "--tool-name", "reschedule_booking", "--tool-args-json", string(arguments))
		require.Contains(t, p.output(), rescheduled)
		p.requireAsked("BOOKING_READ", "BOOKING_WRITE")

		// Five of them share what one has kept.
		secrets := filepath.Join(folder, "secrets.json")
		expire(t, secrets)
		var five []*npmProgram
		for range 5 {
			five = append(five, run(list...))
		}
		for _, p := range five {
			require.Contains(t, p.output(), `"bookings":[{`)
			require.Empty(t, p.asked)
		}

		disconnect(user, s, m, "example.com (inspector)", accessToken(t, secrets))
		p = run(append(list, "--stored-auth-only")...)
		require.Empty(t, p.output())
		require.Contains(t, p.log.String(), "auth_required")

		p = run(list...)
		require.Contains(t, p.output(), `"bookings":[{`)
		p.requireAsked("BOOKING_READ", "BOOKING_WRITE") // what it had
	})

	// The authorization command of the official conformance tests connects from nothing. It does
	// no more: it uses neither of the tokens that it gets.
	t.Run("conformance", func(t *testing.T) {
		t.Parallel()
		p := startNPM(t, newUser(t), nil, "--import ./node20.mjs node_modules/@modelcontextprotocol/conformance/dist/index.js", "authorization",
			"--url", s.Issuer, "--client-id", "https://example.com/conformance", "--resource", m.endpoint, "--port", fmt.Sprint(freePort(t)))
		require.Contains(t, p.output(), "Total: 3 passed, 0 failed\n")
		require.NoError(t, p.err)
		p.requireAsked() // it names no scope
	})
}

// A bridge is a running mcp-remote, with MCP on its standard input and output.
type bridge struct {
	*npmProgram
	last int // id of the last request
}

func (b *bridge) send(message map[string]any) {
	b.t.Helper()
	message["jsonrpc"] = "2.0"
	text, err := json.Marshal(message)
	require.NoError(b.t, err)
	_, err = b.stdin.Write(append(text, '\n'))
	require.NoError(b.t, err)
}

func (b *bridge) ask(method string, params map[string]any) {
	b.t.Helper()
	b.last++
	b.send(map[string]any{"id": b.last, "method": method, "params": params})
}

// answer waits for the answer to the last request.
func (b *bridge) answer() string {
	b.t.Helper()
	for {
		line, ok := b.next()
		require.True(b.t, ok, "mcp-remote has ended: %v: %s", b.err, &b.log)
		var message struct{ ID int }
		require.NoError(b.t, json.Unmarshal([]byte(line), &message), line)
		if message.ID == b.last {
			return line
		}
	}
}

func (b *bridge) request(method string, params map[string]any) string {
	b.t.Helper()
	b.ask(method, params)
	return b.answer()
}

func (b *bridge) call(tool string, arguments map[string]any) string {
	b.t.Helper()
	return b.request("tools/call", map[string]any{"name": tool, "arguments": arguments})
}

func (b *bridge) connect() {
	b.t.Helper()
	b.begin()
	b.connected()
}

func (b *bridge) begin() {
	b.t.Helper()
	b.ask("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "assistant", "version": "1"},
	})
}

func (b *bridge) connected() {
	b.t.Helper()
	require.Contains(b.t, b.answer(), `"serverInfo"`)
	b.send(map[string]any{"method": "notifications/initialized"})
}
