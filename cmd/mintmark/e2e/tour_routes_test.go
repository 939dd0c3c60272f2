package e2e

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// notPages are the addresses of the routes that show no page.
var notPages = map[string]string{
	"/assets/:name":      "the stylesheet and the icon",
	"/logos/:digest":     "pictures of applications",
	"/feed/:address":     "an Atom feed: see TestBrowserFeed",
	"/admin/audit.jsonl": "a file: see TestBrowserDownload",

	"/admin/branding/draft.css": "the colors of a preview",
}

var matrixRow = regexp.MustCompile(`route: "GET (/[^"]*)"`)

// pageRoutes returns the addresses of all pages, as patterns. The matrix of issuer/web
// has a row for each route, which a test there verifies.
func pageRoutes(t testing.TB) (list []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "issuer", "web", "matrix_*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range matrixRow.FindAllStringSubmatch(string(text), -1) {
			if _, file := notPages[m[1]]; !file {
				list = append(list, m[1])
			}
		}
	}
	require.Greater(t, len(list), 25)
	return list
}

// visitedPages are the addresses that a tour has visited.
type visitedPages map[string]bool

func (v visitedPages) add(t testing.TB, address string) {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	v[u.Path] = true
}

// missed returns the patterns that were not visited.
func (v visitedPages) missed(patterns []string) (list []string) {
	for _, pattern := range patterns {
		seen := false
		for path := range v {
			seen = seen || matches(pattern, path)
		}
		if !seen {
			list = append(list, pattern)
		}
	}
	return list
}

// matches reports whether a path matches a pattern, in which a part that begins with a
// colon matches anything.
func matches(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i, part := range want {
		if part != got[i] && !strings.HasPrefix(part, ":") {
			return false
		}
	}
	return true
}

// TestVisitedPages: a page that a tour has not visited is found.
func TestVisitedPages(t *testing.T) {
	v := visitedPages{}
	v.add(t, "http://127.0.0.1/admin/clients?q=a")
	v.add(t, "http://127.0.0.1/admin/clients/cal-app/transfer")
	require.Equal(t, []string{"/", "/admin/clients/:id", "/admin/:what/cal-app"},
		v.missed([]string{"/", "/admin/clients", "/admin/clients/:id", "/admin/:what/cal-app", "/admin/clients/:id/transfer"}))
}
