package admin_test

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
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// filled is with, of a copy.
func filled(form url.Values, pairs ...string) url.Values { return With(maps.Clone(form), pairs...) }

func TestAdminResources(t *testing.T) {
	w, root := Administration(t)
	assert.Contains(t, root.Get(ResourcesPage).Text, "There are no resource servers yet")
	assert.Contains(t, root.Get("/admin").Text, `<a href="/admin/resource-servers">`)
	for i := range 30 {
		w.Resource(fmt.Sprintf("api%02d", i))
	}
	w.Must(&ledger.PutResourceServer{Actor: Operator, ID: "https://zoo.example", Name: "Zoo"})
	first := root.Get(ResourcesPage)
	assert.Equal(t, 25, strings.Count(first.Text, `<th scope="row">`))
	assert.Contains(t, first.Text, `<a class="button small" href="/admin/resource-servers?after=api24" rel="next">`)
	second := root.Get(ResourcesPage + "?after=api24")
	assert.Equal(t, 6, strings.Count(second.Text, `<th scope="row">`))
	assert.Contains(t, second.Text, `<a href="/admin/resource-servers/Zoo">Zoo</a>`)
	for query, want := range map[string]int{"zoo": 1, "API07": 1, "https://API2": 10, "nothing": 0} {
		found := root.Get(ResourcesPage + "?q=" + url.QueryEscape(query))
		assert.Equal(t, want, strings.Count(found.Text, `<th scope="row">`), query)
	}
	assert.Equal(t, http.StatusOK, root.Get(ResourcesPage+"/zoo").StatusCode, "names ignore case")
	assert.Equal(t, http.StatusNotFound, root.Get(ResourcesPage+"/nothing").StatusCode)
}

func TestRegisterResource(t *testing.T) {
	w, root := Administration(t)
	form := root.Get(NewResourcePage).Form(t, NewResourcePage)
	for name, test := range map[string]struct {
		fields []string
		says   string
	}{
		"nothing":      {nil, "Identifier URI is missing."},
		"plain http":   {[]string{"id", "http://api.example", "name", "api"}, "Identifier URI must be https, without a query or fragment, such as https://api.example.com/v2."},
		"no scheme":    {[]string{"id", "api.example", "name", "api"}, "Identifier URI must be https, without"},
		"query":        {[]string{"id", "https://api.example?a=b", "name", "api"}, "Identifier URI must be https, without"},
		"fragment":     {[]string{"id", "https://api.example#a", "name", "api"}, "Identifier URI must be https, without"},
		"no canonical": {[]string{"id", "https://API.example", "name", "api"}, "Identifier URI must be written as https://api.example"},
		"spaces":       {[]string{"id", ApiURI, "name", "two words"}, "Username may hold letters, digits"},
		"dots":         {[]string{"id", ApiURI, "name", ".."}, "Username needs a character beside dots"},
		"none ticked":  {[]string{"id", ApiURI, "name", "api", "only", "yes"}, "Tick at least one scope, or choose all scopes."},
		"unknown":      {[]string{"id", ApiURI, "name", "api", "only", "yes", "scopes", "NONE"}, "The selection of scopes has one that does not exist."},
	} {
		res := root.Post(NewResourcePage, filled(form, test.fields...))
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, name)
		assert.Contains(t, res.Text, test.says, name)
	}
	all := root.Post(NewResourcePage, filled(form, "id", "http://api.example", "name", "two words", "only", "yes"))
	for _, says := range []string{"Identifier URI must be https", "Username may hold letters, digits", "Tick at least one scope"} {
		assert.Contains(t, all.Text, says, "all problems at once")
	}
	assert.Nil(t, w.ResourceRow(ApiURI))

	right := filled(form, "id", " "+ApiURI+" ", "name", "api", "only", "yes", "scopes", "BOOKING_READ")
	res := root.Post(NewResourcePage, right)
	page := root.Follow(res)
	assert.Contains(t, page.Text, "Registered. Generate a secret")
	assert.Equal(t, 1, strings.Count(page.Text, "<button>Generate secret</button>"))
	assert.NotContains(t, page.Text, "small\">Generate secret", "the notice has it")
	assert.Contains(t, page.Text, ApiURI)
	assert.Contains(t, page.Text, "<code>BOOKING_READ</code>")
	index := w.Index
	assert.Equal(t, res.Header.Get("Location"), root.Post(NewResourcePage, right).Header.Get("Location"), "the same form twice")
	assert.Equal(t, index, w.Index)

	res = root.Post(NewResourcePage, filled(right, "name", "other"))
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.Text, "Identifier URI is taken.")
	assert.Contains(t, res.Text, `value="BOOKING_READ" checked`)
	res = root.Post(NewResourcePage, filled(right, "id", "https://second.example", "name", "API"))
	assert.Contains(t, res.Text, "Username is taken.")
}

func TestEditResource(t *testing.T) {
	w, root := Administration(t)
	w.Resource("api", "s_1")
	w.Resource("other")
	edit := ApiPage + "/edit"
	form := With(root.Get(edit).Form(t, edit), "name", "api", "only", "no")
	assert.Contains(t, root.Follow(root.Post(edit, form)).Text, "There was nothing to change.")

	changed := filled(form, "name", "bookings", "only", "yes", "scopes", "BOOKING_READ")
	res := root.Post(edit, changed)
	page := root.Follow(res)
	assert.Contains(t, page.Text, "Saved.")
	assert.Contains(t, page.Text, "<h1><bdi>bookings</bdi></h1>")
	assert.Equal(t, []string{"BOOKING_READ"}, w.ResourceRow(ApiURI).Scopes)
	assert.Equal(t, 1, w.ResourceRow(ApiURI).ActiveSecrets())
	assert.Equal(t, res.Header.Get("Location"), root.Post(edit, changed).Header.Get("Location"), "the same form twice")

	stale := root.Post(edit, filled(form, "name", "mine"))
	assert.Equal(t, http.StatusConflict, stale.StatusCode)
	assert.Contains(t, stale.Text, "Something changed while the page was open")
	assert.Contains(t, stale.Text, `value="mine"`)
	again := ResourcesPage + "/bookings/edit"
	taken := root.Post(again, filled(stale.Form(t, again), "name", "OTHER", "only", "no"))
	assert.Contains(t, taken.Text, "Username is taken.")
	assert.Contains(t, root.Follow(root.Post(again, With(taken.Form(t, again), "name", "mine", "only", "no"))).Text, "Saved.")
	assert.Empty(t, w.ResourceRow(ApiURI).Scopes, "all scopes were chosen")

	wrong := root.Submit(ResourcesPage+"/mine/edit", ResourcesPage+"/mine/edit", "name", "..", "only", "yes")
	assert.Equal(t, http.StatusUnprocessableEntity, wrong.StatusCode)
	assert.Contains(t, wrong.Text, "Username needs a character beside dots.")
	assert.Contains(t, wrong.Text, "Tick at least one scope")
	w.Must(&ledger.RemoveResourceServer{Actor: Operator, ID: ApiURI})
	w.Resource("mine")
	assert.Equal(t, http.StatusNotFound, root.Post(again, taken.Form(t, again)).StatusCode, "another one with that name is not changed")
}

// TestResourceSecret verifies that a form adds one secret, however often it is sent, and that
// only a digest is stored.
func TestResourceSecret(t *testing.T) {
	w, root := Administration(t)
	w.Resource("api")
	w.Resource("other")
	const add, revoke = ApiPage + "/secrets/add", ApiPage + "/secrets/revoke"
	page := root.Get(ApiPage)
	assert.Contains(t, page.Text, "No active secret.")
	assert.Empty(t, ShownSecret.FindString(page.Text))
	form := page.Form(t, add)
	res := root.Post(add, form)
	require.Equal(t, http.StatusOK, res.StatusCode)
	assert.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	secret := ShownSecret.FindString(res.Text)
	require.NotEmpty(t, secret, res.Text)
	assert.Equal(t, ledger.NoCause, w.ReaderWith("api", secret))
	assert.Contains(t, res.Text, `curl -u "api:$SECRET"`)
	assert.Contains(t, res.Text, Issuer+oauth.PathIntrospect+"</code>")
	assert.NotContains(t, w.Log.String(), secret)
	var state bytes.Buffer
	require.NoError(t, w.Memory.Save(&state))
	assert.NotContains(t, state.String(), secret)

	index := w.Index
	assert.Equal(t, res.Text, root.Post(add, form).Text, "as by a double click")
	assert.Equal(t, index, w.Index)

	// The form is bound to its resource server and its session, for ten minutes.
	other := root.Get(ResourcesPage+"/other").Form(t, ResourcesPage+"/other/secrets/add")
	forged := filled(form, "resource", "https://other.example")
	forged.Set("token", site.FormToken(root.Session(), "add secret of resource server", root.UserID,
		strings.Join([]string{"other", "https://other.example", form.Get("secret"), form.Get("sealed"), form.Get("after")}, "\x00")))
	assert.Equal(t, http.StatusConflict, root.Post(ResourcesPage+"/other/secrets/add", forged).StatusCode)
	assert.Equal(t, http.StatusForbidden, root.Post(ResourcesPage+"/other/secrets/add", filled(other, "secret", "s_mine")).StatusCode, "the id was chosen by the sender")
	assert.Equal(t, http.StatusForbidden, w.SignedInAs("rita").Post(add, form).StatusCode)
	assert.Zero(t, w.ResourceRow("https://other.example").ActiveSecrets())
	w.Advance(10 * time.Minute)
	late := root.Follow(root.Post(add, form))
	assert.Contains(t, late.Text, "That secret was generated already")
	assert.Contains(t, late.Text, "••••</span>"+secret[len(secret)-4:])

	// Two pages that are open at the same time add one secret, and there are two at most.
	w.Advance(-10 * time.Minute)
	one, two := root.Get(ApiPage).Form(t, add), root.Get(ApiPage).Form(t, add)
	assert.NotEmpty(t, ShownSecret.FindString(root.Post(add, one).Text))
	assert.Equal(t, http.StatusUnprocessableEntity, root.Post(add, two).StatusCode)
	full := root.Get(ApiPage)
	assert.Contains(t, full.Text, "Revoke one of the two before you generate another.")
	assert.NotContains(t, full.Text, `action="`+add+`"`)

	// Both may be revoked. A revoked secret is not shown again.
	for range 2 {
		again := root.Get(ApiPage).Form(t, revoke)
		after := root.Follow(root.Post(revoke, again))
		assert.Contains(t, after.Text, "Revoked. The secret is refused")
		assert.Equal(t, http.StatusSeeOther, root.Post(revoke, again).StatusCode, "the same form twice")
	}
	assert.Equal(t, ledger.SecretRevoked, w.ReaderWith("api", secret))
	gone := root.Post(add, form)
	assert.Empty(t, ShownSecret.FindString(gone.Text))
	assert.Contains(t, root.Follow(gone).Text, "has been revoked since")
	assert.Contains(t, root.Get(ApiPage).Text, "No active secret.")
}

// TestResourceSecretNeedsAFreshSignIn is like TestActsNeedAFreshSignIn, for the one act that
// ends at a secret and not at a notice. The others need none.
func TestResourceSecretNeedsAFreshSignIn(t *testing.T) {
	const add = ApiPage + "/secrets/add"
	w, root, failures := Failing(t)
	w.Resource("api")
	w.Advance(ledger.ReauthenticateAfter - time.Second)
	assert.NotContains(t, root.Get(ApiPage).Text, "own_password")
	early := root.Get(ApiPage).Form(t, add)
	w.BeforePropose = func() { w.Advance(time.Second) }
	res := root.Post(add, early)
	w.BeforePropose = nil
	assert.Equal(t, http.StatusForbidden, res.StatusCode)
	assert.Contains(t, res.Text, "You signed in more than 15 minutes ago, so nothing was done.")
	assert.Contains(t, res.Text, OwnField)

	form := root.Get(ApiPage).Form(t, add)
	assert.Contains(t, root.Post(add, form).Text, "Your password is missing.")
	res = root.Post(add, filled(form, "own_password", "not the password"))
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.Text, "Your password is not right.")
	assert.Equal(t, map[ledger.Cause]int{ledger.PasswordWrong: 1}, failures)
	assert.Zero(t, w.ResourceRow(ApiURI).ActiveSecrets())

	edit, remove := ApiPage+"/edit", ApiPage+"/remove"
	root.Done(root.Submit(edit, edit, "name", "api", "only", "yes", "scopes", "BOOKING_READ"))
	form = root.Get(ApiPage).Form(t, add)
	assert.NotEmpty(t, ShownSecret.FindString(root.Post(add, filled(form, "own_password", Password)).Text))
	w.Advance(time.Hour)
	root.Done(root.Submit(ApiPage, ApiPage+"/secrets/revoke"))
	root.Done(root.Submit(remove, remove, "name", "api"))
	assert.Nil(t, w.ResourceRow(ApiURI))
}

// TestConfirmElsewhereForAResource verifies that the provider leads back to the page, and the
// form works then.
func TestConfirmElsewhereForAResource(t *testing.T) {
	w, p, root := UpstreamRoot(t)
	w.Resource("api")
	page := root.Get(ApiPage)
	form := page.Form(t, ApiPage+"/secrets/add")
	assert.Equal(t, http.StatusForbidden, root.Post(ApiPage+"/secrets/add", form).StatusCode)
	after := root.Done(root.Get(root.Confirm(p, page, "s-zoe")))
	assert.Contains(t, after.Text, "You have confirmed that it is you.")
	assert.NotEmpty(t, ShownSecret.FindString(root.Post(ApiPage+"/secrets/add", form).Text))
}

func TestRemoveResource(t *testing.T) {
	w, root := Administration(t)
	w.Resource("api", "s_1")
	remove := ApiPage + "/remove"
	page := root.Get(remove)
	assert.Contains(t, page.Text, "Its active secret stops working immediately.")
	assert.NotContains(t, page.Text, "grant")
	ada := ledger.Actor{Session: credential.SessionDigest(w.SignedIn().Session())}
	for i, says := range []string{"1 grant for it gets no new", "2 grants for it get no new", "2 grants"} {
		request := oauth.AuthorizationRequest{ClientID: "calendar", RedirectURI: Callback, Scope: "BOOKING_READ", Resource: ApiURI}
		if i == 2 {
			request.Resource = "" // the last grant is for the cluster's audience
		}
		w.Must(&ledger.Allow{Actor: ada, User: "u-ada", Request: request, Revision: 1, Grant: ledger.GrantID{9, byte(i)}})
		page = root.Get(remove)
		assert.Contains(t, page.Text, "<li>"+says)
	}
	form := page.Form(t, remove)
	for _, typed := range []string{"", "another"} {
		res := root.Post(remove, filled(form, "name", typed))
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
		assert.Contains(t, res.Text, "This isn’t the name. Type “api”.")
	}
	w.Must(&ledger.PutResourceServer{Actor: Operator, ID: ApiURI, Name: "api", Scopes: []string{"BOOKING_READ"}})
	stale := root.Post(remove, filled(form, "name", "API "))
	assert.Equal(t, http.StatusConflict, stale.StatusCode, "it has changed")
	assert.NotNil(t, w.ResourceRow(ApiURI))
	again := With(stale.Form(t, remove), "name", "API ")
	res := root.Post(remove, again)
	assert.Contains(t, root.Follow(res).Text, "Removed api. Its secrets are refused")
	assert.Nil(t, w.ResourceRow(ApiURI))
	assert.Equal(t, ledger.UnknownClient, w.ReaderWith("api", "s_1"))
	assert.Equal(t, res.Header.Get("Location"), root.Post(remove, again).Header.Get("Location"), "the same form twice")

	w.Resource("api")
	assert.Equal(t, http.StatusConflict, root.Post(remove, again).StatusCode, "one that was registered since")
	assert.NotNil(t, w.ResourceRow(ApiURI))

	again = With(root.Get(remove).Form(t, remove), "name", "api")
	w.Lag()
	w.Must(&ledger.RemoveResourceServer{Actor: Operator, ID: ApiURI})
	assert.Contains(t, root.Post(remove, again).Header.Get("Location"), "/admin/resource-servers?done=removed.", "removed already, which this node doesn't know yet")
	w.Lagging = nil

	audit := root.Get("/admin/audit?kind=resource_server").Text
	for _, says := range []string{"Registered resource server <", "Changed resource server <", "Removed resource server <", "Generated a secret for resource server <"} {
		assert.Contains(t, audit, says)
	}
}

// TestManagedResource verifies that the page warns of a change that a file undoes.
func TestManagedResource(t *testing.T) {
	w, root := Administration(t)
	w.Must(&ledger.ApplyResourceServer{Actor: Operator, ID: ApiURI, Name: "api", Manager: "team"})
	assert.Contains(t, root.Get(ApiPage).Text, "What you change here is undone when its file is applied again.")
	w.Resource("other")
	assert.NotContains(t, root.Get(ResourcesPage+"/other").Text, "applied again")
}
