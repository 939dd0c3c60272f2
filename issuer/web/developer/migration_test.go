package developer_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

const migrationPath = "/developer/clients/old/migration"

// keeping returns the form that keeps a selection of scopes.
func keeping(b *Browser, scopes ...string) url.Values {
	form := b.Get(migrationPath).Form(b.Env.T, migrationPath+"/draft")
	form["scopes"] = scopes
	return form
}

// TestMigration follows the right order: the authorization URL gets its scope, and once
// all requests have a scope, the same scopes are selected (service document, section 9).
func TestMigration(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	assert.Contains(t, b.Get("/developer/clients/old").Text, `href="/developer/clients/old/migration">Move to scopes</a>`)
	page := b.Get(migrationPath)
	for _, text := range []string{"Move it in two steps, in this order.", "<dd><b>0</b><svg", "Save and show the new URL"} {
		assert.Contains(t, page.Text, text)
	}
	assert.Contains(t, page.Text, "After step 1.")

	b.Allow("client_id", "old", "scope", "")
	lastIs := func(after time.Duration, says string) {
		t.Helper()
		w.Advance(after)
		assert.Contains(t, w.SignedIn().Get(migrationPath).Text, says)
	}
	const first = `</b>, the last %s, on <time datetime="2026-03-04">4 March 2026</time><svg`
	lastIs(0, fmt.Sprintf(first, "today"))
	lastIs(12*time.Hour, fmt.Sprintf(first, "yesterday")) // the request was at noon
	lastIs(24*time.Hour, fmt.Sprintf(first, "2 days ago"))
	w.SignedIn().Allow("client_id", "old", "scope", "BOOKING_READ")
	lastIs(0, fmt.Sprintf(first, "2 days ago"))
	lastIs(30*24*time.Hour, fmt.Sprintf(first, "32 days ago"))
	b = w.SignedIn()
	b.Allow("client_id", "old", "scope", "BOOKING_READ PROFILE_READ")
	page = b.Get(migrationPath)
	assert.Contains(t, page.Text, ", for <code>BOOKING_READ</code> <code>PROFILE_READ</code><svg")
	assert.Contains(t, page.Text, `value="PROFILE_READ" checked`, "requested scopes must be preselected")

	preview := b.Follow(b.Post(migrationPath+"/draft", keeping(b, "PROFILE_READ", "ORG_BOOKING_READ", "NONSENSE")))
	for _, text := range []string{
		"Step 2", "&amp;scope=PROFILE_READ%20ORG_BOOKING_READ<br>", "?client_id=old<br>", "&amp;redirect_uri=" + url.QueryEscape(Callback) + "<br>",
		"<dt>Selected and asked for</dt><dd><code>PROFILE_READ</code> </dd>",
		"<dt>Selected, not asked for so far</dt><dd><code>ORG_BOOKING_READ</code> </dd>",
		"<dt>Asked for, not selected</dt><dd><code>BOOKING_READ</code> <span class=\"quiet\">– refused after step 2</span></dd>",
		"Limit to 2 scopes",
	} {
		assert.Contains(t, preview.Text, text)
	}
	assert.NotContains(t, preview.Text, "NONSENSE")
	assert.NotContains(t, preview.Text, "I know that requests without scope will be refused", "there are no requests without scope")
	assert.True(t, w.View().Client("old").Legacy, "the draft changed the client")
	assert.Contains(t, w.SignedIn().Get(migrationPath).Text, "Limit to 2 scopes", "the selection must survive the session")

	form := preview.Form(t, migrationPath)
	assert.Equal(t, http.StatusForbidden, b.Post(migrationPath, With(preview.Form(t, migrationPath), "selected", "BOOKING_WRITE")).StatusCode)
	res := b.Post(migrationPath, form)
	after := b.Follow(res)
	assert.Contains(t, after.Text, "The application is limited to these scopes.")
	assert.Contains(t, after.Text, "This application has moved to scopes.")
	client := w.View().Client("old")
	assert.False(t, client.Legacy)
	assert.Equal(t, []string{"PROFILE_READ", "ORG_BOOKING_READ"}, client.Scopes)
	assert.Nil(t, client.Proposed, "the selection needs no review")
	state := w.Index
	assert.Equal(t, res.Header.Get("Location"), b.Post(migrationPath, form).Header.Get("Location"), "the same form twice")
	assert.Equal(t, state, w.Index)

	refused := b.Get(At(With(Good(), "client_id", "old", "scope", ""))).Location(t, Callback)
	assert.Equal(t, "invalid_scope", refused.Get("error"))
}

// TestMigrationInTheWrongOrder verifies that the wrong order needs a confirmation.
func TestMigrationInTheWrongOrder(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	for range 3 {
		b.Allow("client_id", "old", "scope", "")
	}
	preview := b.Follow(b.Post(migrationPath+"/draft", keeping(b, "PROFILE_READ")))
	assert.Contains(t, preview.Text, `aria-label="Requests without scope in 30 days: 3, most on 4 March 2026 (3), none in 29 days."`)
	assert.Contains(t, preview.Text, "After this, people who follow such a link meet an error.")
	form := preview.Form(t, migrationPath)
	res := b.Post(migrationPath, form)
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.Text, `<a href="#f-confirm">Confirm that requests without scope will be refused: some still come.</a>`)
	assert.True(t, w.View().Client("old").Legacy)
	assert.Equal(t, form, res.Form(t, migrationPath))
	assert.Equal(t, http.StatusSeeOther, b.Post(migrationPath, With(form, "confirm", "yes")).StatusCode)
	assert.Equal(t, []string{"PROFILE_READ"}, w.View().Client("old").Scopes)
	assert.Contains(t, b.Get("/connected-apps/old").Text, "everything", "existing grants must stay")
}

// TestMigrationMeetsALateRequest verifies that a request without scope that arrives while
// the page is open requires the confirmation too.
func TestMigrationMeetsALateRequest(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	form := b.Follow(b.Post(migrationPath+"/draft", keeping(b, "PROFILE_READ"))).Form(t, migrationPath)
	b.Allow("client_id", "old", "scope", "")
	res := b.Post(migrationPath, form)
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.Text, "I know that requests without scope will be refused")
}

// TestMigrationIsForLegacyClients verifies that only a legacy client has the page, and
// that its edit page has no scopes, so that nobody migrates by accident.
func TestMigrationIsForLegacyClients(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	assert.Equal(t, http.StatusNotFound, b.Get("/developer/clients/calendar/migration").StatusCode)
	const edit = "/developer/clients/old/edit"
	page := b.Get(edit)
	assert.NotContains(t, page.Text, `name="scopes"`)
	form := page.Form(t, edit)
	for name, list := range ProfileOf("The old app", Callback+"/2", "BOOKING_READ") {
		form[name] = list
	}
	form.Add("redirect_uris", Callback)
	require.Equal(t, http.StatusSeeOther, b.Post(edit, form).StatusCode)
	client := w.View().Client("old")
	assert.True(t, client.Legacy)
	assert.Equal(t, Callback+"/2", client.Proposed.RedirectURIs[0])

	// A proposed revision stays pending when scopes are selected.
	b.Follow(b.Post(migrationPath+"/draft", keeping(b, "BOOKING_READ")))
	b.Follow(b.Submit(migrationPath, migrationPath))
	client = w.View().Client("old")
	assert.Equal(t, []string{"BOOKING_READ"}, client.Scopes)
	assert.Equal(t, Callback+"/2", client.Proposed.RedirectURIs[0])
}
