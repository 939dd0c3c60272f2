package account_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

const disconnectPath = "/connected-apps/disconnect"

func TestConnectedApps(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	apps := b.Get("/connected-apps")
	assert.Contains(t, apps.Text, "<title>Connected apps · Mintmark</title>")
	assert.Contains(t, apps.Text, "No app is connected")
	assert.NotContains(t, apps.Text, "Disconnect")

	b.Allow("scope", "BOOKING_READ")
	w.Advance(24 * time.Hour)
	b = w.SignedIn()
	b.Allow("scope", "TEAM_BOOKING_READ BOOKING_WRITE")
	b.Allow("client_id", "old", "scope", "")
	apps = b.Get("/connected-apps")
	assert.Equal(t, 2, strings.Count(apps.Text, `action="`+disconnectPath+`"`), "one entry for each application")
	for _, text := range []string{
		"2 apps are connected to your account.", `<a href="/connected-apps/calendar"><bdi>The calendar app</bdi></a>`,
		`<summary class="button small bad">Disconnect<span class="unseen"> The calendar app</span></summary>`,
		"<b>Disconnect The calendar app?</b> It can get no new access from now on. What it has ends within 30 minutes.",
		"By <bdi>Ada Lovelace</bdi> · Not used yet", `<p><span class="pill">Bookings</span> </p>`,
		`<span class="pill bad">Can do everything</span>`, "It can do everything that you can do. It asks you again, for less",
		"They keep what they have copied.", "Apps unused for 30 days are disconnected automatically.",
		"<b>Disconnect all 2 apps?</b> Each can get no new access from now on. What it has ends within 30 minutes.",
	} {
		assert.Contains(t, apps.Text, text)
	}

	w.Client("calendar", func(c *ledger.ImportClient) { c.State = ledger.Suspended })
	apps = b.Get("/connected-apps")
	assert.Contains(t, apps.Text, `<span class="pill">Suspended</span></h2>`)
	w.Advance(time.Hour)
	assert.Contains(t, b.Get("/connected-apps").Text, "No app is connected")
}

func TestConnectedApp(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	b.Allow("scope", "BOOKING_READ BOOKING_WRITE TEAM_BOOKING_READ")
	b.Allow("client_id", "old", "scope", "")
	page := b.Get("/connected-apps/calendar")
	require.Equal(t, http.StatusOK, page.StatusCode)
	for _, text := range []string{
		"<h1><bdi>The calendar app</bdi></h1>", `<a href="https://calendar.example.com/about" rel="noreferrer nofollow">calendar.example.com</a>`,
		"See your bookings, who attends them", `<div>Confirm, decline and reassign your bookings, add guests and change where they take place.</div><span class="pill warn">Can change</span>`,
		"See your teams’ bookings.", "<h2 id=\"permissions-title\">Views 1 kind of data, changes 1</h2>", "Show the exact permissions (3)", "First allowed", "<dt>Last used</dt><dd>Not yet</dd>",
		"What it has ends within 30 minutes", "or after 30 days without use", `<p class="up"><a href="/connected-apps"><bdi>Connected apps</bdi></a></p>`,
		`<a href="/connected-apps" aria-current="true">`,
	} {
		assert.Contains(t, page.Text, text)
	}
	assert.NotContains(t, page.Text, "everything")
	legacy := b.Get("/connected-apps/old")
	assert.Contains(t, legacy.Text, "This app can do everything that you can do")
	assert.Contains(t, legacy.Text, "made before apps could ask for less")
	assert.NotContains(t, legacy.Text, "What you allowed")

	for _, id := range []string{"native", "nobody", "CALENDAR"} {
		assert.Equal(t, http.StatusNotFound, b.Get("/connected-apps/"+id).StatusCode, id)
	}
	w.User("u-bob", "bob", "Bob")
	assert.Equal(t, http.StatusNotFound, w.SignedInAs("bob").Get("/connected-apps/calendar").StatusCode, "another user")

	w.Lag()
	b.Allow("client_id", "calendar")
	w.Lagging = nil
	assert.Equal(t, http.StatusSeeOther, b.Post(disconnectPath, page.Form(t, disconnectPath)).StatusCode, "from its own page")
	assert.Equal(t, http.StatusNotFound, b.Get("/connected-apps/calendar").StatusCode)
}

// TestConnectedAppOnALaggingNode verifies that a node that lags uses a fresh view before it
// responds 404.
func TestConnectedAppOnALaggingNode(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	w.Lag()
	b.Allow()
	assert.Equal(t, http.StatusOK, b.Get("/connected-apps/calendar").StatusCode)
	w.NoLeader = true
	assert.Equal(t, http.StatusServiceUnavailable, b.Get("/connected-apps/calendar").StatusCode)
}

// TestConnectedAppsLastUsed uses an exchange, which the ledger decides.
func TestConnectedAppsLastUsed(t *testing.T) {
	w := NewEnv(t)
	w.Client("used", func(c *ledger.ImportClient) {
		c.Type, c.Profile.RedirectURIs = ledger.Public, []string{Callback}
	})
	b := w.SignedIn()
	b.Allow("client_id", "used", "scope", "BOOKING_READ")
	g := w.Grants()[0]
	w.Advance(time.Minute)
	w.Must(&ledger.AddKey{Key: ledger.Key{ID: "s1", Purpose: ledger.ForSigning, Algorithm: "ES256", Sealed: []byte{1}}})
	w.Must(&ledger.Exchange{
		ClientAuth: ledger.ClientAuth{Client: "used"}, Credential: &ledger.CredentialRef{Grant: g.ID, Key: 1},
		Redirect: g.Redirect, Challenge: Challenge,
	})
	w.Advance(20 * 24 * time.Hour)
	b = w.SignedIn()
	assert.Contains(t, b.Get("/connected-apps").Text, `Last used <time datetime="2026-03-04T12:01:00Z" title="4 March 2026, 12:01 UTC">4 March 2026</time>`)
	assert.Contains(t, b.Get("/connected-apps/used").Text, `<time datetime="2026-03-04T12:01:00Z" data-exact>4 March 2026, 12:01 UTC</time>`)
	w.Advance(10 * 24 * time.Hour)
	assert.Contains(t, w.SignedIn().Get("/connected-apps").Text, "No app is connected", "after 30 days without use")
}

// TestConnectedAppsShared verifies that a shared grant is shown to the user, beside the
// button that ends it.
func TestConnectedAppsShared(t *testing.T) {
	w := NewEnv(t)
	w.Client("copied", func(c *ledger.ImportClient) {
		c.Type, c.Profile.RedirectURIs = ledger.Public, []string{Callback}
	})
	b := w.SignedIn()
	b.Allow("client_id", "copied", "scope", "BOOKING_READ")
	g := w.Grants()[0]
	w.Must(&ledger.AddKey{Key: ledger.Key{ID: "s1", Purpose: ledger.ForSigning, Algorithm: "ES256", Sealed: []byte{1}}})
	proof := ledger.ClientAuth{Client: "copied"}
	w.Must(&ledger.Exchange{ClientAuth: proof, Credential: &ledger.CredentialRef{Grant: g.ID, Key: 1}, Redirect: g.Redirect, Challenge: Challenge})
	for generation := uint32(1); generation <= 3; generation++ {
		assert.NotContains(t, b.Get("/connected-apps").Text, "share one sign-in")
		for range 2 {
			w.Must(&ledger.Refresh{ClientAuth: proof, Credential: &ledger.CredentialRef{Grant: g.ID, Generation: generation, Key: 1}})
		}
	}
	assert.Regexp(t, `(?s)<li>.*copied.*Two copies of this app share one sign-in\..*<button class="bad">Disconnect</button>.*</li>`, b.Get("/connected-apps").Text)
}

func TestDisconnect(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	b.Allow()
	b.Allow()
	form := b.Get("/connected-apps").Form(t, disconnectPath)
	require.Equal(t, "calendar", form.Get("client"))

	assert.Equal(t, http.StatusForbidden, b.Post(disconnectPath, With(form, "client", "native")).StatusCode)
	form.Set("client", "calendar")
	w.NoLeader = true
	assert.Equal(t, http.StatusServiceUnavailable, b.Post(disconnectPath, form).StatusCode)
	w.NoLeader = false
	assert.Len(t, w.Grants(), 2)

	res := b.Post(disconnectPath, form)
	assert.Equal(t, http.StatusSeeOther, res.StatusCode)
	assert.Empty(t, w.Grants())
	after := b.Get(res.Header.Get("Location"))
	assert.Contains(t, after.Text, `class="callout good notice" role="status"`)
	assert.Contains(t, after.Text, "<p>The calendar app was disconnected. It can get no new access.")
	assert.Contains(t, after.Text, "No app is connected")
	assert.Equal(t, http.StatusSeeOther, b.Post(disconnectPath, form).StatusCode, "the same form twice")

	w.Do(&ledger.DeleteClient{Actor: ledger.Actor{Operator: true}, ID: "calendar"})
	assert.Equal(t, http.StatusSeeOther, b.Post(disconnectPath, form).StatusCode)
	assert.NotContains(t, b.Get(b.Noticed("/connected-apps", "nonsense")).Text, `class="callout good notice"`)
}

func TestDisconnectAll(t *testing.T) {
	w := NewEnv(t)
	w.User("u-bob", "bob", "Bob")
	bob := w.SignedInAs("bob")
	bob.Allow()
	b := w.SignedIn()
	b.Allow()
	b.Allow("client_id", "old", "scope", "")
	res := b.Post("/connected-apps/disconnect-all", b.Get("/connected-apps").Form(t, "/connected-apps/disconnect-all"))
	assert.Contains(t, b.Get(res.Header.Get("Location")).Text, "All apps were disconnected.")
	assert.Empty(t, w.Grants())
	assert.Contains(t, bob.Get("/connected-apps").Text, "The calendar app", "another user's applications must stay")
}

// TestConnectedAppsArePaged verifies paging and searching of a long list.
func TestConnectedAppsArePaged(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	for i := range 40 {
		id := fmt.Sprintf("a-client-with-a-rather-long-id-%02d", i)
		w.Client(id, func(c *ledger.ImportClient) {
			c.Profile.Name = fmt.Sprintf("%02d %s", i, strings.Repeat("<&long name>", 6))
		})
		b.Allow("client_id", id)
	}
	names := regexp.MustCompile(`<bdi>(\d\d) &lt;`)
	link := func(page Answer, rel string) string {
		m := regexp.MustCompile(`<a class="button small" href="([^"]*)" rel="` + rel + `">`).FindStringSubmatch(page.Text)
		if m == nil {
			return ""
		}
		return strings.ReplaceAll(m[1], "&amp;", "&")
	}
	seen := func(page Answer) (list []string) {
		for _, m := range names.FindAllStringSubmatch(page.Text, -1) {
			list = append(list, m[1])
		}
		return list
	}
	var all []string
	page := b.Get(b.Noticed("/connected-apps", "disconnected"))
	var last Answer
	for n := 1; ; n++ {
		require.Equal(t, http.StatusOK, page.StatusCode)
		all = append(all, seen(page)...)
		last = page
		next := link(page, "next")
		if next == "" {
			break
		}
		assert.NotContains(t, next, "done")
		page = b.Get(next)
		assert.Equal(t, n > 0, link(page, "prev") != "")
		require.Less(t, n, 10)
	}
	require.Len(t, all, 40)
	assert.IsIncreasing(t, all)
	for range 3 {
		last = b.Get(link(last, "prev"))
	}
	assert.Equal(t, "00", seen(last)[0])
	assert.Empty(t, link(last, "prev"))
	assert.Equal(t, "00", seen(b.Get("/connected-apps?after=gone"))[0], "after an unknown entry, the list begins again")

	found := b.Get("/connected-apps?q=" + url.QueryEscape("7 <&LONG"))
	assert.Equal(t, []string{"07", "17", "27", "37"}, seen(found))
	assert.Contains(t, found.Text, "4 apps with “<bdi>7 &lt;&amp;LONG</bdi>” in the name")
	none := b.Get("/connected-apps?q=nothing+like+it")
	assert.Empty(t, seen(none))
	assert.Contains(t, none.Text, "0 apps")
}

// TestAppThatIsNotConnected verifies that the page of an application names it to a user who has
// disconnected it, and to nobody else.
func TestAppThatIsNotConnected(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	b.Allow("scope", "BOOKING_READ")
	b.Submit("/connected-apps", disconnectPath)
	page := b.Get("/connected-apps/calendar")
	assert.Equal(t, http.StatusNotFound, page.StatusCode)
	assert.Contains(t, page.Text, "The calendar app isn’t connected")
	assert.Contains(t, page.Text, `<a class="button primary" href="/connected-apps">Connected apps</a>`)
	w.User("u-bob", "bob", "Bob")
	assert.NotContains(t, w.SignedInAs("bob").Get("/connected-apps/calendar").Text, "calendar app")
	w.Must(&ledger.DeleteClient{Actor: ledger.Actor{Operator: true}, ID: "calendar"})
	assert.NotContains(t, b.Get("/connected-apps/calendar").Text, "calendar app")
}
