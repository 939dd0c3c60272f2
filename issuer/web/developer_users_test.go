package web_test

import (
	"fmt"
	"net/http"
	"regexp"
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
	assert.Contains(t, b.get("/developer/clients/calendar/users").body, `<p class="value">0</p>`)
	for i := range 30 {
		name := fmt.Sprintf("person-%02d", i)
		w.user("u-"+name, name, "A <name> of somebody")
		p := w.signedInAs(name)
		p.allow("client_id", "mine")
		p.allow("client_id", "mine")
	}
	page := b.get(path)
	for _, text := range []string{
		`<p class="value">30</p>`, `<p class="value">60</p>`, "<code>u-person-00</code>",
		`<td data-name="Last refreshed">Never</td>`, `<td data-name="Username"><span class="quiet">Not told</span></td>`,
		`<a class="button small" href="` + path + `?after=u-person-24" rel="next">`,
	} {
		assert.Contains(t, page.body, text)
	}
	assert.NotContains(t, page.body, "of somebody", "a user name was shown without permission")
	assert.NotContains(t, page.body, "u-person-29", "a page has 25 users")
	rest := b.get(path + "?after=u-person-24")
	assert.Contains(t, rest.body, "u-person-29")
	assert.NotContains(t, rest.body, "u-person-24")
	assert.Contains(t, rest.body, `<a class="button small" href="`+path+`" rel="prev">`)

	w.must(&ledger.PutUser{ID: "u-root", Username: "root", Password: passwordHash(), Admin: true})
	root := w.signedInAs("root").get(path)
	assert.Contains(t, root.body, `<p class="value">30</p>`)
	assert.NotContains(t, root.body, "u-person", "an administrator must see the number only")
	assert.NotContains(t, root.body, `name="q"`)
	assert.NotContains(t, w.signedInAs("root").get(path+"?q=u-person-07").body, "<code>u-person", "an administrator must not find users")
	assert.Contains(t, root.body, `<a href="/admin/clients/mine">`)

	w.signedInAs("person-00").allow("client_id", "mine")
	assert.Contains(t, b.get(path).body, `<p class="value">60</p>`, "the number must be kept for a while")
}

// TestConnectedUsersAreFound verifies that users are found by what the application may
// know of them.
func TestConnectedUsersAreFound(t *testing.T) {
	w, b := mine(t, func(c *ledger.ImportClient) { c.Profile.Scopes = []string{"BOOKING_READ", "PROFILE_READ"} })
	for name, scope := range map[string]string{"zoe": "BOOKING_READ", "zelda": "PROFILE_READ", "zack": "PROFILE_READ BOOKING_READ"} {
		w.user("u-"+name[:3], name, "A <name> of somebody")
		w.signedInAs(name).allow("client_id", "mine", "scope", scope)
	}
	found := func(query string) (list []string) {
		page := b.get(minePath + "/users?q=" + query)
		require.Equal(t, http.StatusOK, page.StatusCode)
		for _, m := range regexp.MustCompile(`<th scope="row"><code>([^<]*)</code>`).FindAllStringSubmatch(page.body, -1) {
			list = append(list, m[1])
		}
		return list
	}
	page := b.get(minePath + "/users")
	assert.Contains(t, page.body, `<td data-name="Username"><bdi>zelda</bdi></td>`)
	assert.NotContains(t, page.body, "<bdi>zoe", "a hidden user name")
	for query, want := range map[string][]string{
		"": {"u-zac", "u-zel", "u-zoe"}, "U-Z": {"u-zac", "u-zel", "u-zoe"}, "u-zoe": {"u-zoe"},
		"ZELD": {"u-zel"}, "zack": {"u-zac"}, "ZACK": {"u-zac"},
		"zoe": {"u-zoe"}, "zo": {"u-zoe"}, // found by the id
		"u-ada": nil, "ada": nil, "root": nil,
	} {
		assert.Equal(t, want, found(query), query)
	}
	w.user("u-9", "yves", "")
	w.signedInAs("yves").allow("client_id", "mine", "scope", "BOOKING_READ")
	web.Forget(w.web)
	assert.Empty(t, found("yves"), "a hidden user name must find nobody")
	assert.Equal(t, []string{"u-9"}, found("u-9"))
	assert.Contains(t, b.get(minePath+"/users?q=yves").body, "Nobody was found")
}

// TestConnectedUsersOfALongList verifies that the list has those with the latest
// refreshes, and that others are found by account ID.
func TestConnectedUsersOfALongList(t *testing.T) {
	w, b := mine(t, nil)
	for _, name := range []string{"adam", "zoe"} {
		w.user("u-"+name, name, "")
		w.signedInAs(name).allow("client_id", "mine")
	}
	path := minePath + "/users"
	require.Contains(t, b.get(path).body, "<code>u-zoe</code>")
	web.TruncateList(w.web, "mine", 1)
	page := b.get(path)
	assert.NotContains(t, page.body, "<code>u-zoe</code>")
	assert.Contains(t, page.body, "<code>u-adam</code>")
	assert.Contains(t, page.body, "The list ends after the 1 who")
	assert.Contains(t, b.get(path+"?q=u-zoe").body, "<code>u-zoe</code>")
}

// TestConnectedUsersOfAMillion verifies that the page doesn't wait for a long walk.
func TestConnectedUsersOfAMillion(t *testing.T) {
	w, b := mine(t, nil)
	done := web.Walk(w.web)
	assert.Contains(t, b.get(minePath+"/users").body, "They are being counted.")
	done()
	require.Eventually(t, func() bool { return web.Counted(w.web, "mine") }, 5*time.Second, time.Millisecond)
	assert.Contains(t, b.get(minePath+"/users").body, `<p class="value">0</p>`)
	assert.Equal(t, 100, web.CountMany(w.web, w.View(), 150), "the number of counters must be limited")
}
