package web_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

func TestConnectedUsers(t *testing.T) {
	w, b := mine(t, nil)
	path := minePath + "/users"
	assert.Contains(t, b.get("/developer/clients/calendar/users").body, "0 people are connected")
	for i := range 30 {
		name := fmt.Sprintf("person-%02d", i)
		w.user("u-"+name, name, "A <name> of somebody")
		p := w.signedInAs(name)
		p.allow("client_id", "mine")
		p.allow("client_id", "mine")
	}
	page := b.get(path)
	for _, text := range []string{
		"30 people are connected to this application.", "<dt>Grants</dt><dd>60 ", "<code>u-person-00</code>",
		`<td data-name="Last refreshed">Never</td>`,
	} {
		assert.Contains(t, page.body, text)
	}
	assert.NotContains(t, page.body, "of somebody", "a name is told only to whom it was allowed")
	assert.NotContains(t, page.body, "u-person-29", "25 of them are named")

	w.must(&ledger.PutUser{ID: "u-root", Username: "root", Password: passwordHash(), Admin: true})
	root := w.signedInAs("root").get(path)
	assert.Contains(t, root.body, "30 people are connected")
	assert.NotContains(t, root.body, "u-person", "an administrator is told how many")
	assert.Contains(t, root.body, `<a href="/admin/clients/mine">`)

	w.signedInAs("person-00").allow("client_id", "mine")
	assert.Contains(t, b.get(path).body, "<dt>Grants</dt><dd>60 ", "a number is kept for a while")
}

// While a walk is under way the page says so, and does not wait.
func TestConnectedUsersOfAMillion(t *testing.T) {
	w, b := mine(t, nil)
	done := web.Walk(w.web)
	assert.Contains(t, b.get(minePath+"/users").body, "They are being counted.")
	done()
	require.Eventually(t, func() bool { return web.Counted(w.web, "mine") }, 5*time.Second, time.Millisecond)
	assert.Contains(t, b.get(minePath+"/users").body, "0 people")
	assert.Equal(t, 100, web.CountMany(w.web, w.View(), 150), "memory is bounded")
}
