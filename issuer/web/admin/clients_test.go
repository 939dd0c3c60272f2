package admin_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestAdminClientsOfAnOwner verifies that the search finds the applications of a user by the whole
// username, whatever its case, beside those that have the text in their names.
func TestAdminClientsOfAnOwner(t *testing.T) {
	w, root := Administration(t)
	w.User("u-bob", "bob", "Bob Builder")
	w.Client("first", func(c *ledger.ImportClient) { c.Owner = "u-bob" })
	w.Client("second", func(c *ledger.ImportClient) { c.Owner = "u-bob" })
	w.Client("bobsled", nil)
	for query, want := range map[string][]string{
		"bob":         {"The bobsled app", "The first app", "The second app"},
		"BOB":         {"The bobsled app", "The first app", "The second app"},
		"bo":          {"The bobsled app"}, // a part of the username would name who owns what
		"bob builder": nil,
	} {
		page := root.Get("/admin/clients?" + url.Values{"q": {query}}.Encode()).Text
		var found []string
		for _, name := range []string{"The bobsled app", "The calendar app", "The first app", "The second app"} {
			if strings.Contains(page, "<bdi>"+name+"</bdi>") {
				found = append(found, name)
			}
		}
		assert.Equal(t, want, found, query)
	}
}
