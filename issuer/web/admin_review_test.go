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

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

// administration returns an env with the administrators Root and Rita.
func administration(t *testing.T, change ...func(*web.Config)) (w *env, root *browser) {
	t.Helper()
	w = newEnv(t, change...)
	w.agents(ledger.AgentsListed)
	for _, name := range []string{"root", "rita"} {
		w.must(&ledger.PutUser{ID: "u-" + name, Username: name, Person: ledger.Person{Name: strings.ToTitle(name[:1]) + name[1:]}, Password: passwordHash(), Admin: true})
	}
	w.user("u-bob", "bob", "Bob")
	return w, w.signedInAs("root")
}

func (w *env) clientRow(id string) *ledger.Client { return ledger.At(w.memory.View()).Client(id) }

// propose edits a client of Ada's.
func (w *env) propose(id string, change func(*ledger.Profile)) {
	w.t.Helper()
	p := w.clientRow(id).Profile
	change(&p)
	ada := w.signedIn()
	w.must(&ledger.EditClient{
		Actor: ledger.Actor{Session: credential.SessionDigest(ada.session())}, ID: id, Revision: w.clientRow(id).Revision, Profile: p,
	})
}

// press submits the form of a page for an action, filled in with pairs.
func (b *browser) press(page, action string, pairs ...string) answer {
	b.env.t.Helper()
	return b.post(action, with(b.get(page).form(b.env.t, action), pairs...))
}

// done requires that a form was accepted, and returns the page that follows.
func (b *browser) done(res answer) answer {
	b.env.t.Helper()
	require.Equal(b.env.t, http.StatusSeeOther, res.StatusCode, res.body)
	page := b.get(res.Header.Get("Location"))
	require.Equal(b.env.t, http.StatusOK, page.StatusCode, page.body)
	require.Contains(b.env.t, page.body, `role="status"`)
	return page
}

const (
	waitingPage  = "/admin/clients/waiting"
	calendarPage = "/admin/clients/calendar"
)

func TestReviewQueue(t *testing.T) {
	w, root := administration(t)
	page := root.get("/admin")
	assert.Contains(t, page.body, `<a href="/admin/clients/waiting"><bdi>The waiting app</bdi></a>`)
	assert.Contains(t, page.body, `<a href="/admin/users/u-ada"><bdi>ada</bdi></a>`)
	assert.NotContains(t, page.body, "calendar")

	w.advance(time.Hour)
	root = w.signedInAs("root")
	w.propose("calendar", func(p *ledger.Profile) { p.Name, p.Website = "Calendar", "https://calendar.example.net/" })
	page = root.get("/admin")
	first, second, _ := strings.Cut(page.body, "/admin/clients/calendar")
	assert.Contains(t, first, "/admin/clients/waiting", "the longest waiting first")
	assert.Contains(t, second, "Changes: name, website")

	root.done(root.press(waitingPage, waitingPage+"/review", "verdict", "approve"))
	root.done(root.press(calendarPage, calendarPage+"/review", "verdict", "approve"))
	assert.Contains(t, root.get("/admin").body, "Nothing waits for a review")
}

func TestReviewQueueIsPaged(t *testing.T) {
	w, root := administration(t)
	for i := range 30 {
		w.advance(time.Second)
		w.client(fmt.Sprintf("c%02d", i), func(c *ledger.ImportClient) { c.State = ledger.Pending })
	}
	page := root.get("/admin")
	assert.Equal(t, 25, strings.Count(page.body, `<th scope="row">`))
	assert.NotContains(t, page.body, ">First</a>")
	assert.Contains(t, page.body, `<a class="button small" href="/admin?after=c23" rel="next">Next</a>`)
	page = root.get("/admin?after=c23")
	assert.Equal(t, 6, strings.Count(page.body, `<th scope="row">`))
	assert.Contains(t, page.body, `<a class="button small" href="/admin">First</a>`)
	assert.NotContains(t, page.body, ">Next</a>")
}

func TestReviewQueueIsSearched(t *testing.T) {
	w, root := administration(t)
	w.client("mmc-7", func(c *ledger.ImportClient) { c.State, c.Profile.Name = ledger.Pending, "Räume & Zeiten" })
	w.propose("calendar", func(p *ledger.Profile) { p.Name = "Another name" })
	for query, want := range map[string][]string{
		"": {"calendar", "mmc-7", "waiting"}, "q=app": {"calendar", "waiting"}, "q=RÄU": {"mmc-7"}, "q=MMC": {"mmc-7"}, "q=old": nil,
	} {
		var found []string
		page := root.get("/admin?" + query)
		for _, m := range regexp.MustCompile(`<th scope="row"><a href="/admin/clients/([^"]*)"`).FindAllStringSubmatch(page.body, -1) {
			found = append(found, m[1])
		}
		assert.Equal(t, want, found, query)
		assert.Equal(t, query != "", strings.Contains(page.body, `<a href="/admin">Show all</a>`), query)
	}
	page := root.get("/admin?q=%3Cold%3E")
	assert.Contains(t, page.body, "Nothing that waits was found")
	assert.Contains(t, page.body, `value="&lt;old&gt;"`)
	assert.NotContains(t, page.body, "Nothing waits for a review")
}

func TestApprove(t *testing.T) {
	w, root := administration(t)
	page := root.get(waitingPage)
	for _, text := range []string{
		"<title>The waiting app · Mintmark</title>", `<span class="pill warn">Waiting for review</span>`,
		"Confidential: it runs on a server", "Waiting for a review", `<code id="client-id">waiting</code>`, `<li><code>` + callback + `</code></li>`,
		`<a href="https://waiting.example.com/about" rel="noreferrer nofollow">waiting.example.com</a>`,
		"<code>BOOKING_READ</code>", `<a href="/admin/users/u-ada"><bdi>ada</bdi></a>`, "Application imported",
	} {
		assert.Contains(t, page.body, text)
	}
	assert.NotContains(t, page.body, "Suspend")

	form := with(page.form(t, waitingPage+"/review"), "verdict", "approve", "reason", " Well\r\ndone. ")
	after := root.done(root.post(waitingPage+"/review", form))
	assert.Contains(t, after.body, "It was approved.")
	assert.Contains(t, after.body, `<span class="pill good">Approved</span>`)
	assert.Contains(t, after.body, "approve: Well done.", "the history")
	assert.NotContains(t, after.body, "/review")
	assert.Equal(t, ledger.Approved, w.clientRow("waiting").State)

	revision := w.clientRow("waiting").Revision
	again := root.post(waitingPage+"/review", form)
	assert.Equal(t, waitingPage+"?done=approve", leadsTo(again), "the same form twice")
	assert.Equal(t, revision, w.clientRow("waiting").Revision)
}

func TestReject(t *testing.T) {
	w, root := administration(t)
	for _, reason := range []string{"", " \n\t "} {
		res := root.press(waitingPage, waitingPage+"/review", "verdict", "reject", "reason", reason)
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
		assert.Contains(t, res.body, `<p class="error" id="f-reason-error">Note to the owner is missing: the owner must learn what to change.</p>`)
	}
	for name, test := range map[string]struct{ verdict, reason, says string }{
		"too long":    {"reject", strings.Repeat("x", 501), `id="f-reason-error">Note to the owner is too long.`},
		"no decision": {"", "kept", "Please choose whether to approve or to reject."},
		"another":     {"suspend", "kept", "Please choose whether to approve or to reject."},
		"direction":   {"reject", "kept \u202e", "Note to the owner holds a control character."},
	} {
		res := root.press(waitingPage, waitingPage+"/review", "verdict", test.verdict, "reason", test.reason)
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, name)
		assert.Contains(t, res.body, test.says, name)
		assert.Contains(t, res.body, ">"+test.reason+"</textarea>", "%s: input is kept", name)
	}
	assert.Equal(t, ledger.Pending, w.clientRow("waiting").State)

	after := root.done(root.press(waitingPage, waitingPage+"/review", "verdict", "reject", "reason", "Say what it is for."))
	assert.Contains(t, after.body, "It was rejected.")
	assert.Contains(t, after.body, "<b>The owner was told:</b> <bdi>Say what it is for.</bdi>")
	assert.Contains(t, after.body, "reject: Say what it is for.")
	assert.Equal(t, ledger.Rejected, w.clientRow("waiting").State)
	assert.Equal(t, "Say what it is for.", w.clientRow("waiting").Reason)
}

// TestReviewOfChanges verifies that a proposed revision is shown as a difference to the
// current one.
func TestReviewOfChanges(t *testing.T) {
	propose := func(w *env) {
		w.propose("calendar", func(p *ledger.Profile) {
			p.Name, p.Purpose = "Calendar 2", "It plans."
			p.RedirectURIs = append(p.RedirectURIs, "https://new.example.com/cb")
			p.Scopes = []string{"BOOKING_READ", "BOOKING_WRITE", "PROFILE_READ"}
		})
	}
	w, root := administration(t)
	propose(w)
	page := root.get(calendarPage)
	for _, text := range []string{
		"Changes that wait for a review", "<del><b>Before:</b> <bdi>The calendar app</bdi></del>", "<ins><b>After:</b> <bdi>Calendar 2</bdi></ins>",
		"<del><b>Before:</b> <bdi>none</bdi></del>", "<ins><b>After:</b> <bdi>It plans.</bdi></ins>",
		"<ins><b>Added:</b> https://new.example.com/cb</ins>", `<li class="kept">` + callback + "</li>",
		"<ins><b>Added:</b> PROFILE_READ: Viewing the authorized user&#39;s profile.", "As it is now", "Changes proposed",
	} {
		assert.Contains(t, page.body, text)
	}
	assert.NotContains(t, page.body, "<dt>Website</dt><dd><ul", "the website did not change")

	assert.Contains(t, page.body, "<bdi>name, purpose, redirection URIs, scopes; scopes BOOKING_READ BOOKING_WRITE PROFILE_READ</bdi>", "the history must show what was proposed")

	assert.Contains(t, root.done(root.press(calendarPage, calendarPage+"/review", "verdict", "reject", "reason", "Not that name.")).body, "reject: Not that name.")
	page = root.get(calendarPage)
	for _, text := range []string{
		"Changes that were refused", "<b>The owner was told:</b> <bdi>Not that name.</bdi>", "<ins><b>After:</b> <bdi>Calendar 2</bdi></ins>",
		"<ins><b>Added:</b> PROFILE_READ: Viewing the authorized user&#39;s profile.",
	} {
		assert.Contains(t, page.body, text)
	}
	assert.Equal(t, "The calendar app", w.clientRow("calendar").Name)
	assert.Nil(t, w.clientRow("calendar").Proposed)
	assert.Equal(t, ledger.Approved, w.clientRow("calendar").State)

	propose(w)
	root.done(root.press(calendarPage, calendarPage+"/review", "verdict", "approve"))
	assert.Equal(t, "Calendar 2", w.clientRow("calendar").Name)
	assert.Contains(t, w.clientRow("calendar").Scopes, "PROFILE_READ")
}

func TestSuspendAndResume(t *testing.T) {
	w, root := administration(t)
	page := root.get(calendarPage)
	assert.Contains(t, page.body, `href="/admin/clients/calendar/suspend">Suspend the application</a>`)
	res := root.press(calendarPage+"/suspend", calendarPage+"/suspend", "reason", strings.Repeat("x", 501))
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.body, "Note to the owner is too long.")
	form := with(root.get(calendarPage+"/suspend").form(t, calendarPage+"/suspend"), "reason", "It sends spam.")
	after := root.done(root.post(calendarPage+"/suspend", form))
	assert.Contains(t, after.body, "<b>The owner was told:</b> <bdi>It sends spam.</bdi>")
	assert.Equal(t, ledger.Suspended, w.clientRow("calendar").State)
	assert.Equal(t, calendarPage+"?done=suspend", leadsTo(root.post(calendarPage+"/suspend", form)), "the same form twice")
	assert.Equal(t, calendarPage, root.get(calendarPage+"/suspend").Header.Get("Location"), "it is suspended already")

	form = root.get(calendarPage).form(t, calendarPage+"/resume")
	after = root.done(root.post(calendarPage+"/resume", form))
	for _, page := range []answer{after, root.get("/admin/audit?kind=client.reviewed")} {
		rows := regexp.MustCompile(`<tr><th scope="row">.*`).FindAllString(page.body, 2)
		require.Len(t, rows, 2)
		assert.Contains(t, rows[0], ">Application resumed</td>")
		assert.Contains(t, rows[1], ">Application suspended</td>")
		assert.Contains(t, rows[1], "<bdi>It sends spam.</bdi>", "one event for each verdict")
	}
	assert.Equal(t, ledger.Approved, w.clientRow("calendar").State)
	assert.Equal(t, calendarPage+"?done=resume", leadsTo(root.post(calendarPage+"/resume", form)))

	assert.NotContains(t, root.get(root.noticed(calendarPage, "suspend")).body, "was suspended", "the notice is out of date")
	root.done(root.press(calendarPage+"/suspend", calendarPage+"/suspend"))
	assert.NotContains(t, root.get(root.noticed(calendarPage, "resume")).body, "may be used again.", "the notice is out of date")
	res = root.post(calendarPage+"/resume", form)
	assert.Equal(t, http.StatusConflict, res.StatusCode, "the form is from before the second suspension")
	assert.Equal(t, ledger.Suspended, w.clientRow("calendar").State)
}

// TestReviewRaces verifies that two reviewers don't undo each other, and that the command
// checks the right to review.
func TestReviewRaces(t *testing.T) {
	operator := ledger.Actor{Operator: true}
	judge := func(w *env, verdict ledger.Verdict) {
		rita := w.signedInAs("rita")
		w.must(&ledger.ReviewClient{
			Actor: ledger.Actor{Session: credential.SessionDigest(rita.session())}, ID: "waiting", Verdict: verdict, Reason: "No.", Revision: w.clientRow("waiting").Revision,
		})
	}
	for name, test := range map[string]struct {
		before func(w *env, root *browser)
		status int
		says   string
		state  ledger.ClientState
	}{
		"rejected by another": {func(w *env, _ *browser) { judge(w, ledger.Reject) }, 409, "so nothing was done", ledger.Rejected},
		"approved by another": {func(w *env, _ *browser) { judge(w, ledger.Approve) }, 409, `<span class="pill good">`, ledger.Approved},
		"edited": {func(w *env, _ *browser) {
			w.propose("waiting", func(p *ledger.Profile) { p.Name = "Another name" })
		}, 409, "Another name", ledger.Pending},
		"deleted": {func(w *env, _ *browser) {
			w.must(&ledger.DeleteClient{Actor: operator, ID: "waiting"})
		}, 404, "Page not found", ledger.Deleted},
		"not an administrator any more": {func(w *env, _ *browser) {
			w.must(&ledger.SetUserState{Actor: operator, User: "u-root", State: ledger.Demote})
		}, 404, "Page not found", ledger.Pending},
		"signed out": {func(w *env, root *browser) {
			w.must(&ledger.SignOut{Session: credential.SessionDigest(root.session())})
		}, 403, "Your session ended.", ledger.Pending},
		"no leader": {func(w *env, _ *browser) { w.noLeader = true }, 503, "", ledger.Pending},
	} {
		t.Run(name, func(t *testing.T) {
			w, root := administration(t)
			form := with(root.get(waitingPage).form(t, waitingPage+"/review"), "verdict", "approve")
			w.beforePropose = func() { test.before(w, root) }
			res := root.post(waitingPage+"/review", form)
			assert.Equal(t, test.status, res.StatusCode, res.body)
			assert.Contains(t, res.body, test.says)
			assert.Equal(t, test.state, w.clientRow("waiting").State)
			if name == "edited" {
				root.done(root.post(waitingPage+"/review", with(res.form(t, waitingPage+"/review"), "verdict", "approve")))
				assert.Equal(t, "Another name", w.clientRow("waiting").Name, "the redisplayed form must work")
			}
		})
	}
}

// TestAdministrationOnALaggingNode verifies that a node uses a fresh view before it
// responds 404.
func TestAdministrationOnALaggingNode(t *testing.T) {
	w, root := administration(t)
	w.lag()
	w.client("late", func(c *ledger.ImportClient) { c.State = ledger.Pending })
	w.user("u-late", "late", "Late")
	for _, path := range []string{"/admin/clients/late", "/admin/users/u-late"} {
		assert.Equal(t, http.StatusOK, root.get(path).StatusCode, path)
	}
	assert.Equal(t, http.StatusNotFound, root.get("/admin/clients/never").StatusCode)
	assert.Equal(t, http.StatusNotFound, root.get("/admin/users/never").StatusCode)
	assert.Equal(t, http.StatusNotFound, root.get("/admin/clients/never/suspend").StatusCode)
}

func TestAdminClients(t *testing.T) {
	w, root := administration(t)
	w.client("bobs", func(c *ledger.ImportClient) { c.Owner = "u-bob" })
	w.propose("calendar", func(p *ledger.Profile) { p.Name = "Calendar" })
	count := func(query string) int {
		page := root.get("/admin/clients?" + query)
		require.Equal(t, http.StatusOK, page.StatusCode)
		return strings.Count(page.body, `<th scope="row">`)
	}
	for query, want := range map[string]int{
		"": 7, "q=CAL": 1, "q=app": 7, "q=nothing": 0, "state=pending": 1, "state=approved": 4, "state=deleted": 0, "state=odd": 0,
		"owner=u-bob": 1, "owner=nobody": 0, "owner=u-ada&state=rejected&q=ref": 1, "after=nothing": 7,
	} {
		assert.Equal(t, want, count(query), query)
	}
	page := root.get("/admin/clients?q=calendar&state=approved")
	assert.Contains(t, page.body, `value="calendar"`)
	assert.Contains(t, page.body, `<option value="approved" selected>Approved</option>`)
	assert.Contains(t, page.body, `<span class="pill warn">Changes wait</span>`)
	assert.Contains(t, page.body, "These applications were found.")
	assert.Contains(t, root.get("/admin/clients?owner=u-bob").body, `of those that <a href="/admin/users/u-bob"><bdi>bob</bdi></a> owns`)
	assert.Contains(t, root.get("/admin/clients?q=zzz").body, "No application was found.")

	for i := range 40 {
		w.client(fmt.Sprintf("many-%02d", i), nil)
	}
	page = root.get("/admin/clients?" + url.Values{"q": {"many"}, "done": {"x"}}.Encode())
	assert.Contains(t, page.body, `<a class="button small" href="/admin/clients?after=many-24&amp;q=many" rel="next">`)
	assert.Equal(t, 15, count("after=many-24&q=many"))
}

// TestAdminDeletedClient verifies that a deleted application has a page with its history.
func TestAdminDeletedClient(t *testing.T) {
	w, root := administration(t)
	w.must(&ledger.DeleteClient{Actor: ledger.Actor{Operator: true}, ID: "calendar"})
	page := root.get(calendarPage)
	assert.Contains(t, page.body, `<span class="pill">Deleted</span>`)
	assert.Contains(t, page.body, "Application deleted")
	assert.NotContains(t, page.body, `action="/admin`)
	assert.Equal(t, 1, strings.Count(root.get("/admin/clients?state=deleted").body, `<th scope="row">`))
}

func TestAdminLegacyAndPublicClients(t *testing.T) {
	_, root := administration(t)
	assert.Contains(t, root.get("/admin/clients/old").body, "Everything: it was registered before there were scopes.")
	native := root.get("/admin/clients/native")
	assert.Contains(t, native.body, "Public: it runs on people’s own devices")
	assert.NotContains(t, native.body, "Client secrets")
}

// TestRejectNeedsANote verifies that the form states which button needs the note.
func TestRejectNeedsANote(t *testing.T) {
	w := newEnv(t)
	w.must(&ledger.PutUser{ID: "u-root", Username: "root", Password: passwordHash(), Admin: true})
	page := w.signedInAs("root").get("/admin/clients/waiting").body
	assert.Contains(t, page, `Note to the owner <span class="quiet">(needed to reject)</span></label>`)
	assert.NotContains(t, page, "(optional)")
}
