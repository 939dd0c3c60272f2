package web_test

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
)

const disconnectPath = "/connected-apps/disconnect"

// allow completes the authorization step; pairs are as in with.
func (b *browser) allow(pairs ...string) {
	b.env.t.Helper()
	b.decide(b.get(at(with(good(), pairs...))), "allow").location(b.env.t, callback)
}

func TestConnectedApps(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	apps := b.get("/connected-apps")
	assert.Contains(t, apps.body, "<title>Connected apps · Mintmark</title>")
	assert.Contains(t, apps.body, "No application is connected")
	assert.NotContains(t, apps.body, "Disconnect")

	b.allow("scope", "BOOKING_READ")
	w.advance(24 * time.Hour)
	b = w.signedIn()
	b.allow("scope", "TEAM_BOOKING_READ BOOKING_WRITE")
	b.allow("client_id", "old", "scope", "")
	apps = b.get("/connected-apps")
	assert.Equal(t, 2, strings.Count(apps.body, `action="`+disconnectPath+`"`), "one entry for each application")
	for _, text := range []string{
		"2 applications can use your account", `<a href="/connected-apps/calendar"><bdi>The calendar app</bdi></a>`,
		`aria-label="Disconnect The calendar app"`, "2 permissions, 1 of them to change things",
		`First allowed on <time datetime="2026-03-05">5 March 2026</time>`, "Not used yet",
		`<span class="pill bad">Can do everything</span>`, "What “can do everything” means",
		"may keep working for up to 30 minutes", "doesn’t use your account for 30 days", "365 days after",
		"Disconnect all 2 applications",
	} {
		assert.Contains(t, apps.body, text)
	}
	assert.NotContains(t, apps.body, "3 permissions", "a code that was not exchanged has expired")

	w.client("calendar", func(c *ledger.ImportClient) { c.State = ledger.Suspended })
	apps = b.get("/connected-apps")
	assert.Contains(t, apps.body, `<span class="pill bad">Suspended</span></h2>`)
	w.advance(time.Hour)
	assert.Contains(t, b.get("/connected-apps").body, "No application is connected")
}

func TestConnectedApp(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	b.allow("scope", "BOOKING_READ BOOKING_WRITE TEAM_BOOKING_READ")
	b.allow("client_id", "old", "scope", "")
	page := b.get("/connected-apps/calendar")
	require.Equal(t, http.StatusOK, page.StatusCode)
	for _, text := range []string{
		"<h1><bdi>The calendar app</bdi></h1>", `<a href="https://calendar.example.com/about" rel="noreferrer nofollow">calendar.example.com</a>`,
		"See your bookings, who attends them", `<div>Confirm, decline and reassign your bookings, add guests and change where they take place.</div><span class="pill warn">Can change</span>`,
		"See your teams&#39; bookings.", "First allowed", "<dt>Last used</dt><dd>Not yet</dd>",
		"may keep working for up to 30 minutes", `<p class="up"><a href="/connected-apps"><bdi>Connected apps</bdi></a></p>`,
		`<a href="/connected-apps" aria-current="true">`,
	} {
		assert.Contains(t, page.body, text)
	}
	assert.NotContains(t, page.body, "everything")
	legacy := b.get("/connected-apps/old")
	assert.Contains(t, legacy.body, "This application can do everything that you can do.")
	assert.Contains(t, legacy.body, "made before applications asked for single permissions")
	assert.NotContains(t, legacy.body, "What you allowed")

	for _, id := range []string{"native", "nobody", "CALENDAR"} {
		assert.Equal(t, http.StatusNotFound, b.get("/connected-apps/"+id).StatusCode, id)
	}
	w.user("u-bob", "bob", "Bob")
	assert.Equal(t, http.StatusNotFound, w.signedInAs("bob").get("/connected-apps/calendar").StatusCode, "another user")

	w.lag()
	b.allow("client_id", "calendar")
	w.lagging = nil
	assert.Equal(t, http.StatusSeeOther, b.post(disconnectPath, page.form(t, disconnectPath)).StatusCode, "from its own page")
	assert.Equal(t, http.StatusNotFound, b.get("/connected-apps/calendar").StatusCode)
}

// TestConnectedAppOnALaggingNode verifies that a node that lags uses a fresh view before it
// responds 404.
func TestConnectedAppOnALaggingNode(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	w.lag()
	b.allow()
	assert.Equal(t, http.StatusOK, b.get("/connected-apps/calendar").StatusCode)
	w.noLeader = true
	assert.Equal(t, http.StatusServiceUnavailable, b.get("/connected-apps/calendar").StatusCode)
}

// TestConnectedAppsLastUsed uses an exchange, which the ledger decides.
func TestConnectedAppsLastUsed(t *testing.T) {
	w := newEnv(t)
	w.client("used", func(c *ledger.ImportClient) {
		c.Type, c.Profile.RedirectURIs = ledger.Public, []string{callback}
	})
	b := w.signedIn()
	b.allow("client_id", "used", "scope", "BOOKING_READ")
	g := w.grants()[0]
	w.advance(time.Minute)
	w.must(&ledger.AddKey{Key: ledger.Key{ID: "s1", Purpose: ledger.ForSigning, Algorithm: "ES256", Sealed: []byte{1}}})
	w.must(&ledger.Exchange{
		ClientAuth: ledger.ClientAuth{Client: "used"}, Credential: &ledger.CredentialRef{Grant: g.ID, Key: 1},
		Redirect: g.Redirect, Challenge: challenge,
	})
	w.advance(20 * 24 * time.Hour)
	b = w.signedIn()
	assert.Contains(t, b.get("/connected-apps").body, `Last used on <time datetime="2026-03-04">4 March 2026</time>`)
	assert.Contains(t, b.get("/connected-apps/used").body, `<time datetime="2026-03-04T12:01Z" data-exact>4 March 2026, 12:01 UTC</time>`)
	w.advance(10 * 24 * time.Hour)
	assert.Contains(t, w.signedIn().get("/connected-apps").body, "No application is connected", "after 30 days without use")
}

// TestConnectedAppsShared verifies that a shared grant is shown to the user, beside the
// button that ends it.
func TestConnectedAppsShared(t *testing.T) {
	w := newEnv(t)
	w.client("copied", func(c *ledger.ImportClient) {
		c.Type, c.Profile.RedirectURIs = ledger.Public, []string{callback}
	})
	b := w.signedIn()
	b.allow("client_id", "copied", "scope", "BOOKING_READ")
	g := w.grants()[0]
	w.must(&ledger.AddKey{Key: ledger.Key{ID: "s1", Purpose: ledger.ForSigning, Algorithm: "ES256", Sealed: []byte{1}}})
	proof := ledger.ClientAuth{Client: "copied"}
	w.must(&ledger.Exchange{ClientAuth: proof, Credential: &ledger.CredentialRef{Grant: g.ID, Key: 1}, Redirect: g.Redirect, Challenge: challenge})
	for generation := uint32(1); generation <= 3; generation++ {
		assert.NotContains(t, b.get("/connected-apps").body, "sharing one sign-in")
		for range 2 {
			w.must(&ledger.Refresh{ClientAuth: proof, Credential: &ledger.CredentialRef{Grant: g.ID, Generation: generation, Key: 1}})
		}
	}
	assert.Regexp(t, `(?s)<li>.*copied.*Two copies of this app are sharing one sign-in\..*<button class="small bad" aria-label="Disconnect [^"]*">Disconnect</button>.*</li>`, b.get("/connected-apps").body)
}

func TestDisconnect(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	b.allow()
	b.allow()
	form := b.get("/connected-apps").form(t, disconnectPath)
	require.Equal(t, "calendar", form.Get("client"))

	assert.Equal(t, http.StatusForbidden, b.post(disconnectPath, with(form, "client", "native")).StatusCode)
	form.Set("client", "calendar")
	w.noLeader = true
	assert.Equal(t, http.StatusServiceUnavailable, b.post(disconnectPath, form).StatusCode)
	w.noLeader = false
	assert.Len(t, w.grants(), 2)

	res := b.post(disconnectPath, form)
	assert.Equal(t, http.StatusSeeOther, res.StatusCode)
	assert.Empty(t, w.grants())
	after := b.get(res.Header.Get("Location"))
	assert.Contains(t, after.body, `class="callout good notice" role="status"`)
	assert.Contains(t, after.body, "was disconnected")
	assert.Contains(t, after.body, "No application is connected")
	assert.Equal(t, http.StatusSeeOther, b.post(disconnectPath, form).StatusCode, "the same form twice")

	w.do(&ledger.DeleteClient{Actor: ledger.Actor{Operator: true}, ID: "calendar"})
	assert.Equal(t, http.StatusSeeOther, b.post(disconnectPath, form).StatusCode)
	assert.NotContains(t, b.get(b.noticed("/connected-apps", "nonsense")).body, `class="callout good notice"`)
}

func TestDisconnectAll(t *testing.T) {
	w := newEnv(t)
	w.user("u-bob", "bob", "Bob")
	bob := w.signedInAs("bob")
	bob.allow()
	b := w.signedIn()
	b.allow()
	b.allow("client_id", "old", "scope", "")
	res := b.post("/connected-apps/disconnect-all", b.get("/connected-apps").form(t, "/connected-apps/disconnect-all"))
	assert.Contains(t, b.get(res.Header.Get("Location")).body, "All applications were disconnected.")
	assert.Empty(t, w.grants())
	assert.Contains(t, bob.get("/connected-apps").body, "The calendar app", "another user's applications must stay")
}

// TestConnectedAppsArePaged verifies paging and searching of a long list.
func TestConnectedAppsArePaged(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	for i := range 40 {
		id := fmt.Sprintf("a-client-with-a-rather-long-id-%02d", i)
		w.client(id, func(c *ledger.ImportClient) {
			c.Profile.Name = fmt.Sprintf("%02d %s", i, strings.Repeat("<&long name>", 6))
		})
		b.allow("client_id", id)
	}
	names := regexp.MustCompile(`<bdi>(\d\d) &lt;`)
	link := func(page answer, rel string) string {
		m := regexp.MustCompile(`<a class="button small" href="([^"]*)" rel="` + rel + `">`).FindStringSubmatch(page.body)
		if m == nil {
			return ""
		}
		return strings.ReplaceAll(m[1], "&amp;", "&")
	}
	seen := func(page answer) (list []string) {
		for _, m := range names.FindAllStringSubmatch(page.body, -1) {
			list = append(list, m[1])
		}
		return list
	}
	var all []string
	page := b.get(b.noticed("/connected-apps", "disconnected"))
	var last answer
	for n := 1; ; n++ {
		require.Equal(t, http.StatusOK, page.StatusCode)
		all = append(all, seen(page)...)
		last = page
		next := link(page, "next")
		if next == "" {
			break
		}
		assert.NotContains(t, next, "done")
		page = b.get(next)
		assert.Equal(t, n > 0, link(page, "prev") != "")
		require.Less(t, n, 10)
	}
	require.Len(t, all, 40)
	assert.IsIncreasing(t, all)
	for range 3 {
		last = b.get(link(last, "prev"))
	}
	assert.Equal(t, "00", seen(last)[0])
	assert.Empty(t, link(last, "prev"))
	assert.Equal(t, "00", seen(b.get("/connected-apps?after=gone"))[0], "after an unknown entry, the list begins again")

	found := b.get("/connected-apps?q=" + url.QueryEscape("7 <&LONG"))
	assert.Equal(t, []string{"07", "17", "27", "37"}, seen(found))
	assert.Contains(t, found.body, "4 applications with “<bdi>7 &lt;&amp;LONG</bdi>” in the name")
	none := b.get("/connected-apps?q=nothing+like+it")
	assert.Empty(t, seen(none))
	assert.Contains(t, none.body, "0 applications")
}
