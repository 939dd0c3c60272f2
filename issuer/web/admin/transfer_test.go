package admin_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestAdminOwnerGone verifies that the page of an application reports that its owner
// can't manage it.
func TestAdminOwnerGone(t *testing.T) {
	w, root := Administration(t)
	assert.NotContains(t, root.Get(CalendarPage).Text, "nobody can change it")
	assert.NotContains(t, root.Get("/admin/users/u-ada").Text, "no owner who can change them")
	w.SetUserState("u-ada", ledger.Disable)
	page := root.Get(CalendarPage)
	assert.Contains(t, page.Text, "The owner&#39;s account is disabled.</b> The application still works, but nobody can change it")
	assert.Contains(t, page.Text, `<a href="`+GivePage+`">Transfer it to somebody else</a>`)
	assert.Contains(t, root.Get(GivePage).Text, "The owner&#39;s account is disabled.")
	assert.Contains(t, root.Get("/admin/users/u-ada").Text, "<b>6 applications have no owner who can change them.</b>")
	assert.Contains(t, root.Get("/admin/users/u-ada").Text, `href="`+GivePage+`">Transfer<`)
	w.SetUserState("u-ada", ledger.DeleteUser)
	assert.Contains(t, root.Get(CalendarPage).Text, "The owner no longer has an account.")
	w.Must(&ledger.DeleteClient{Actor: Operator, ID: "calendar"})
	assert.NotContains(t, root.Get(CalendarPage).Text, "nobody can change it")
	assert.Equal(t, http.StatusNotFound, root.Get(GivePage).StatusCode, "a deleted application can't be transferred")
}

// TestAdminTransfer verifies that an administrator can transfer an application of a
// disabled owner.
func TestAdminTransfer(t *testing.T) {
	w, root := Administration(t)
	bob := w.SignedInAs("bob")
	w.Must(&ledger.OfferClient{Actor: Operator, ID: "calendar", Username: "rita"})
	w.SetUserState("u-ada", ledger.Disable)
	assert.Equal(t, http.StatusNotFound, bob.Get("/developer/clients/calendar").StatusCode)

	form := With(root.Get(GivePage).Form(t, GivePage), "username", " BOB ")
	after := root.Done(root.Post(GivePage, form))
	assert.Contains(t, after.Text, "The application has a new owner.")
	assert.Contains(t, after.Text, `<a href="/admin/users/u-bob"><bdi>bob</bdi></a>`)
	assert.NotContains(t, after.Text, "nobody can change it")
	assert.Contains(t, after.Text, `Transferred the application from <a href="/admin/users/u-ada"><bdi>ada</bdi></a> to <a href="/admin/users/u-bob">`, "the history")
	assert.Equal(t, "u-bob", w.ClientRow("calendar").Owner)
	assert.Nil(t, w.ClientRow("calendar").Offer)
	assert.Equal(t, http.StatusOK, bob.Get("/developer/clients/calendar").StatusCode)
	event := w.View().HistoryOf("calendar", 1)[0]
	assert.Equal(t, []any{ledger.EventClientTransferred, "u-root", "u-bob", "u-ada"}, []any{event.Kind, event.Actor, event.User, event.Detail})

	state := w.Index
	assert.Equal(t, CalendarPage+"?done=transfer", LeadsTo(root.Post(GivePage, form)), "the same form twice")
	assert.Equal(t, state, w.Index)

	assert.Contains(t, after.Text, "its secrets")
	public := root.Get("/admin/clients/native/transfer")
	assert.NotContains(t, public.Text, "secret")
	gave := root.Done(root.Post("/admin/clients/native/transfer", With(public.Form(t, "/admin/clients/native/transfer"), "username", "bob")))
	assert.Contains(t, gave.Text, "The application has a new owner.")
	assert.NotContains(t, gave.Text, "its secrets", "a public client has no secrets")

	root.Done(root.Press(SuspendPage, SuspendPage))
	assert.Contains(t, root.Done(root.Press(GivePage, GivePage, "username", "rita")).Text, "The application has a new owner.", "a suspended application")
}

func TestAdminTransferProblems(t *testing.T) {
	for name, test := range map[string]struct {
		username string
		before   func(w *Env)
		status   int
		says     string
	}{
		"nobody":         {" ", nil, 422, "Username is missing."},
		"not there":      {"<nobody>", nil, 422, "There is no user of that name."},
		"deleted":        {"bob", func(w *Env) { w.SetUserState("u-bob", ledger.DeleteUser) }, 422, "There is no user of that name."},
		"disabled":       {"bob", func(w *Env) { w.SetUserState("u-bob", ledger.Disable) }, 422, "Username is that of a disabled account."},
		"the owner":      {"ada", func(w *Env) { w.SetUserState("u-ada", ledger.Disable) }, 422, "Username is that of a disabled account."},
		"changed":        {"bob", func(w *Env) { w.ProposeRevision("calendar", func(p *ledger.Profile) { p.Name = "New" }) }, 409, "Something changed while the page was open"},
		"deleted client": {"bob", func(w *Env) { w.Must(&ledger.DeleteClient{Actor: Operator, ID: "calendar"}) }, 404, "Page not found"},
		"demoted":        {"bob", func(w *Env) { w.SetUserState("u-root", ledger.Demote) }, 404, "Page not found"},
	} {
		t.Run(name, func(t *testing.T) {
			w, root := Administration(t)
			form := With(root.Get(GivePage).Form(t, GivePage), "username", test.username)
			if test.before != nil {
				test.before(w)
			}
			res := root.Post(GivePage, form)
			assert.Equal(t, test.status, res.StatusCode, res.Text)
			assert.Contains(t, res.Text, test.says)
			assert.Equal(t, "u-ada", w.ClientRow("calendar").Owner)
			if test.status == http.StatusConflict {
				assert.Contains(t, res.Text, `value="bob"`)
				root.Done(root.Post(GivePage, With(res.Form(t, GivePage), "username", "bob")))
				assert.Equal(t, "u-bob", w.ClientRow("calendar").Owner, "the redisplayed form must work")
			}
		})
	}
	w, root := Administration(t)
	form := With(root.Get(GivePage).Form(t, GivePage), "username", "bob")
	w.BeforePropose = func() { w.SetUserState("u-bob", ledger.Disable) }
	res := root.Post(GivePage, form)
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, "the recipient was disabled meanwhile")
	assert.Equal(t, "u-ada", w.ClientRow("calendar").Owner)
}
