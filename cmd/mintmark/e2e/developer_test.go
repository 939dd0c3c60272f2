package e2e

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// A journey is the life of one application in browsers: alice's, who creates it, and an
// administrator's. Programs are run with the lines that the pages show.
type journey struct {
	t       *testing.T
	s       *server
	app     *application
	scripts bool
	b, root *tab

	id, home string
	lines    []string // to copy from "How to connect"
	secret   string
	tokens   map[string]any
}

// TestBrowserDeveloper: a user creates an application and goes through all of its pages,
// with JavaScript and without (service document, sections 2.1, 3, 4.1, 4.5, 5.2 and 5.4).
// Only the pages are used.
func TestBrowserDeveloper(t *testing.T) {
	for _, mode := range []struct {
		name    string
		scripts bool
	}{{"scripts on", true}, {"scripts off", false}} {
		t.Run(mode.name, func(t *testing.T) {
			app := startApplication(t)
			j := &journey{t: t, s: start(t, fixtures("")), app: app, scripts: mode.scripts}
			j.b, j.root = j.person("alice", "correct horse"), j.person("root", "administers it")
			j.register()
			j.review()
			j.firstSecret()
			j.connect()
			j.stage()
			j.rotate()
			j.disconnect()
			j.transfer()
		})
	}
}

// person signs a user in, in a new window.
func (j *journey) person(name, password string) *tab {
	b := newTab(j.t)
	b.scripts(j.scripts)
	b.open(j.s.AppURL + "/auth/sign-in")
	b.signIn(name, password)
	return b
}

// asks returns an authorization request of the application.
func (j *journey) asks(pairs ...string) string {
	return authorizeURL(j.s, j.id, j.app.uri, pairs...)
}

func (j *journey) register() {
	t, b := j.t, j.b
	// "Created by a developer in the developer settings of the web application."
	b.press(`nav[aria-label="Main"] a[href="/developer"]`)
	require.Contains(t, b.text("main"), "You have no applications yet")
	b.press(`main a[href="/developer/new"]`)
	b.do(chromedp.Click(chromedp.CSS(`input[value="confidential"]`)))
	b.fill("name", "Trip Planner")
	b.fill("purpose", "Puts your trips into your calendar.")
	b.fill(`redirect_uris\.0`, j.app.uri)
	b.upload("logo", logoFile(t, 64))
	b.press("main button.primary")
	// "At least one is required at creation."
	require.Contains(t, b.text("[role=alert]"), "Choose at least one scope.")
	require.Contains(t, b.text("[role=alert]"), "Logo has to be chosen again")
	b.upload("logo", logoFile(t, 64))
	b.choose("PROFILE_READ", "BOOKING_READ")
	b.press("main button.primary")
	// "The developer creates a client, selects at least one scope and registers redirect URIs (up to 10)."
	require.Contains(t, b.text("[role=status]"), "The application was registered.")
	require.NotEmpty(t, b.attribute("img.avatar", "src"))
	j.home, _, _ = strings.Cut(b.location(), "?done=created.")
	j.id = j.home[strings.LastIndex(j.home, "/")+1:]
	// "Public identifier of the client."
	require.Equal(t, j.id, b.text("#client-id"))
}

// review reviews a new application: rejected, edited, approved.
func (j *journey) review() {
	t, b, root := j.t, j.b, j.root
	request := j.asks("scope", "PROFILE_READ")
	// "(a new client; administrator review is required before use)"
	require.Equal(t, "Waiting for review", b.text(".head .pill"))
	unusable := func() {
		t.Helper()
		b.open(request)
		require.Equal(t, "Trip Planner is waiting for review", b.text("h1"))
	}
	// "cannot be used until a service administrator has reviewed it."
	unusable()
	j.judge("reject", "Say what it does with bookings.")
	require.Equal(t, "Rejected", root.text(".head .pill"))
	b.open(request)
	require.Equal(t, "Trip Planner was not approved", b.text("h1"))
	b.open(j.home)
	require.Contains(t, b.text("main .callout.warn"), "Say what it does with bookings.")

	b.press(`main .callout a[href$="/edit"]`)
	b.fill("purpose", kb.End+" It reads your bookings.")
	b.press("main button.primary")
	require.Contains(t, b.text("[role=status]"), "sent for review again")
	unusable()
	j.judge("approve", "")
	require.Contains(t, root.text("#history"), "Say what it does with bookings.", "the history of reviews")
	b.open(j.home)
	// "The client is `pending` until reviewed by an administrator."
	require.Equal(t, "Approved", b.text(".head .pill"))
}

// judge makes the administrator find the application in the queue, and decide.
func (j *journey) judge(verdict, reason string) {
	j.t.Helper()
	j.root.open(j.s.AppURL + "/")
	j.root.press(`nav[aria-label="Main"] a[href="/admin"]`)
	j.root.press(`main table a[href="/admin/clients/` + j.id + `"]`)
	if reason != "" {
		j.root.fill("reason", reason)
	}
	j.root.press(`button[value="` + verdict + `"]`)
	require.Contains(j.t, j.root.text("[role=status]"), map[string]string{"approve": "Approved", "reject": "Rejected"}[verdict])
}

// firstSecret generates a secret, which only the page after the form shows.
func (j *journey) firstSecret() {
	t, b := j.t, j.b
	// "Done in the developer settings of the web application, not through an API endpoint."
	b.press(`.tabs a[href$="/secrets"]`)
	require.Contains(t, b.text("main"), "so that nobody else can ask in its name.")
	j.secret = j.generate()
	_, err := chromedp.RunResponse(b.ctx, chromedp.Reload())
	require.NoError(t, err)
	require.Equal(t, j.secret, b.text("#secret"), "the form is sent again")
	b.press("main a.primary")
	require.Equal(t, j.home, b.location())
	b.press(`.tabs a[href$="/secrets"]`)
	// "| client secret | Confidential value."
	require.NotContains(t, b.text("body"), j.secret)
	require.Contains(t, b.text("table"), "••••"+j.secret[len(j.secret)-4:])
}

// generate generates a secret on the page of secrets.
func (j *journey) generate() string {
	j.t.Helper()
	j.b.press(`main form[action$="/secrets/add"] button`)
	secret := j.b.text("#secret")
	require.Regexp(j.t, `^mms_.{43}$`, secret)
	return secret
}

// connect authorizes, exchanges, uses and refreshes.
func (j *journey) connect() {
	t, b := j.t, j.b
	b.open(j.home)
	b.press(`.tabs a[href$="/connect"]`)
	j.lines = b.connectLines()
	// "Sent as `client_id`."
	require.Contains(t, j.lines[0], "client_id="+j.id)
	got := j.allow("BOOKING_READ PROFILE_READ")
	// "compares `state` with the value it sent."
	require.Contains(t, j.lines[0], "&state="+got.Get("state"))
	// "The application exchanges the code (4.2) and uses the access token."
	j.tokens = pasted(t, j.lines[1], "CODE="+got.Get("code"), "MINTMARK_CLIENT_SECRET="+j.secret)
	require.Equal(t, "BOOKING_READ PROFILE_READ", j.tokens["scope"], j.tokens)
	j.requireAccess("alice")
	// "When the access token has expired (1800 seconds), the application refreshes (4.3)."
	require.EqualValues(t, 1800, j.tokens["expires_in"])
	require.Nil(t, j.refresh(j.secret)["error"])
	j.requireAccess("alice")
	// "API paths carry the version prefix `/v2`."
	require.Contains(t, j.lines[1], "/v2/auth/oauth2/token")
}

// allow opens the authorization URL of the pages, and clicks Allow.
func (j *journey) allow(scopes string) url.Values {
	j.t.Helper()
	// "The application sends the user to the authorization step (4.1) with the needed scopes."
	j.b.open(j.lines[0])
	require.Contains(j.t, j.b.text("h1"), "Trip Planner")
	require.Equal(j.t, len(strings.Fields(scopes)), j.b.count("main details .perms li"))
	j.b.press(`button[value="allow"]`)
	return j.app.answer(j.t)
}

// requireAccess uses the access token with the lines of the pages.
func (j *journey) requireAccess(who string) {
	j.t.Helper()
	me := pasted(j.t, j.lines[2], "ACCESS_TOKEN="+j.tokens["access_token"].(string))
	require.Equal(j.t, "success", me["status"], me)
	require.Equal(j.t, who, me["data"].(map[string]any)["username"])
}

// refresh refreshes with the lines of the pages. A success returns new tokens.
func (j *journey) refresh(secret string) map[string]any {
	j.t.Helper()
	answer := pasted(j.t, j.lines[3], "REFRESH_TOKEN="+j.tokens["refresh_token"].(string), "MINTMARK_CLIENT_SECRET="+secret)
	if answer["error"] == nil {
		j.tokens = answer
	}
	return answer
}

// stage edits an approved application: it works unchanged while its developer and the
// administrator see the difference, until that is decided.
func (j *journey) stage() {
	t, b, root := j.t, j.b, j.root
	edit := func(purpose string) {
		b.open(j.home + "/edit")
		b.fill("purpose", kb.End+purpose)
	}
	edit(" It sells them.")
	b.choose("BOOKING_WRITE")
	// "| redirect URIs | Up to 10 per client. |"
	require.Equal(t, 10, b.count(`input[name="redirect_uris"]`))
	for i := 1; i < 10; i++ {
		b.addLine()
		b.fill(`redirect_uris\.`+strconv.Itoa(i), "https://trips.example.com/"+strconv.Itoa(i))
	}
	b.press("main button.primary")
	require.Contains(t, b.text("[role=status]"), "the application works as before")
	different := func(one *tab) {
		t.Helper()
		difference := one.text("section:has(ins)")
		for _, part := range []string{"Before: Puts your trips", "It sells them.", "Adds: https://trips.example.com/9", "Adds: BOOKING_WRITE"} {
			require.Contains(t, difference, part)
		}
		require.Equal(t, 11, one.count("main ins"), "the purpose, nine addresses, a scope")
		require.Equal(t, 1, one.count("main del"))
	}
	different(b)
	writes := j.asks("scope", "BOOKING_WRITE")
	b.open(authorizeURL(j.s, j.id, "https://trips.example.com/9", "scope", "PROFILE_READ"))
	require.Contains(t, b.text(`section[aria-labelledby="owner"]`), "Submitted just now.")
	b.open(writes)
	// "Must be a subset of the scopes enabled on the client."
	require.Equal(t, "invalid_scope", j.app.answer(t).Get("error"))
	require.Nil(t, j.refresh(j.secret)["error"])

	root.open(j.s.AppURL + "/admin")
	require.Contains(t, root.text("main table"), "purpose, redirect URIs, scopes")
	root.press(`main table a[href="/admin/clients/` + j.id + `"]`)
	different(root)
	j.judge("reject", "It must not sell anything.")
	b.open(j.home)
	require.Equal(t, "Approved", b.text(".head .pill"))
	require.Contains(t, b.text("main .callout.warn"), "It must not sell anything.")
	require.Equal(t, 1, b.count(`main .callout a[href$="/edit?from=refused"]`))
	b.open(j.home + "/scopes")
	require.Contains(t, b.text("#refused"), "It must not sell anything.")
	different(b)
	b.press(`form[action$="/discard"] button`)
	require.Contains(t, b.text("[role=status]"), "The rejected changes were dismissed.")
	require.Zero(t, b.count("ins"))

	edit(" It gives them away.")
	b.choose("BOOKING_WRITE")
	b.press("main button.primary")
	j.judge("reject", "Nor give them away.")
	b.open(j.home + "/scopes")
	b.press(`main a[href$="/edit?from=refused"]`)
	require.Contains(t, b.text("main .callout.warn"), "Nor give them away.")
	require.Contains(t, b.value("#f-purpose"), "It gives them away.")
	b.fill("purpose", kb.End+" It moves them.")
	b.press("main button.primary")
	require.Contains(t, b.text("#proposed"), "Adds: BOOKING_WRITE")
	require.Zero(t, b.count("#refused"))
	j.judge("approve", "")
	b.open(j.home + "/scopes")
	require.Contains(t, b.text("main"), "It moves them.")
	b.open(writes)
	require.Contains(t, b.text(".perms"), "Confirm, decline")
	b.press(`button[value="cancel"]`)
	require.Equal(t, "access_denied", j.app.answer(t).Get("error"))
}

// rotate changes to a new secret (section 5.4), and looks up why the old one is refused.
func (j *journey) rotate() {
	t, b := j.t, j.b
	b.open(j.home + "/secrets")
	next := j.generate()
	// "Generating a new secret in the client settings leaves the old secret working."
	require.Nil(t, j.refresh(j.secret)["error"])
	// "The application is switched to use the new secret in exchange and refresh requests."
	require.Nil(t, j.refresh(next)["error"])
	b.press(`main a[href$="/secrets"]`)
	// "Up to 2 secrets are active at a time."
	require.Contains(t, b.text("main"), "revoke one first.")
	// "At most 2 secrets are active at the same time."
	require.Zero(t, b.count(`main form[action$="/secrets/add"]`))
	b.do(chromedp.Click(chromedp.CSS("tbody tr:nth-child(2) summary.bad")))
	require.Contains(t, b.text("tbody tr:nth-child(2) .confirm[open]"), "It was used a moment ago.")
	before := j.tokens
	b.press("tbody tr:nth-child(2) button.bad")
	require.Contains(t, b.text("[role=status]"), " was revoked.")
	// "Revoking the old secret in the settings takes effect immediately."
	refused := j.refresh(j.secret)
	require.Equal(t, "invalid_client", refused["error"])
	// "Existing access and refresh tokens stay valid after rotation."
	require.Equal(t, before, j.tokens)
	j.requireAccess("alice")
	require.Nil(t, j.refresh(next)["error"])
	j.secret = next

	b.open(j.home + "/errors")
	require.Contains(t, b.text("table"), "the client_secret was revoked.")
	b.do(chromedp.SendKeys(chromedp.CSS("#error_id"), refused["error_id"].(string)))
	b.press("main form.filter button")
	require.Contains(t, b.text("#why"), "The client_secret was revoked.")
	b.open(strings.Replace(j.lines[0], url.QueryEscape(j.app.uri), url.QueryEscape(j.app.uri+"/"), 1))
	require.Equal(t, "/", b.text("mark"))
}

// disconnect shows the application's users, until they disconnect it.
func (j *journey) disconnect() {
	t, b := j.t, j.b
	b.open(j.home + "/users")
	require.Contains(t, b.text("table"), "u-alice")
	b.open(j.s.AppURL + "/connected-apps")
	b.confirm("/connected-apps/disconnect")
	require.Equal(t, "invalid_grant", j.refresh(j.secret)["error"])
}

// transfer transfers the application to another user, who deletes it.
func (j *journey) transfer() {
	t, b := j.t, j.b
	b.open(j.home + "/transfer")
	b.fill("username", "bob")
	b.press("main button.primary")
	bob := j.person("bob", "battery staple")
	bob.open(j.home)
	require.Equal(t, "Page not found", bob.text("h1"))
	bob.open(j.s.AppURL + "/developer")
	bob.press(`#offers a`)
	require.Equal(t, "Take over Trip Planner?", bob.text("h1"))
	bob.press("main button.primary")
	require.Equal(t, "Trip Planner", bob.text("h1"))
	b.open(j.home)
	require.Equal(t, "Page not found", b.text("h1"))
	bob.press(`.tabs a[href$="/settings"]`)
	bob.press(`main a[href$="/delete"]`)
	bob.fill("name", "Trip")
	bob.press("main button.bad")
	require.Contains(t, bob.text("#f-name-error"), "That isn’t the name.")
	bob.fill("name", kb.End+" Planner")
	bob.press("main button.bad")
	require.Contains(t, bob.text("[role=status]"), " was deleted.")
	require.NotContains(t, bob.text("table"), "Trip Planner")
}
