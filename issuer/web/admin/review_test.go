package admin_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

func TestReviewQueue(t *testing.T) {
	w, root := Administration(t)
	page := root.Get("/admin")
	assert.Contains(t, page.Text, `<a href="/admin/clients/waiting"><bdi>The waiting app</bdi></a>`)
	assert.Contains(t, page.Text, `<p class="quiet"><bdi>ada</bdi> · <bdi>waiting.example.com</bdi> · <bdi>app.example.com</bdi></p>`)
	assert.Contains(t, page.Text, `<li><span class="pill">Bookings, change</span></li>`)
	assert.NotContains(t, page.Text, "Powerful")
	assert.NotContains(t, page.Text, "calendar")

	w.Advance(time.Hour)
	root = w.SignedInAs("root")
	w.ProposeRevision("calendar", func(p *ledger.Profile) { p.Name, p.Website = "Calendar", "https://calendar.example.net/" })
	page = root.Get("/admin")
	first, second, _ := strings.Cut(page.Text, "/admin/clients/calendar")
	assert.Contains(t, first, "/admin/clients/waiting", "the longest waiting first")
	assert.Contains(t, second, "name, website")

	root.Done(root.Press(WaitingPage, WaitingPage+"/review", "verdict", "approve"))
	root.Done(root.Press(CalendarPage, CalendarPage+"/review", "verdict", "approve"))
	assert.Contains(t, root.Get("/admin").Text, "No application is waiting for review")
}

func TestReviewQueueIsPaged(t *testing.T) {
	w, root := Administration(t)
	for i := range 30 {
		w.Advance(time.Second)
		w.Client(fmt.Sprintf("c%02d", i), func(c *ledger.ImportClient) { c.State = ledger.Pending })
	}
	page := root.Get("/admin")
	assert.Equal(t, 25, strings.Count(page.Text, `<th scope="row">`))
	assert.NotContains(t, page.Text, ">First</a>")
	assert.Contains(t, page.Text, `<a class="button small" href="/admin?after=c23" rel="next">Next</a>`)
	page = root.Get("/admin?after=c23")
	assert.Equal(t, 6, strings.Count(page.Text, `<th scope="row">`))
	assert.Contains(t, page.Text, `<a class="button small" href="/admin">First</a>`)
	assert.NotContains(t, page.Text, ">Next</a>")
}

func TestReviewQueueIsSearched(t *testing.T) {
	w, root := Administration(t)
	w.Client("mmc-7", func(c *ledger.ImportClient) { c.State, c.Profile.Name = ledger.Pending, "Räume & Zeiten" })
	w.ProposeRevision("calendar", func(p *ledger.Profile) { p.Name = "Another name" })
	for query, want := range map[string][]string{
		"": {"calendar", "mmc-7", "waiting"}, "q=app": {"calendar", "waiting"}, "q=RÄU": {"mmc-7"}, "q=MMC": {"mmc-7"}, "q=old": nil,
	} {
		var found []string
		page := root.Get("/admin?" + query)
		for _, m := range regexp.MustCompile(`<th scope="row"><div><a href="/admin/clients/([^"]*)"`).FindAllStringSubmatch(page.Text, -1) {
			found = append(found, m[1])
		}
		assert.Equal(t, want, found, query)
		assert.Equal(t, query != "", strings.Contains(page.Text, `href="/admin">Show all</a>`), query)
	}
	page := root.Get("/admin?q=%3Cold%3E")
	assert.Contains(t, page.Text, "No review matches “&lt;old&gt;”")
	assert.Contains(t, page.Text, `value="&lt;old&gt;"`)
	assert.NotContains(t, page.Text, "No application is waiting")
}

func TestApprove(t *testing.T) {
	w, root := Administration(t)
	page := root.Get(WaitingPage)
	for _, text := range []string{
		"<title>The waiting app · Mintmark</title>", `<span class="pill warn">Waiting for review</span>`,
		"Confidential: it runs on a server", "<p>New, submitted <time", "1 of 1 in the queue", `<code id="client-id">waiting</code>`, `<li><code>` + Callback + `</code></li>`,
		`<a href="https://waiting.example.com/about" rel="noreferrer nofollow">waiting.example.com</a>`,
		"<code>BOOKING_READ</code>", `<a href="/admin/users/u-ada"><bdi>ada</bdi></a>`, "Imported the application",
	} {
		assert.Contains(t, page.Text, text)
	}
	assert.NotContains(t, page.Text, "Suspend the application")
	assert.Regexp(t, `(?s)id="details".*id="scopes".*id="registration"`, page.Text, "who asks comes before what is asked for")

	form := With(page.Form(t, WaitingPage+"/review"), "verdict", "approve", "reason", " Well\r\ndone. ")
	after := root.Done(root.Post(WaitingPage+"/review", form))
	assert.Contains(t, after.Text, "Approved. The application can be used now.")
	assert.Contains(t, after.Text, `<span class="pill good">Approved</span>`)
	assert.Contains(t, after.Text, "<div>Approved the application<p class=\"quiet\"><bdi>Well done.</bdi></p>", "the history")
	assert.NotContains(t, after.Text, "/review")
	assert.Equal(t, ledger.Approved, w.ClientRow("waiting").State)

	revision := w.ClientRow("waiting").Revision
	again := root.Post(WaitingPage+"/review", form)
	assert.Equal(t, WaitingPage+"?done=approve", LeadsTo(again), "the same form twice")
	assert.Equal(t, revision, w.ClientRow("waiting").Revision)
}

// TestApproveAndNext verifies that a review leads to the next application of the queue, and to the
// queue after the last one.
func TestApproveAndNext(t *testing.T) {
	w, root := Administration(t)
	for _, id := range []string{"second", "third"} {
		w.Advance(time.Minute)
		w.Client(id, func(c *ledger.ImportClient) { c.State, c.Profile.Name = ledger.Pending, "The "+id+" <app>" })
	}
	approve := func(id string) (page Answer, at string) {
		path := "/admin/clients/" + id
		res := root.Press(path, path+"/review", "verdict", "approve-next")
		at, _, _ = strings.Cut(res.Header.Get("Location"), "?")
		page = root.Done(res)
		assert.Equal(t, ledger.Approved, w.ClientRow(id).State)
		assert.Contains(t, page.Text, `<p>Approved `+html.EscapeString(w.ClientRow(id).Name)+`. <a href="`+path+`">View application</a></p>`)
		return page, at
	}
	page, at := approve("second")
	assert.Equal(t, "/admin/clients/third", at, "what follows in the queue")
	assert.Contains(t, page.Text, "2 of 2 in the queue")
	res := root.Press("/admin/clients/third", "/admin/clients/third/review", "verdict", "approve-next")
	address := res.Header.Get("Location")
	assert.Contains(t, address, WaitingPage+"?", "the first one, after the last")
	root.Done(res)
	for _, forged := range []string{strings.Replace(address, "of=third", "of=second", 1), strings.Replace(address, "&of=third", "", 1), WaitingPage + "?of=third"} {
		assert.NotContains(t, root.Get(forged).Text, ">Approved ", forged)
		assert.NotContains(t, root.Get(forged).Text, "It was approved", forged)
	}
	_, at = approve("waiting")
	assert.Equal(t, "/admin", at, "nothing else waits")

	for _, id := range []string{"fourth", "fifth"} {
		w.Client(id, func(c *ledger.ImportClient) { c.State = ledger.Pending })
	}
	form := With(root.Get("/admin/clients/fifth").Form(t, "/admin/clients/fifth/review"), "verdict", "approve-next")
	root.Done(root.Post("/admin/clients/fifth/review", form))
	again := root.Post("/admin/clients/fifth/review", form)
	assert.Contains(t, again.Header.Get("Location"), "/admin/clients/fourth?done=approve.", "the same form twice")
}

func TestReject(t *testing.T) {
	w, root := Administration(t)
	for _, reason := range []string{"", " \n\t "} {
		res := root.Press(WaitingPage, WaitingPage+"/review", "verdict", "reject", "reason", reason)
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
		assert.Contains(t, res.Text, `<p class="error" id="f-reason-error">Note to the owner is missing: the owner must learn what to change.</p>`)
	}
	for name, test := range map[string]struct{ verdict, reason, says string }{
		"too long":    {"reject", strings.Repeat("x", 501), `id="f-reason-error">Note to the owner is too long: `},
		"no decision": {"", "kept", "Please choose whether to approve or to reject."},
		"another":     {"suspend", "kept", "Please choose whether to approve or to reject."},
		"direction":   {"reject", "kept \u202e", "Note to the owner holds a control character."},
	} {
		res := root.Press(WaitingPage, WaitingPage+"/review", "verdict", test.verdict, "reason", test.reason)
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, name)
		assert.Contains(t, res.Text, test.says, name)
		assert.Contains(t, res.Text, ">"+test.reason+"</textarea>", "%s: input is kept", name)
	}
	assert.Equal(t, ledger.Pending, w.ClientRow("waiting").State)

	after := root.Done(root.Press(WaitingPage, WaitingPage+"/review", "verdict", "reject", "reason", "Say what it is for."))
	assert.Contains(t, after.Text, "Rejected. <bdi>ada was told: “Say what it is for.”")
	later := root.Get(WaitingPage).Text
	assert.Contains(t, later, `<b>Rejected by <a href="/admin/users/u-root"><bdi>root</bdi></a>`)
	assert.Contains(t, later, `was told: “<bdi>Say what it is for.</bdi>”`)
	assert.Contains(t, after.Text, "<div>Rejected the application<p class=\"quiet\"><bdi>Say what it is for.</bdi></p>")
	assert.Equal(t, ledger.Rejected, w.ClientRow("waiting").State)
	assert.Equal(t, "Say what it is for.", w.ClientRow("waiting").Reason)
}

// TestReviewOfChanges verifies that a proposed revision is shown as a difference to the
// current one.
func TestReviewOfChanges(t *testing.T) {
	propose := func(w *Env) {
		w.ProposeRevision("calendar", func(p *ledger.Profile) {
			p.Name, p.Purpose = "Calendar 2", "It plans."
			p.RedirectURIs = append(p.RedirectURIs, "https://new.example.com/cb")
			p.Scopes = []string{"BOOKING_READ", "BOOKING_WRITE", "PROFILE_READ"}
		})
	}
	w, root := Administration(t)
	propose(w)
	page := root.Get(CalendarPage)
	for _, text := range []string{
		"What changes", "<del><b>Before:</b> <bdi>The calendar app</bdi></del>", "<ins><b>After:</b> <bdi>Calendar 2</bdi></ins>",
		"<ins><b>Adds:</b> <bdi>It plans.</bdi></ins>",
		"<ins><b>Adds:</b> https://new.example.com/cb</ins>", `<li class="kept">` + Callback + "</li>",
		"<ins><b>Adds:</b> PROFILE_READ: Viewing the authorized user&#39;s profile.", "As it is now", "Proposed to change name, purpose, redirect URIs and scopes",
	} {
		assert.Contains(t, page.Text, text)
	}
	assert.NotContains(t, page.Text, "<dt>Website</dt><dd><ul", "the website did not change")

	assert.Contains(t, page.Text, "<bdi>Scopes: BOOKING_READ BOOKING_WRITE PROFILE_READ</bdi>", "the history must show what was proposed")

	assert.Contains(t, root.Done(root.Press(CalendarPage, CalendarPage+"/review", "verdict", "reject", "reason", "Not that name.")).Text, "<div>Rejected the changes<p class=\"quiet\"><bdi>Not that name.</bdi></p>")
	page = root.Get(CalendarPage)
	for _, text := range []string{
		"Changes that were rejected", "<b>The owner was told:</b> <bdi>Not that name.</bdi>", "<ins><b>After:</b> <bdi>Calendar 2</bdi></ins>",
		"<ins><b>Adds:</b> PROFILE_READ: Viewing the authorized user&#39;s profile.",
	} {
		assert.Contains(t, page.Text, text)
	}
	assert.Equal(t, "The calendar app", w.ClientRow("calendar").Name)
	assert.Nil(t, w.ClientRow("calendar").Proposed)
	assert.Equal(t, ledger.Approved, w.ClientRow("calendar").State)

	propose(w)
	root.Done(root.Press(CalendarPage, CalendarPage+"/review", "verdict", "approve"))
	assert.Equal(t, "Calendar 2", w.ClientRow("calendar").Name)
	assert.Contains(t, w.ClientRow("calendar").Scopes, "PROFILE_READ")
}

func TestSuspendAndResume(t *testing.T) {
	w, root := Administration(t)
	assert.Equal(t, 1, strings.Count(root.Get(CalendarPage).Text, `<a class="button bad" href="`+SuspendPage+`">Suspend</a>`))
	res := root.Press(SuspendPage, SuspendPage, "reason", strings.Repeat("x", 501))
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.Text, `<h1><bdi>Suspend The calendar app?</bdi></h1>`)
	assert.Contains(t, res.Text, `<p class="error" id="f-reason-error">Note to the owner is too long: `)
	assert.Contains(t, res.Text, `maxlength="500"`)
	form := With(root.Get(SuspendPage).Form(t, SuspendPage), "reason", "It sends spam.")
	after := root.Done(root.Post(SuspendPage, form))
	assert.Contains(t, after.Text, "ada was told: “It sends spam.”")
	assert.Equal(t, 1, strings.Count(after.Text, "It sends spam.”"), "one notice")
	assert.Contains(t, root.Get(CalendarPage).Text, "was told: “<bdi>It sends spam.</bdi>”")
	assert.Equal(t, ledger.Suspended, w.ClientRow("calendar").State)
	assert.Equal(t, CalendarPage+"?done=suspend", LeadsTo(root.Post(SuspendPage, form)), "the same form twice")
	assert.NotContains(t, root.Get(CalendarPage).Text, SuspendPage, "it is suspended already")
	assert.Equal(t, CalendarPage, LeadsTo(root.Get(SuspendPage)))

	form = root.Get(CalendarPage).Form(t, CalendarPage+"/resume")
	after = root.Done(root.Post(CalendarPage+"/resume", form))
	for _, page := range []Answer{after, root.Get("/admin/audit?kind=client.reviewed")} {
		rows := regexp.MustCompile(`(<th scope="row">|<li>)<div>(Resumed|Suspended) .*`).FindAllString(page.Text, -1)
		require.Len(t, rows, 2)
		assert.Contains(t, rows[0], "<div>Resumed ")
		assert.Contains(t, rows[1], "<div>Suspended ")
		assert.Contains(t, rows[1], "<bdi>It sends spam.</bdi>", "one event for each verdict")
	}
	assert.Equal(t, ledger.Approved, w.ClientRow("calendar").State)
	assert.Equal(t, CalendarPage+"?done=resume", LeadsTo(root.Post(CalendarPage+"/resume", form)))

	assert.NotContains(t, root.Get(root.Noticed(CalendarPage, "suspend")).Text, "Suspended. It gets", "the notice is out of date")
	root.Done(root.Press(SuspendPage, SuspendPage))
	assert.NotContains(t, root.Get(root.Noticed(CalendarPage, "resume")).Text, "Resumed. The application", "the notice is out of date")
	res = root.Post(CalendarPage+"/resume", form)
	assert.Equal(t, http.StatusConflict, res.StatusCode, "the form is from before the second suspension")
	assert.Equal(t, ledger.Suspended, w.ClientRow("calendar").State)
}

// TestSuspendedMeanwhile verifies that the form of an application that another administrator
// suspended leads to the page of the application.
func TestSuspendedMeanwhile(t *testing.T) {
	w, root := Administration(t)
	w.BeforePropose = func() {
		w.Must(&ledger.ReviewClient{Actor: Operator, ID: "calendar", Verdict: ledger.Suspend, Reason: "Spam.", Revision: w.ClientRow("calendar").Revision})
	}
	res := root.Press(SuspendPage, SuspendPage, "reason", "Mine.")
	assert.Equal(t, http.StatusConflict, res.StatusCode)
	assert.Contains(t, res.Text, "was told: “<bdi>Spam.</bdi>”")
	assert.NotContains(t, res.Text, SuspendPage)
}

// TestReviewRaces verifies that two reviewers don't undo each other, and that the command
// checks the right to review.
func TestReviewRaces(t *testing.T) {
	operator := ledger.Actor{Operator: true}
	judge := func(w *Env, verdict ledger.Verdict) {
		rita := w.SignedInAs("rita")
		w.Must(&ledger.ReviewClient{
			Actor: ledger.Actor{Session: credential.SessionDigest(rita.Session())}, ID: "waiting", Verdict: verdict, Reason: "No.", Revision: w.ClientRow("waiting").Revision,
		})
	}
	for name, test := range map[string]struct {
		before func(w *Env, root *Browser)
		status int
		says   string
		state  ledger.ClientState
	}{
		"rejected by another": {func(w *Env, _ *Browser) { judge(w, ledger.Reject) }, 409, "so nothing was done", ledger.Rejected},
		"approved by another": {func(w *Env, _ *Browser) { judge(w, ledger.Approve) }, 409, `<span class="pill good">`, ledger.Approved},
		"edited": {func(w *Env, _ *Browser) {
			w.ProposeRevision("waiting", func(p *ledger.Profile) { p.Name = "Another name" })
		}, 409, "Another name", ledger.Pending},
		"deleted": {func(w *Env, _ *Browser) {
			w.Must(&ledger.DeleteClient{Actor: operator, ID: "waiting"})
		}, 404, "Page not found", ledger.Deleted},
		"not an administrator any more": {func(w *Env, _ *Browser) {
			w.Must(&ledger.SetUserState{Actor: operator, User: "u-root", State: ledger.Demote})
		}, 404, "Page not found", ledger.Pending},
		"signed out": {func(w *Env, root *Browser) {
			w.Must(&ledger.SignOut{Session: credential.SessionDigest(root.Session())})
		}, 403, "Your session ended", ledger.Pending},
		"no leader": {func(w *Env, _ *Browser) { w.NoLeader = true }, 503, "", ledger.Pending},
	} {
		t.Run(name, func(t *testing.T) {
			w, root := Administration(t)
			form := With(root.Get(WaitingPage).Form(t, WaitingPage+"/review"), "verdict", "approve")
			w.BeforePropose = func() { test.before(w, root) }
			res := root.Post(WaitingPage+"/review", form)
			assert.Equal(t, test.status, res.StatusCode, res.Text)
			assert.Contains(t, res.Text, test.says)
			assert.Equal(t, test.state, w.ClientRow("waiting").State)
			if name == "edited" {
				root.Done(root.Post(WaitingPage+"/review", With(res.Form(t, WaitingPage+"/review"), "verdict", "approve")))
				assert.Equal(t, "Another name", w.ClientRow("waiting").Name, "the redisplayed form must work")
			}
		})
	}
}

// TestAdministrationOnALaggingNode verifies that a node uses a fresh view before it
// responds 404.
func TestAdministrationOnALaggingNode(t *testing.T) {
	w, root := Administration(t)
	w.Lag()
	w.Client("late", func(c *ledger.ImportClient) { c.State = ledger.Pending })
	w.User("u-late", "late", "Late")
	for _, path := range []string{"/admin/clients/late", "/admin/users/u-late"} {
		assert.Equal(t, http.StatusOK, root.Get(path).StatusCode, path)
	}
	assert.Equal(t, http.StatusNotFound, root.Get("/admin/clients/never").StatusCode)
	assert.Equal(t, http.StatusNotFound, root.Get("/admin/users/never").StatusCode)
}

func TestAdminClients(t *testing.T) {
	w, root := Administration(t)
	w.Client("bobs", func(c *ledger.ImportClient) { c.Owner = "u-bob" })
	w.ProposeRevision("calendar", func(p *ledger.Profile) { p.Name = "Calendar" })
	count := func(query string) int {
		page := root.Get("/admin/clients?" + query)
		require.Equal(t, http.StatusOK, page.StatusCode)
		return strings.Count(page.Text, `<th scope="row">`)
	}
	for query, want := range map[string]int{
		"": 7, "q=CAL": 1, "q=app": 7, "q=nothing": 0, "state=approved": 4, "state=deleted": 0, "state=odd": 0,
		"owner=u-bob": 1, "owner=nobody": 0, "owner=u-ada&state=pending": 1, "owner=u-ada&state=rejected&q=ref": 1, "after=nothing": 7,
	} {
		assert.Equal(t, want, count(query), query)
	}
	assert.Equal(t, "/admin?q=cal", root.Get("/admin/clients?q=cal&state=pending").Header.Get("Location"), "the queue is the list of what waits")
	page := root.Get("/admin/clients?q=calendar&state=approved")
	assert.Contains(t, page.Text, `value="calendar"`)
	assert.Contains(t, page.Text, `<option value="approved" selected>Approved</option>`)
	assert.Contains(t, page.Text, `<span class="pill warn">Changes in review</span>`)
	assert.Contains(t, page.Text, `<a class="button" href="/admin/clients">Show all</a>`)
	assert.Contains(t, root.Get("/admin/clients?owner=u-bob").Text, `Applications of <a href="/admin/users/u-bob"><bdi>bob</bdi></a>`)
	assert.Contains(t, root.Get("/admin/clients?q=zzz").Text, "No application matches “zzz”")

	for i := range 40 {
		w.Client(fmt.Sprintf("many-%02d", i), nil)
	}
	page = root.Get("/admin/clients?" + url.Values{"q": {"many"}, "done": {"x"}}.Encode())
	assert.Contains(t, page.Text, `<a class="button small" href="/admin/clients?after=many-24&amp;q=many" rel="next">`)
	assert.Equal(t, 15, count("after=many-24&q=many"))
}

// TestAdminDeletedClient verifies that a deleted application has a page with its history.
func TestAdminDeletedClient(t *testing.T) {
	w, root := Administration(t)
	w.Must(&ledger.DeleteClient{Actor: ledger.Actor{Operator: true}, ID: "calendar"})
	page := root.Get(CalendarPage)
	assert.Contains(t, page.Text, `<span class="pill">Deleted</span>`)
	assert.Contains(t, page.Text, "Deleted the application")
	assert.NotContains(t, page.Text, `action="/admin`)
	assert.Equal(t, 1, strings.Count(root.Get("/admin/clients?state=deleted").Text, `<th scope="row">`))
}

func TestAdminLegacyAndPublicClients(t *testing.T) {
	_, root := Administration(t)
	assert.Contains(t, root.Get("/admin/clients/old").Text, "It can do everything that its users can. It was registered before there were scopes.")
	native := root.Get("/admin/clients/native")
	assert.Contains(t, native.Text, "Public: it runs on people’s own devices")
	assert.NotContains(t, native.Text, "Client secrets")
}

// TestRejectNeedsANote verifies that the form states which button needs the note.
func TestRejectNeedsANote(t *testing.T) {
	w := NewEnv(t)
	w.Must(&ledger.PutUser{ID: "u-root", Username: "root", Password: PasswordHash(), Admin: true})
	page := w.SignedInAs("root").Get("/admin/clients/waiting").Text
	assert.Contains(t, page, `Note to the owner <span class="quiet">(needed to reject)</span></label>`)
	assert.NotContains(t, page, "(optional)")
	assert.Contains(t, page, `maxlength="500"`)
}
