package web_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const givePage = calendarPage + "/transfer"

func (w *env) setUserState(user string, to ledger.UserState) {
	w.t.Helper()
	w.must(&ledger.SetUserState{Actor: operator, User: user, State: to})
}

// TestAdminOwnerGone verifies that the page of an application reports that its owner
// can't manage it.
func TestAdminOwnerGone(t *testing.T) {
	w, root := administration(t)
	assert.NotContains(t, root.get(calendarPage).body, "nobody can change it")
	assert.NotContains(t, root.get("/admin/users/u-ada").body, "Nobody can change these now")
	w.setUserState("u-ada", ledger.Disable)
	page := root.get(calendarPage)
	assert.Contains(t, page.body, "The owner&#39;s account is disabled.</b> The application still works, but nobody can change it")
	assert.Contains(t, page.body, `<a href="`+givePage+`">Transfer it to somebody else</a>`)
	assert.Contains(t, root.get(givePage).body, "The owner&#39;s account is disabled.")
	assert.Contains(t, root.get("/admin/users/u-ada").body, "Nobody can change these now.")
	w.setUserState("u-ada", ledger.DeleteUser)
	assert.Contains(t, root.get(calendarPage).body, "The owner no longer has an account.")
	w.must(&ledger.DeleteClient{Actor: operator, ID: "calendar"})
	assert.NotContains(t, root.get(calendarPage).body, "nobody can change it")
	assert.Equal(t, http.StatusNotFound, root.get(givePage).StatusCode, "a deleted application can't be transferred")
}

// TestAdminTransfer verifies that an administrator can transfer an application of a
// disabled owner.
func TestAdminTransfer(t *testing.T) {
	w, root := administration(t)
	bob := w.signedInAs("bob")
	w.must(&ledger.OfferClient{Actor: operator, ID: "calendar", Username: "rita"})
	w.setUserState("u-ada", ledger.Disable)
	assert.Equal(t, http.StatusNotFound, bob.get("/developer/clients/calendar").StatusCode)

	form := with(root.get(givePage).form(t, givePage), "username", " BOB ")
	after := root.done(root.post(givePage, form))
	assert.Contains(t, after.body, "The application has a new owner.")
	assert.Contains(t, after.body, `<a href="/admin/users/u-bob"><bdi>bob</bdi></a>`)
	assert.NotContains(t, after.body, "nobody can change it")
	assert.Contains(t, after.body, "Application handed over", "the history")
	assert.Equal(t, "u-bob", w.clientRow("calendar").Owner)
	assert.Nil(t, w.clientRow("calendar").Offer)
	assert.Equal(t, http.StatusOK, bob.get("/developer/clients/calendar").StatusCode)
	event := w.View().HistoryOf("calendar", 1)[0]
	assert.Equal(t, []any{ledger.EventClientTransferred, "u-root", "u-bob", "u-ada"}, []any{event.Kind, event.Actor, event.User, event.Detail})

	state := w.index
	assert.Equal(t, calendarPage+"?done=transfer", leadsTo(root.post(givePage, form)), "the same form twice")
	assert.Equal(t, state, w.index)

	assert.Contains(t, after.body, "its secrets")
	public := root.get("/admin/clients/native/transfer")
	assert.NotContains(t, public.body, "secret")
	gave := root.done(root.post("/admin/clients/native/transfer", with(public.form(t, "/admin/clients/native/transfer"), "username", "bob")))
	assert.Contains(t, gave.body, "The application has a new owner.")
	assert.NotContains(t, gave.body, "its secrets", "a public client has no secrets")

	root.done(root.press(calendarPage+"/suspend", calendarPage+"/suspend"))
	assert.Contains(t, root.done(root.press(givePage, givePage, "username", "rita")).body, "The application has a new owner.", "a suspended application")
}

func TestAdminTransferProblems(t *testing.T) {
	for name, test := range map[string]struct {
		username string
		before   func(w *env)
		status   int
		says     string
	}{
		"nobody":         {" ", nil, 422, "Username is missing."},
		"not there":      {"<nobody>", nil, 422, "There is no user of that name."},
		"deleted":        {"bob", func(w *env) { w.setUserState("u-bob", ledger.DeleteUser) }, 422, "There is no user of that name."},
		"disabled":       {"bob", func(w *env) { w.setUserState("u-bob", ledger.Disable) }, 422, "Username is that of a disabled account."},
		"the owner":      {"ada", func(w *env) { w.setUserState("u-ada", ledger.Disable) }, 422, "Username is that of a disabled account."},
		"changed":        {"bob", func(w *env) { w.propose("calendar", func(p *ledger.Profile) { p.Name = "New" }) }, 409, "Something changed while the page was open"},
		"deleted client": {"bob", func(w *env) { w.must(&ledger.DeleteClient{Actor: operator, ID: "calendar"}) }, 404, "Page not found"},
		"demoted":        {"bob", func(w *env) { w.setUserState("u-root", ledger.Demote) }, 404, "Page not found"},
	} {
		t.Run(name, func(t *testing.T) {
			w, root := administration(t)
			form := with(root.get(givePage).form(t, givePage), "username", test.username)
			if test.before != nil {
				test.before(w)
			}
			res := root.post(givePage, form)
			assert.Equal(t, test.status, res.StatusCode, res.body)
			assert.Contains(t, res.body, test.says)
			assert.Equal(t, "u-ada", w.clientRow("calendar").Owner)
			if test.status == http.StatusConflict {
				assert.Contains(t, res.body, `value="bob"`)
				root.done(root.post(givePage, with(res.form(t, givePage), "username", "bob")))
				assert.Equal(t, "u-bob", w.clientRow("calendar").Owner, "the redisplayed form must work")
			}
		})
	}
	w, root := administration(t)
	form := with(root.get(givePage).form(t, givePage), "username", "bob")
	w.beforePropose = func() { w.setUserState("u-bob", ledger.Disable) }
	res := root.post(givePage, form)
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, "the recipient was disabled meanwhile")
	assert.Equal(t, "u-ada", w.clientRow("calendar").Owner)
}
