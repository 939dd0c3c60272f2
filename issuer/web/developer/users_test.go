package developer_test

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/developer"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

func TestConnectedUsers(t *testing.T) {
	w, b := Mine(t, nil)
	path := MinePath + "/users"
	assert.Contains(t, b.Get("/developer/clients/calendar/users").Text, "Nobody is connected yet")
	for i := range 30 {
		name := fmt.Sprintf("person-%02d", i)
		w.User("u-"+name, name, "A <name> of somebody")
		p := w.SignedInAs(name)
		p.Allow("client_id", "mine")
		p.Allow("client_id", "mine")
	}
	page := b.Get(path)
	for _, text := range []string{
		`<p class="quiet">30 connected</p>`, "1–25 of 30", "<code>u-person-00</code>",
		`<td data-name="Last refreshed">Never refreshed</td>`, `<span class="quiet">Username not shared</span>`,
		`<a class="button small" href="` + path + `?after=u-person-24" rel="next">`,
	} {
		assert.Contains(t, page.Text, text)
	}
	assert.NotContains(t, page.Text, "of somebody", "a user name was shown without permission")
	assert.NotContains(t, page.Text, "u-person-29", "a page has 25 users")
	rest := b.Get(path + "?after=u-person-24")
	assert.Contains(t, rest.Text, "u-person-29")
	assert.NotContains(t, rest.Text, "u-person-24")
	assert.Contains(t, rest.Text, `<a class="button small" href="`+path+`" rel="prev">`)

	w.Must(&ledger.PutUser{ID: "u-root", Username: "root", Password: PasswordHash(), Admin: true})
	root := w.SignedInAs("root").Get(path)
	assert.Contains(t, root.Text, `<p class="value">30</p>`)
	assert.NotContains(t, root.Text, "u-person", "an administrator must see the number only")
	assert.NotContains(t, root.Text, `name="q"`)
	assert.NotContains(t, w.SignedInAs("root").Get(path+"?q=u-person-07").Text, "<code>u-person", "an administrator must not find users")
	assert.Contains(t, root.Text, `<a href="/admin/clients/mine">`)
}

// TestConnectedUsersAreFound verifies that users are found by what the application may
// know of them.
func TestConnectedUsersAreFound(t *testing.T) {
	w, b := Mine(t, func(c *ledger.ImportClient) { c.Profile.Scopes = []string{"BOOKING_READ", "PROFILE_READ"} })
	for name, scope := range map[string]string{"zoe": "BOOKING_READ", "zelda": "PROFILE_READ", "zack": "PROFILE_READ BOOKING_READ"} {
		w.User("u-"+name[:3], name, "A <name> of somebody")
		w.SignedInAs(name).Allow("client_id", "mine", "scope", scope)
	}
	found := func(query string) (list []string) {
		page := b.Get(MinePath + "/users?q=" + query)
		require.Equal(t, http.StatusOK, page.StatusCode)
		for _, m := range regexp.MustCompile(`class="quiet"><code>([^<]*)</code>`).FindAllStringSubmatch(page.Text, -1) {
			list = append(list, m[1])
		}
		return list
	}
	page := b.Get(MinePath + "/users")
	assert.Contains(t, page.Text, `<b><bdi>zelda</bdi></b>`)
	assert.NotContains(t, page.Text, "<bdi>zoe", "a hidden user name")
	for query, want := range map[string][]string{
		"": {"u-zac", "u-zel", "u-zoe"}, "U-Z": {"u-zac", "u-zel", "u-zoe"}, "u-zoe": {"u-zoe"},
		"ZELD": {"u-zel"}, "zack": {"u-zac"}, "ZACK": {"u-zac"},
		"zoe": {"u-zoe"}, "zo": {"u-zoe"}, // found by the id
		"u-ada": nil, "ada": nil, "root": nil,
	} {
		assert.Equal(t, want, found(query), query)
	}
	w.User("u-9", "yves", "")
	w.SignedInAs("yves").Allow("client_id", "mine", "scope", "BOOKING_READ")
	developer.Forget(w.Web.Developer)
	assert.Empty(t, found("yves"), "a hidden user name must find nobody")
	assert.Equal(t, []string{"u-9"}, found("u-9"))
	assert.Contains(t, b.Get(MinePath+"/users?q=yves").Text, "Nobody matches “yves”")
}

// TestConnectedUsersOfALongList verifies that the list has those with the latest
// refreshes, and that others are found by account ID.
func TestConnectedUsersOfALongList(t *testing.T) {
	w, b := Mine(t, nil)
	for _, name := range []string{"adam", "zoe"} {
		w.User("u-"+name, name, "")
		w.SignedInAs(name).Allow("client_id", "mine")
	}
	path := MinePath + "/users"
	require.Contains(t, b.Get(path).Text, "<code>u-zoe</code>")
	developer.TruncateList(w.Web.Developer, 1)
	page := b.Get(path)
	assert.NotContains(t, page.Text, "<code>u-zoe</code>")
	assert.Contains(t, page.Text, "<code>u-adam</code>")
	assert.Contains(t, page.Text, "The list ends after the 1 who")
	assert.Contains(t, b.Get(path+"?q=u-zoe").Text, "<code>u-zoe</code>")
}

// TestConnectedUsersOfAMillion verifies that the page doesn't wait for a long walk.
func TestConnectedUsersOfAMillion(t *testing.T) {
	w, b := Mine(t, nil)
	done := developer.Walk(w.Web.Developer)
	assert.Contains(t, b.Get(MinePath+"/users").Text, "They are being counted.")
	done()
	require.Eventually(t, func() bool { return developer.Counted(w.Web.Developer, "mine") }, 5*time.Second, time.Millisecond)
	assert.Contains(t, b.Get(MinePath+"/users").Text, "Nobody is connected yet")
}
