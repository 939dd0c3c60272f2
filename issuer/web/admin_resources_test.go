package web_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

const (
	resourcesPage   = "/admin/resource-servers"
	newResourcePage = "/admin/new-resource-server"

	apiURI   = "https://api.example"
	apiPage  = resourcesPage + "/api"
	aboutAPI = "api\x00" + apiURI + "\x00" // begins what a form's token is bound to
)

// resource registers a resource server with secrets.
func (w *env) resource(name string, secrets ...string) {
	w.t.Helper()
	id := "https://" + name + ".example"
	w.must(&ledger.PutResourceServer{Actor: operator, ID: id, Name: name})
	for _, s := range secrets {
		w.must(&ledger.AddResourceSecret{Actor: operator, Resource: id, Secret: w.secret(s)})
	}
}

func (w *env) resourceRow(id string) *ledger.ResourceServer {
	return ledger.At(w.memory.View()).ResourceServer(id)
}

// readerWith returns why a resource server is refused with a secret, or NoCause.
func (w *env) readerWith(id, secret string) ledger.Cause {
	_, cause, _ := ledger.At(w.memory.View()).AuthenticateFeedReader(ledger.ClientAuth{
		Client: id, Secret: true, Digests: []ledger.Digest{{Key: 1, MAC: credential.Digest(mac("secret key"), secret)}},
	})
	return cause
}

// filled is with, of a copy.
func filled(form url.Values, pairs ...string) url.Values { return with(maps.Clone(form), pairs...) }

func TestAdminResources(t *testing.T) {
	w, root := administration(t)
	assert.Contains(t, root.get(resourcesPage).body, "There are no resource servers yet")
	assert.Contains(t, root.get("/admin").body, `<a href="/admin/resource-servers">`)
	for i := range 30 {
		w.resource(fmt.Sprintf("api%02d", i))
	}
	w.must(&ledger.PutResourceServer{Actor: operator, ID: "https://zoo.example", Name: "Zoo"})
	first := root.get(resourcesPage)
	assert.Equal(t, 25, strings.Count(first.body, `<th scope="row">`))
	assert.Contains(t, first.body, `<a class="button small" href="/admin/resource-servers?after=api24" rel="next">`)
	second := root.get(resourcesPage + "?after=api24")
	assert.Equal(t, 6, strings.Count(second.body, `<th scope="row">`))
	assert.Contains(t, second.body, `<a href="/admin/resource-servers/Zoo">Zoo</a>`)
	for query, want := range map[string]int{"zoo": 1, "API07": 1, "https://API2": 10, "nothing": 0} {
		found := root.get(resourcesPage + "?q=" + url.QueryEscape(query))
		assert.Equal(t, want, strings.Count(found.body, `<th scope="row">`), query)
	}
	assert.Equal(t, http.StatusOK, root.get(resourcesPage+"/zoo").StatusCode, "names ignore case")
	assert.Equal(t, http.StatusNotFound, root.get(resourcesPage+"/nothing").StatusCode)
}

func TestRegisterResource(t *testing.T) {
	w, root := administration(t)
	form := root.get(newResourcePage).form(t, newResourcePage)
	for name, test := range map[string]struct {
		fields []string
		says   string
	}{
		"nothing":      {nil, "Identifier URI is missing."},
		"plain http":   {[]string{"id", "http://api.example", "name", "api"}, "Identifier URI must be https"},
		"no canonical": {[]string{"id", "https://API.example", "name", "api"}, "Identifier URI must be written as https://api.example"},
		"spaces":       {[]string{"id", apiURI, "name", "two words"}, "Name may hold letters, digits"},
		"dots":         {[]string{"id", apiURI, "name", ".."}, "Name needs a character beside dots"},
		"unknown":      {[]string{"id", apiURI, "name", "api", "scopes", "NONE"}, "The selection of scopes has one that does not exist."},
	} {
		res := root.post(newResourcePage, filled(form, test.fields...))
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, name)
		assert.Contains(t, res.body, test.says, name)
	}
	assert.Nil(t, w.resourceRow(apiURI))

	right := filled(form, "id", " "+apiURI+" ", "name", "api", "scopes", "BOOKING_READ")
	res := root.post(newResourcePage, right)
	page := root.follow(res)
	assert.Contains(t, page.body, "The resource server was registered.")
	assert.Contains(t, page.body, apiURI)
	assert.Contains(t, page.body, "<code>BOOKING_READ</code>")
	index := w.index
	assert.Equal(t, res.Header.Get("Location"), root.post(newResourcePage, right).Header.Get("Location"), "the same form twice")
	assert.Equal(t, index, w.index)

	res = root.post(newResourcePage, filled(right, "name", "other"))
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.body, "Identifier URI is taken.")
	assert.Contains(t, res.body, `value="BOOKING_READ" checked`)
	res = root.post(newResourcePage, filled(right, "id", "https://second.example", "name", "API"))
	assert.Contains(t, res.body, "Name is taken.")
}

func TestEditResource(t *testing.T) {
	w, root := administration(t)
	w.resource("api", "s_1")
	w.resource("other")
	edit := apiPage + "/edit"
	form := with(root.get(edit).form(t, edit), "name", "api")
	assert.Contains(t, root.follow(root.post(edit, form)).body, "There was nothing to change.")

	changed := filled(form, "name", "bookings", "scopes", "BOOKING_READ")
	res := root.post(edit, changed)
	page := root.follow(res)
	assert.Contains(t, page.body, "Saved.")
	assert.Contains(t, page.body, "<h1><bdi>bookings</bdi></h1>")
	assert.Equal(t, []string{"BOOKING_READ"}, w.resourceRow(apiURI).Scopes)
	assert.Equal(t, 1, w.resourceRow(apiURI).ActiveSecrets())
	assert.Equal(t, res.Header.Get("Location"), root.post(edit, changed).Header.Get("Location"), "the same form twice")

	stale := root.post(edit, filled(form, "name", "mine"))
	assert.Equal(t, http.StatusConflict, stale.StatusCode)
	assert.Contains(t, stale.body, "Something changed while the page was open")
	assert.Contains(t, stale.body, `value="mine"`)
	again := resourcesPage + "/bookings/edit"
	taken := root.post(again, filled(stale.form(t, again), "name", "OTHER"))
	assert.Contains(t, taken.body, "Name is taken.")
	assert.Contains(t, root.follow(root.post(again, with(taken.form(t, again), "name", "mine"))).body, "Saved.")
	assert.Empty(t, w.resourceRow(apiURI).Scopes, "no scope is chosen: every scope")

	assert.Equal(t, http.StatusUnprocessableEntity, root.submit(resourcesPage+"/mine/edit", resourcesPage+"/mine/edit", "name", "").StatusCode)
	w.must(&ledger.RemoveResourceServer{Actor: operator, ID: apiURI})
	w.resource("mine")
	assert.Equal(t, http.StatusNotFound, root.post(again, taken.form(t, again)).StatusCode, "another one with that name is not changed")
}

// TestResourceSecret verifies that a form adds one secret, however often it is sent, and that
// only a digest is stored.
func TestResourceSecret(t *testing.T) {
	w, root := administration(t)
	w.resource("api")
	w.resource("other")
	const add, revoke = apiPage + "/secrets/add", apiPage + "/secrets/revoke"
	page := root.get(apiPage)
	assert.Contains(t, page.body, "There is no active secret.")
	assert.Empty(t, shownSecret.FindString(page.body))
	form := page.form(t, add)
	res := root.post(add, form)
	require.Equal(t, http.StatusOK, res.StatusCode)
	assert.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	secret := shownSecret.FindString(res.body)
	require.NotEmpty(t, secret, res.body)
	assert.Equal(t, ledger.NoCause, w.readerWith("api", secret))
	assert.NotContains(t, w.log.String(), secret)
	var state bytes.Buffer
	require.NoError(t, w.memory.Save(&state))
	assert.NotContains(t, state.String(), secret)

	index := w.index
	assert.Equal(t, res.body, root.post(add, form).body, "as by a double click")
	assert.Equal(t, index, w.index)

	// The form is bound to its resource server and its session, for ten minutes.
	other := root.get(resourcesPage+"/other").form(t, resourcesPage+"/other/secrets/add")
	forged := filled(form, "resource", "https://other.example")
	forged.Set("token", web.FormToken(root.session(), "add secret of resource server", root.userID,
		strings.Join([]string{"other", "https://other.example", form.Get("secret"), form.Get("sealed"), form.Get("after")}, "\x00")))
	assert.Equal(t, http.StatusConflict, root.post(resourcesPage+"/other/secrets/add", forged).StatusCode)
	assert.Equal(t, http.StatusForbidden, root.post(resourcesPage+"/other/secrets/add", filled(other, "secret", "s_mine")).StatusCode, "the id was chosen by the sender")
	assert.Equal(t, http.StatusForbidden, w.signedInAs("rita").post(add, form).StatusCode)
	assert.Zero(t, w.resourceRow("https://other.example").ActiveSecrets())
	w.advance(10 * time.Minute)
	late := root.follow(root.post(add, form))
	assert.Contains(t, late.body, "That secret was generated already")
	assert.Contains(t, late.body, "••••</span>"+secret[len(secret)-4:])

	// Two pages that are open at the same time add one secret, and there are two at most.
	w.advance(-10 * time.Minute)
	one, two := root.get(apiPage).form(t, add), root.get(apiPage).form(t, add)
	assert.NotEmpty(t, shownSecret.FindString(root.post(add, one).body))
	assert.Equal(t, http.StatusUnprocessableEntity, root.post(add, two).StatusCode)
	full := root.get(apiPage)
	assert.Contains(t, full.body, "Revoke one of the two before you generate another.")
	assert.NotContains(t, full.body, `action="`+add+`"`)

	// Both may be revoked. A revoked secret is not shown again.
	for range 2 {
		again := root.get(apiPage).form(t, revoke)
		after := root.follow(root.post(revoke, again))
		assert.Contains(t, after.body, "The secret was revoked.")
		assert.Equal(t, http.StatusSeeOther, root.post(revoke, again).StatusCode, "the same form twice")
	}
	assert.Equal(t, ledger.SecretRevoked, w.readerWith("api", secret))
	gone := root.post(add, form)
	assert.Empty(t, shownSecret.FindString(gone.body))
	assert.Contains(t, root.follow(gone).body, "has been revoked since")
	assert.Contains(t, root.get(apiPage).body, "There is no active secret.")
}

// TestResourceSecretNeedsAFreshSignIn is like TestActsNeedAFreshSignIn, for the one act that
// ends at a secret and not at a notice. The others need none.
func TestResourceSecretNeedsAFreshSignIn(t *testing.T) {
	const add = apiPage + "/secrets/add"
	w, root, failures := failing(t)
	w.resource("api")
	w.advance(ledger.ReauthenticateAfter - time.Second)
	assert.NotContains(t, root.get(apiPage).body, "own_password")
	early := root.get(apiPage).form(t, add)
	w.beforePropose = func() { w.advance(time.Second) }
	res := root.post(add, early)
	w.beforePropose = nil
	assert.Equal(t, http.StatusForbidden, res.StatusCode)
	assert.Contains(t, res.body, "You signed in more than 15 minutes ago, so nothing was done.")
	assert.Contains(t, res.body, ownField)

	form := root.get(apiPage).form(t, add)
	assert.Contains(t, root.post(add, form).body, "Your password is missing.")
	res = root.post(add, filled(form, "own_password", "not the password"))
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.body, "Your password is not right.")
	assert.Equal(t, map[ledger.Cause]int{ledger.PasswordWrong: 1}, failures)
	assert.Zero(t, w.resourceRow(apiURI).ActiveSecrets())

	edit, remove := apiPage+"/edit", apiPage+"/remove"
	root.done(root.submit(edit, edit, "name", "api", "scopes", "BOOKING_READ"))
	form = root.get(apiPage).form(t, add)
	assert.NotEmpty(t, shownSecret.FindString(root.post(add, filled(form, "own_password", password)).body))
	w.advance(time.Hour)
	root.done(root.submit(apiPage, apiPage+"/secrets/revoke"))
	root.done(root.submit(remove, remove, "name", "api"))
	assert.Nil(t, w.resourceRow(apiURI))
}

// TestConfirmElsewhereForAResource verifies that the provider leads back to the page, and the
// form works then.
func TestConfirmElsewhereForAResource(t *testing.T) {
	w, p, root := upstreamRoot(t)
	w.resource("api")
	page := root.get(apiPage)
	form := page.form(t, apiPage+"/secrets/add")
	assert.Equal(t, http.StatusForbidden, root.post(apiPage+"/secrets/add", form).StatusCode)
	after := root.done(root.get(root.confirm(p, page, "s-zoe")))
	assert.Contains(t, after.body, "You have confirmed that it is you.")
	assert.NotEmpty(t, shownSecret.FindString(root.post(apiPage+"/secrets/add", form).body))
}

func TestRemoveResource(t *testing.T) {
	w, root := administration(t)
	w.resource("api", "s_1")
	remove := apiPage + "/remove"
	page := root.get(remove)
	assert.Contains(t, page.body, "Its 1 active secret stops working immediately.")
	assert.Contains(t, page.body, "<li>No grant is for it.</li>")
	ada := ledger.Actor{Session: credential.SessionDigest(w.signedIn().session())}
	for i, says := range []string{"1 grant for it gets no new", "2 grants for it get no new", "2 grants"} {
		request := oauth.AuthorizationRequest{ClientID: "calendar", RedirectURI: callback, Scope: "BOOKING_READ", Resource: apiURI}
		if i == 2 {
			request.Resource = "" // the last grant is for the cluster's audience
		}
		w.must(&ledger.Allow{Actor: ada, User: "u-ada", Request: request, Revision: 1, Grant: ledger.GrantID{9, byte(i)}})
		page = root.get(remove)
		assert.Contains(t, page.body, "<li>"+says)
	}
	form := page.form(t, remove)
	for _, typed := range []string{"", "another"} {
		res := root.post(remove, filled(form, "name", typed))
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
		assert.Contains(t, res.body, "Name of the resource server is not what you typed.")
	}
	w.must(&ledger.PutResourceServer{Actor: operator, ID: apiURI, Name: "api", Scopes: []string{"BOOKING_READ"}})
	stale := root.post(remove, filled(form, "name", "API "))
	assert.Equal(t, http.StatusConflict, stale.StatusCode, "it has changed")
	assert.NotNil(t, w.resourceRow(apiURI))
	again := with(stale.form(t, remove), "name", "API ")
	res := root.post(remove, again)
	assert.Contains(t, root.follow(res).body, "The resource server was removed.")
	assert.Nil(t, w.resourceRow(apiURI))
	assert.Equal(t, ledger.UnknownClient, w.readerWith("api", "s_1"))
	assert.Equal(t, res.Header.Get("Location"), root.post(remove, again).Header.Get("Location"), "the same form twice")

	w.resource("api")
	assert.Equal(t, http.StatusConflict, root.post(remove, again).StatusCode, "one that was registered since")
	assert.NotNil(t, w.resourceRow(apiURI))

	audit := root.get("/admin/audit?kind=resource_server").body
	for _, says := range []string{"Resource server registered", "Resource server changed", "Resource server removed", "Secret of a resource server made"} {
		assert.Contains(t, audit, says)
	}
}

// TestManagedResource verifies that the page warns of a change that a file undoes.
func TestManagedResource(t *testing.T) {
	w, root := administration(t)
	w.must(&ledger.ApplyResourceServer{Actor: operator, ID: apiURI, Name: "api", Manager: "team"})
	assert.Contains(t, root.get(apiPage).body, "What you change here is undone when its file is applied again.")
	w.resource("other")
	assert.NotContains(t, root.get(resourcesPage+"/other").body, "applied again")
}
