package site_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

var rowHead = regexp.MustCompile(`<th scope="row">(.*?)</th>`)

// heads returns the row headings of a page's list.
func heads(page Answer) (list []string) {
	for _, m := range rowHead.FindAllStringSubmatch(page.Text, -1) {
		list = append(list, m[1])
	}
	return list
}

// leads returns the address of a link of a page, or "".
func leads(page Answer, rel string) string {
	m := regexp.MustCompile(`<a class="button small" href="([^"]*)" rel="` + rel + `">`).FindStringSubmatch(page.Text)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

// TestListsAreWalkedBothWays verifies that walking a list to its end and back gives the
// same pages.
func TestListsAreWalkedBothWays(t *testing.T) {
	t.Parallel()
	w, root := Administration(t)
	for i := range 60 {
		w.Advance(time.Second)
		w.Client(fmt.Sprintf("c%02d", i), func(c *ledger.ImportClient) { c.State = ledger.Pending })
		w.User(fmt.Sprintf("u-many-%02d", i), fmt.Sprintf("many-%02d", i), "")
	}
	ada := w.SignedIn()
	for _, list := range []struct {
		b    *Browser
		path string
		rows int
	}{
		{root, "/admin", 61},
		{root, "/admin?q=C", 60},
		{root, "/admin?q=c2&done=x", 10},
		{root, "/admin/clients", 66},
		{root, "/admin/clients?owner=u-ada&q=c&state=pending", 60},
		{root, "/admin/users", 64},
		{root, "/admin/users?q=many", 60},
		{root, "/admin/audit?kind=user.put", 0},
		{root, "/admin/audit", 0},
		{root, "/admin/audit?kind=client", 0},
		{ada, "/developer", 66},
		{ada, "/developer?q=c", 61},
	} {
		t.Run(list.path, func(t *testing.T) {
			get := func(address string) Answer {
				page := list.b.Get(address)
				require.Equal(t, http.StatusOK, page.StatusCode)
				return page
			}
			page := get(list.path)
			assert.Empty(t, leads(page, "prev"))
			assert.NotContains(t, page.Text, ">First</a>")
			var there [][]string
			for {
				there = append(there, heads(page))
				next := leads(page, "next")
				if next == "" {
					break
				}
				assert.NotContains(t, next, "done")
				page = get(next)
				assert.Contains(t, page.Text, ">First</a>")
				require.Less(t, len(there), 20)
			}
			if list.rows > 0 {
				assert.Len(t, slices.Concat(there...), list.rows)
			}
			for i := len(there) - 2; i >= 0; i-- {
				page = get(leads(page, "prev"))
				assert.Equal(t, there[i], heads(page), "page %d, backwards", i)
				assert.NotEmpty(t, leads(page, "next"))
			}
			assert.Empty(t, leads(page, "prev"), "the first page has no previous one")
			assert.NotContains(t, page.Text, ">First</a>")
		})
	}

	first := heads(root.Get("/admin/users"))
	for _, odd := range []string{"before=nobody", "after=nobody", "before=", "before=u-ada", "before=u-many-01&after=u-many-30"} {
		assert.Equal(t, first, heads(root.Get("/admin/users?"+odd)), odd)
	}
	newest := heads(root.Get("/admin/audit"))
	for _, odd := range []string{"before=x", "after=x", "before=-1", "before=99999999999999999999", "before=18446744073709551615"} {
		assert.Equal(t, newest, heads(root.Get("/admin/audit?"+odd)), odd)
	}
}

// TestPreviousPageOfAListThatGrows verifies that new entries before the current page
// don't shift the way back.
func TestPreviousPageOfAListThatGrows(t *testing.T) {
	w, root := Administration(t)
	for i := range 60 {
		w.User(fmt.Sprintf("u-many-%02d", i), fmt.Sprintf("many-%02d", i), "")
	}
	third := root.Get(leads(root.Get(leads(root.Get("/admin/users"), "next")), "next"))
	for i := range 5 {
		w.User(fmt.Sprintf("u-a%d", i), fmt.Sprintf("a%d", i), "")
	}
	second := root.Get(leads(third, "prev"))
	assert.Len(t, heads(second), 25)
	assert.Contains(t, second.Text, ">First</a>")
	assert.Equal(t, heads(third), heads(root.Get(leads(second, "next"))))
	first := root.Get(leads(root.Get(leads(second, "prev")), "prev"))
	assert.Empty(t, leads(first, "prev"))
	assert.Contains(t, first.Text, ">a0<", "the first page must be complete")
	assert.Len(t, heads(first), 25)
}
