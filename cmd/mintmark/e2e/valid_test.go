package e2e

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// validate is what the validator of the W3C's HTML checker says of files; ""
// where it finds nothing.
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

// TestValidHTML: every page is valid as it is sent, and so is the stylesheet.
func TestValidHTML(t *testing.T) {
	s := start(t, fixtures(""))
	dir := t.TempDir()
	keep := func(name, body string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".html"), []byte(body), 0o600))
	}
	a := alice(t)
	get := func(name, path string) answer {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.AppURL+path, nil)
		require.NoError(t, err)
		page := send(t, a.client, r)
		require.Contains(t, page.body, "</html>", name)
		keep(name, page.body)
		return page
	}
	at, err := url.Parse(s.AppURL)
	require.NoError(t, err)
	request := func(client string, pairs ...string) string {
		return strings.TrimPrefix(authorizeURL(s, client, callback, pairs...), s.AppURL)
	}

	in := get("sign-in", "/auth/sign-in?to=/account&note=undone")
	keep("sign-in-again", a.submit(at, in, "password", "username", "alice", "password", "wrong").body)
	get("sign-in-for-a-client", request("cal-app", "scope", "PROFILE_READ"))
	a.submit(at, in, "password", "username", "alice", "password", "correct horse")
	get("apps-none", "/connected-apps")
	consent := get("consent", request("cal-app", "scope", "PROFILE_READ BOOKING_WRITE TEAM_BOOKING_READ"))
	a.submit(at, consent, "decision", "decision", "allow")
	consent = get("consent-legacy", request("legacy-app"))
	a.submit(at, consent, "decision", "decision", "allow")
	get("home", "/")
	get("apps", "/connected-apps?done=disconnected&q=app")
	get("app", "/connected-apps/cal-app")
	get("app-legacy", "/connected-apps/legacy-app")
	get("account", "/account?done=password")
	form := get("password", "/account/password")
	keep("password-problems", a.submit(at, form, "current", "new", "short").body)
	get("error", request("pending-app"))
	get("not-found", "/nothing")

	parts, err := os.ReadFile(filepath.Join(root, "issuer", "web", "testdata", "specimen.golden.html"))
	require.NoError(t, err)
	keep("parts", string(parts))
	pages, err := filepath.Glob(filepath.Join(dir, "*.html"))
	require.NoError(t, err)
	require.Len(t, pages, 16)

	keep("bad", `<!DOCTYPE html><html lang="en"><title>x</title><p><ul></ul></p>`)
	bad := filepath.Join(dir, "bad.html")
	found := strings.Split(validate(t, append(pages, filepath.Join(root, "issuer", "web", "style.css"), bad)...), "\n")
	require.Contains(t, strings.Join(found, "\n"), bad, "a page with a fault is found")
	require.Empty(t, slices.DeleteFunc(found, func(line string) bool { return line == "" || strings.Contains(line, bad) }))
}
