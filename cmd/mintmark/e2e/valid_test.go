package e2e

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// validate returns the findings of the W3C's HTML checker for files, or "".
func validate(t *testing.T, arguments ...string) string {
	t.Helper()
	jar := filepath.Join("clients", "node_modules", "vnu-jar", "build", "dist", "vnu.jar")
	if _, err := os.Stat(jar); err != nil {
		t.Fatalf("%v: run make deps", err)
	}
	c := exec.Command(installed(t, "java"), append([]string{"-jar", jar, "--format", "gnu", "--exit-zero-always", "--also-check-css"}, arguments...)...)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func mustGet(t *testing.T, address string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	return r
}

// TestValidHTML: every page, except those of administrators, is sent as valid HTML, and
// the stylesheet is valid.
func TestValidHTML(t *testing.T) {
	s := start(t, fixtures(""))
	dir := t.TempDir()
	keep := func(name, body string) {
		file := filepath.Join(dir, name+".html")
		require.NoFileExists(t, file)
		require.NoError(t, os.WriteFile(file, []byte(body), 0o600))
	}
	a := alice(t)
	elsewhere := a
	visited := visitedPages{}
	get := func(name, path string) answer {
		visited.add(t, path)
		page := send(t, a.client, mustGet(t, s.AppURL+path))
		require.Contains(t, page.Body, "</html>", name)
		keep(name, page.Body)
		return page
	}
	at, err := url.Parse(s.AppURL)
	require.NoError(t, err)
	request := func(client string, pairs ...string) string {
		return strings.TrimPrefix(authorizeURL(s, client, callback, pairs...), s.AppURL)
	}

	in := get("sign-in", "/auth/sign-in?to=/account&note=undone")
	keep("sign-in-again", a.submit(at, in, "password", "username", "alice", "password", "wrong").Body)
	get("sign-in-for-a-client", request("cal-app", "scope", "PROFILE_READ"))
	a.submit(at, in, "password", "username", "alice", "password", "correct horse")
	get("apps-none", "/connected-apps")
	consent := get("consent", request("cal-app", "scope", "PROFILE_READ BOOKING_WRITE TEAM_BOOKING_READ"))
	a.submit(at, consent, "decision", "decision", "allow")
	consent = get("consent-legacy", request("legacy-app"))
	a.submit(at, consent, "decision", "decision", "allow")
	get("home", "/")
	get("apps", "/connected-apps?q=app")
	get("app", "/connected-apps/cal-app")
	get("app-legacy", "/connected-apps/legacy-app")
	get("account", "/account")
	form := get("password", "/account/password")
	keep("password-problems", a.submit(at, form, "current", "new", "short").Body)
	get("error", request("pending-app"))
	get("not-found", "/nothing")
	for status, page := range map[int]answer{
		http.StatusForbidden:             a.submit(at, form, "current", "token", "another"),
		http.StatusRequestEntityTooLarge: a.submit(at, form, "current", "new", strings.Repeat("x", 70_000)),
		http.StatusTooManyRequests:       guess(t, s),
	} {
		require.Equal(t, status, page.Status)
		keep(strconv.Itoa(status), page.Body)
	}

	bob := newPerson(t, "bob", "battery staple")
	bob.submit(at, send(t, bob.client, mustGet(t, s.AppURL+"/auth/sign-in")), "password", "username", "bob", "password", "battery staple")
	a = bob
	get("developer", "/developer?q=app")
	form = get("developer-new", "/developer/new")
	keep("developer-new-problems", a.submit(at, form, "redirect_uris", "name", "", "redirect_uris", "http://x", "website", "x").Body)
	form = get("developer-edit", "/developer/clients/cal-app/edit")
	keep("developer-client-saved", a.submit(at, form, "redirect_uris", "name", "Renamed", "redirect_uris", "https://a.example/cb", "scopes", "PROFILE_WRITE").Body)
	get("developer-client", "/developer/clients/cal-app")
	get("developer-scopes", "/developer/clients/cal-app/scopes")
	get("developer-settings", "/developer/clients/legacy-app/settings")
	get("developer-history", "/developer/clients/cal-app/history")
	form = get("developer-edit-again", "/developer/clients/cal-app/edit")
	removal := a.submit(at, form, "redirect_uris", "name", "Renamed", "redirect_uris", "https://a.example/cb", "scopes", "PROFILE_READ")
	require.Contains(t, removal.Body, "Remove and save")
	keep("developer-edit-removal", removal.Body)
	form = get("developer-edit-public", "/developer/clients/native-app/edit")
	a.submit(at, form, "redirect_uris", "name", "Renamed", "redirect_uris", "http://127.0.0.1/cb", "scopes", "PROFILE_WRITE")
	admin := newPerson(t, "root", "administers it")
	admin.submit(at, send(t, admin.client, mustGet(t, s.AppURL+"/auth/sign-in")), "password", "username", "root", "password", "administers it")
	admin.submit(at, send(t, admin.client, mustGet(t, s.AppURL+"/admin/clients/native-app")), "verdict", "verdict", "reject", "reason", "No.")
	get("developer-client-refused", "/developer/clients/native-app")
	get("developer-scopes-refused", "/developer/clients/native-app/scopes")
	get("developer-edit-refused", "/developer/clients/native-app/edit?from=refused")
	require.Contains(t, get("developer-edit-after-refused", "/developer/clients/native-app/edit").Body, "from=refused")
	get("developer-secrets", "/developer/clients/cal-app/secrets")
	form = get("developer-secrets-one", "/developer/clients/pending-app/secrets")
	keep("developer-secret", a.submit(at, form, "sealed").Body)
	get("developer-secrets-public", "/developer/clients/native-app/secrets")
	form = get("developer-connect", "/developer/clients/cal-app/connect")
	keep("developer-decoded", a.submit(at, form, "jwt", "jwt", "e30.e30.x").Body)
	get("developer-errors", "/developer/clients/cal-app/errors?error_id=x")
	get("developer-users", "/developer/clients/cal-app/users")
	get("developer-users-found", "/developer/clients/cal-app/users?q=alice&after=x")
	form = get("developer-migration", "/developer/clients/legacy-app/migration")
	a.submit(at, form, "scopes", "scopes", "PROFILE_READ")
	form = get("developer-migration-preview", "/developer/clients/legacy-app/migration")
	keep("developer-migration-problem", a.submit(at, form, "selected").Body)
	form = get("developer-transfer", "/developer/clients/legacy-app/transfer")
	a.submit(at, form, "username", "username", "alice")
	get("developer-transfer-offered", "/developer/clients/legacy-app/transfer")
	get("developer-delete", "/developer/clients/legacy-app/delete")
	get("error-owner", strings.TrimPrefix(authorizeURL(s, "native-app", callback+"x"), s.AppURL))
	a = elsewhere
	get("developer-offers", "/developer/offers")
	get("developer-offer", "/developer/offers/legacy-app")
	get("developer-offered", "/developer")

	n := serve(t, freePort(t), callback, upstreamSettings("http://localhost:1")...)
	s = &n.server
	get("sign-in-elsewhere", "/auth/upstream/callback?error=access_denied")
	get("sign-in-elsewhere-not-begun", "/auth/upstream/callback/begin")
	get("confirm-elsewhere-signed-out", "/auth/upstream/callback/confirm")

	s, operator := startWithPublisher(t, fixtures(""), newPublisher(t, agentDocuments()))
	operator.OK("", "settings", "set", "agents=reviewed")
	a = signInWithoutBrowser(t, s, "alice", "correct horse")
	resp, err := a.client.Do(mustGet(t, agentRequest(s)))
	require.NoError(t, err)
	defer resp.Body.Close()
	waiting, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	visited.add(t, resp.Request.URL.Path) // the page that waits has an address of its own
	keep("agent-waiting", string(waiting))
	operator.OK("", "publisher", "add", "example.com", "--scope", "PROFILE_READ")
	keep("consent-agent", send(t, a.client, mustGet(t, agentRequest(s))).Body)
	require.Empty(t, slices.DeleteFunc(visited.missed(pageRoutes(t)), ofAdministrators), "pages that are not visited")

	parts, err := os.ReadFile(filepath.Join(root, "issuer", "web", "ui", "testdata", "golden", "specimen.html"))
	require.NoError(t, err)
	keep("parts", string(parts))
	pages, err := filepath.Glob(filepath.Join(dir, "*.html"))
	require.NoError(t, err)

	keep("bad", `<!DOCTYPE html><html lang="en"><title>x</title><p><ul></ul></p>`)
	bad := filepath.Join(dir, "bad.html")
	found := strings.Split(validate(t, append(pages, filepath.Join(root, "issuer", "web", "ui", "style.css"), bad)...), "\n")
	require.Contains(t, strings.Join(found, "\n"), bad, "the checker finds a fault")
	require.Empty(t, slices.DeleteFunc(found, func(line string) bool { return line == "" || strings.Contains(line, bad) }))
}
