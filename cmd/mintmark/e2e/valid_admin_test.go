package e2e

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestValidAdministration: the pages of administrators are valid HTML, including those
// with errors.
func TestValidAdministration(t *testing.T) {
	s, operator := startWithPublisher(t, fixtures("")+`  - {id: fake-app, name: MINTMARK, owner: bob, type: public, redirect_uris: ["https://a.example/"], scopes: [PROFILE_READ]}
  - {id: fake-two, name: Mintmark, owner: bob, type: public, redirect_uris: ["https://a.example/"], scopes: [PROFILE_READ], state: pending}
`+resourceServers, newPublisher(t, agentDocuments()))
	operator.OK("", "settings", "set", "agents=reviewed")
	send(t, signInWithoutBrowser(t, s, "alice", "correct horse").client, mustGet(t, agentRequest(s)))
	dir := t.TempDir()
	var pages []string
	keep := func(page answer) answer {
		require.Contains(t, page.Body, "</html>")
		file := filepath.Join(dir, strconv.Itoa(len(pages))+".html")
		require.NoError(t, os.WriteFile(file, []byte(page.Body), 0o600))
		pages = append(pages, file)
		return page
	}
	root := newPerson(t, "root", "administers it")
	at, err := url.Parse(s.AppURL)
	require.NoError(t, err)
	visited := visitedPages{}
	get := func(path string) answer {
		visited.add(t, path)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.AppURL+path, nil)
		require.NoError(t, err)
		return send(t, root.client, r)
	}
	root.submit(at, get("/auth/sign-in"), "password", "username", root.name, "password", root.password)
	for _, path := range []string{
		"", "?q=app", "?q=nothing&before=x", "/clients?q=a&state=approved&owner=u-bob", "/clients/cal-app", "/clients/legacy-app", "/clients/fake-two", "/users?only=administrators",
		"/users/u-alice", "/users/u-root", "/resource-servers", "/resource-servers?q=nothing", "/resource-servers/calendar", "/publishers", "/publishers/local", "/publishers?q=none",
		"/publishers/example.com", "/publishers/local/edit", "/audit", "/audit?from=yesterday&user=alice",
	} {
		keep(get("/admin" + path))
	}
	keep(root.submit(at, keep(get("/admin/clients/pending-app")), "verdict", "verdict", "reject"))
	keep(root.submit(at, keep(get("/admin/clients/cal-app/suspend")), "reason", "reason", strings.Repeat("x", 501)))
	keep(root.submit(at, keep(get("/admin/clients/cal-app/transfer")), "username", "username", "nobody"))
	keep(root.submit(at, keep(get("/admin/new-user")), "username", "username", "a b"))
	keep(root.submit(at, keep(get("/admin/users/u-alice/password")), "password", "password", "short"))
	keep(root.submit(at, keep(get("/admin/users/u-alice/edit")), "username", "username", "a b", "avatar_url", "x"))
	keep(root.submit(at, keep(get("/admin/new-resource-server")), "id", "id", "x", "name", "a b"))
	keep(root.submit(at, keep(get("/admin/resource-servers/bookings/edit")), "scopes", "name", "a b"))
	keep(root.submit(at, keep(get("/admin/resource-servers/bookings/remove")), "name", "name", "x"))
	keep(root.submit(at, keep(get("/admin/resource-servers/bookings")), "sealed"))
	keep(get("/admin/resource-servers/bookings"))
	require.Contains(t, keep(root.submit(at, keep(get("/admin/branding")), "accent", "accent", "blue")).Body, "Accent color must")
	form := keep(get("/admin/publishers/example.com/edit"))
	keep(root.submit(at, form, "scopes", "name", strings.Repeat("x", 81), "max_clients", "x"))
	root.submit(at, form, "scopes", "scopes", "PROFILE_READ")
	keep(get("/admin/publishers/example.com"))
	for _, end := range []string{"revoke", "reject", "remove"} {
		keep(root.submit(at, keep(get("/admin/publishers/example.com/"+end)), "expected_last", "reason", strings.Repeat("x", 501)))
	}
	keep(root.submit(at, keep(get("/admin/new-publisher?host=claude.ai")), "scopes", "host", "x y"))
	keep(get("/account"))
	require.Empty(t, validate(t, pages...))
	missed := visited.missed(pageRoutes(t))
	require.False(t, slices.ContainsFunc(missed, ofAdministrators), missed)
}

// ofAdministrators reports whether a page is for administrators.
func ofAdministrators(pattern string) bool {
	return pattern == "/admin" || strings.HasPrefix(pattern, "/admin/")
}
