package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// publishers is administration with agents accepted, and with two hosts that wait for a review.
func publishers(t *testing.T) (w *Env, root *Browser) {
	w, _ = Administration(t)
	w.Agents(ledger.AgentsReviewed)
	for _, host := range []string{"agent.example", "other.example"} {
		w.Document("https://" + host + "/client")
		w.Advance(time.Second)
	}
	return w, w.SignedInAs("root")
}

func TestAdminPublishers(t *testing.T) {
	w, root := publishers(t)
	w.List("zoo.example")
	w.List("claude.ai")
	page := root.Get(PublishersPage)
	var last int
	for _, host := range []string{"agent.", "other.", "claude.", "local", "zoo."} {
		at := strings.Index(page.Text, `">`+host)
		assert.Greater(t, at, last, host)
		last = at
	}
	assert.Contains(t, page.Text, `<span class="pill">Off</span>`)
	assert.Contains(t, page.Text, `Requested by <bdi>ada</bdi> <time`)
	assert.Contains(t, page.Text, `href="/admin/new-publisher?host=zed.dev">`)
	assert.NotContains(t, page.Text, `?host=claude.ai`, "it is listed")
	for query, want := range map[string]int{"state=pending": 2, "state=approved": 2, "state=rejected": 1, "q=AGENT": 1, "q=programs": 1, "q=other&state=pending": 1, "q=none": 0} {
		found := root.Get(PublishersPage + "?" + query)
		assert.Equal(t, want, strings.Count(found.Text, `<th scope="row">`), query)
		assert.NotContains(t, found.Text, "?host=", query)
	}
	for i := range 30 {
		w.List(fmt.Sprintf("h%02d.example", i))
	}
	assert.Equal(t, 25, strings.Count(root.Get(PublishersPage).Text, `<th scope="row">`))
	assert.Equal(t, 11, strings.Count(root.Get(PublishersPage+"?after=h20.example").Text, `<th scope="row">`))
	assert.Equal(t, http.StatusNotFound, root.Get(PublishersPage+"/none.example").StatusCode)
	w.Agents(ledger.AgentsListed)
	assert.Contains(t, root.Get(PublishersPage).Text, "others are refused.")
}

// TestPublishersInTheReviewQueue: those that wait have a tab beside the applications that wait.
func TestPublishersInTheReviewQueue(t *testing.T) {
	w, root := publishers(t)
	const tab = "/admin?show=publishers"
	queue := root.Get("/admin").Text
	assert.Contains(t, queue, `<a href="/admin/clients/waiting">`)
	assert.NotContains(t, queue, `<a href="/admin/publishers/`)
	assert.Contains(t, queue, `<a href="`+tab+`">Publishers <b class="count">2<`)
	queue = root.Get(tab).Text
	assert.Contains(t, queue, `<a href="/admin/publishers/agent.example">agent.<wbr>example</a>`)
	assert.NotContains(t, queue, `<a href="/admin/clients/waiting">`)
	for i := range 30 {
		w.User(fmt.Sprintf("u-%d", i), fmt.Sprintf("user%d", i), "")
		w.Must(&ledger.NoteDocument{
			Actor: ledger.Actor{Session: credential.SessionDigest(w.SignedInAs(fmt.Sprintf("user%d", i)).Session())},
			URL:   fmt.Sprintf("https://h%d.example/client", i), Name: "Agent", RedirectURIs: []string{"http://127.0.0.1/cb"},
		})
	}
	queue = root.Get(tab).Text
	assert.Equal(t, 25, strings.Count(queue, `<a href="/admin/publishers/`))
	assert.Contains(t, queue, "1–25 of 32")
	w.Agents(ledger.AgentsOff)
	assert.NotContains(t, root.Get(tab).Text, "ublishers")
}

// TestReviewPublisher goes from a request of a user to a client that can be allowed.
func TestReviewPublisher(t *testing.T) {
	w, root := publishers(t)
	page := root.Get(PublisherPage)
	for _, says := range []string{"Waiting for review", "https://agent.example/client", "The agent", `href="` + PublisherPage + `/reject"`} {
		assert.Contains(t, page.Text, says)
	}
	assert.NotContains(t, page.Text, "Approved", "its client can't be used yet")
	edit := PublisherPage + "/edit"
	ask := root.Get(edit)
	assert.Contains(t, ask.Text, `value="BOOKING_READ" checked`)
	form := ask.Form(t, edit)
	for name, test := range map[string]struct {
		fields []string
		says   string
	}{
		"nothing":       {nil, "Tick at least one scope."},
		"unknown":       {[]string{"scopes", "NONE"}, "The selection of scopes names a scope that does not exist."},
		"more defaults": {[]string{"scopes", "BOOKING_READ", "defaults", "PROFILE_READ"}, "The selection of default scopes has a scope that is not among the scopes."},
		"writing":       {[]string{"scopes", "BOOKING_WRITE", "defaults", "BOOKING_WRITE"}, "The selection of default scopes has a scope that is not for reading only."},
		"too many":      {[]string{"scopes", "BOOKING_READ", "max_clients", "101"}, "Limit of applications must be from 1 to 100."},
		"none":          {[]string{"scopes", "BOOKING_READ", "max_clients", "0"}, "Limit of applications must be from 1 to 100."},
		"name":          {[]string{"scopes", "BOOKING_READ", "name", strings.Repeat("x", 81)}, "Name is too long: "},
	} {
		res := root.Post(edit, filled(form, test.fields...))
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, name)
		assert.Contains(t, res.Text, test.says, name)
	}
	assert.Equal(t, ledger.PublisherPending, w.Publisher("agent.example").State)

	right := With(filled(form, "scopes", "PROFILE_READ", "defaults", "BOOKING_READ", "long_retry", "yes", "name", "Agent"), "scopes", "PROFILE_READ")
	right["scopes"] = []string{"PROFILE_READ", "BOOKING_READ"}
	res := root.Post(edit, right)
	after := root.Follow(res)
	assert.Contains(t, after.Text, "The publisher was approved.")
	assert.Contains(t, after.Text, "Several processes may share one<")
	assert.Contains(t, after.Text, `<bdi>root</bdi>`, "who reviewed it")
	assert.Contains(t, root.Get(edit).Text, "View Bookings. For applications that don’t say what they want.")
	p := w.Publisher("agent.example")
	assert.Equal(t, []string{"BOOKING_READ", "PROFILE_READ"}, p.Scopes)
	assert.Equal(t, []string{"BOOKING_READ"}, p.Defaults)
	assert.Equal(t, "u-root", p.ReviewedBy)
	assert.True(t, p.LongRetry)
	index := w.Index
	assert.Contains(t, root.Follow(root.Post(edit, right)).Text, "Saved.", "the same form twice")
	assert.Equal(t, index, w.Index)
	w.AllowAgent("https://agent.example/client")

	// An edit of a page that is stale is shown again, for the current state.
	form = root.Get(edit).Form(t, edit)
	assert.Contains(t, root.Follow(root.Submit(edit, edit, "scopes", "PROFILE_READ", "long_retry", "yes", "name", "Agent")).Text, "Saved.")
	stale := root.Post(edit, filled(form, "scopes", "BOOKING_WRITE"))
	assert.Equal(t, http.StatusConflict, stale.StatusCode)
	assert.Contains(t, stale.Text, `value="BOOKING_WRITE" checked`)
	assert.Equal(t, []string{"PROFILE_READ"}, w.Publisher("agent.example").Scopes)
	assert.Contains(t, root.Follow(root.Post(edit, With(stale.Form(t, edit), "scopes", "BOOKING_WRITE"))).Text, "Saved.")
	assert.Contains(t, root.Follow(root.Submit(edit, edit, "scopes", "BOOKING_WRITE")).Text, "There was nothing to change.")
	assert.False(t, w.Publisher("agent.example").LongRetry)
	w.Must(&ledger.EndPublisher{Actor: Operator, Host: "agent.example", How: ledger.EndRemove})
	assert.Equal(t, http.StatusNotFound, root.Post(edit, stale.Form(t, edit)).StatusCode)

	audit := root.Get("/admin/audit?kind=publisher").Text
	for _, says := range []string{"Asked for <", "Approved publisher <", "Changed publisher <", "Removed publisher <"} {
		assert.Contains(t, audit, says)
	}
}

func TestAddPublisher(t *testing.T) {
	w, root := publishers(t)
	page := root.Get(AddPublisher + "?host=claude.ai")
	assert.Contains(t, page.Text, `value="claude.ai"`)
	assert.Contains(t, page.Text, `value="Claude"`)
	form := page.Form(t, AddPublisher)
	for _, scope := range []string{"EVENT_TYPE_READ", "BOOKING_READ", "SCHEDULE_READ", "APPS_READ", "PROFILE_READ"} {
		assert.Contains(t, page.Text, `value="`+scope+`" checked`)
	}
	assert.Equal(t, 5, strings.Count(page.Text, " checked"), "nothing else is ticked beforehand")
	assert.Contains(t, page.Text, "None: an application has to say what it wants.")
	assert.NotContains(t, page.Text, "redirect_uris")
	const notPublic = "Host isn’t a public host name: use one such as claude.ai."
	for host, says := range map[string]string{
		"":                 "Host is missing.",
		"127.0.0.1":        notPublic,
		"agent":            notPublic,
		"auth.example.com": "Host is this service's own.",
		"zoo.example:8443": notPublic,
	} {
		res := root.Post(AddPublisher, filled(form, "host", host, "scopes", "BOOKING_READ"))
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, host)
		assert.Contains(t, strings.ReplaceAll(res.Text, "&#39;", "'"), says, host)
	}
	all := root.Post(AddPublisher, filled(form, "host", "agent"))
	assert.Contains(t, all.Text, notPublic)
	assert.Contains(t, all.Text, "Tick at least one scope.", "all problems at once")
	right := filled(form, "host", " https://Claude.ai/oauth/claude-code-client-metadata ", "name", "Claude", "scopes", "BOOKING_READ")
	assert.Contains(t, root.Follow(root.Post(AddPublisher, right)).Text, "The publisher was added.")
	assert.Equal(t, "Claude", w.Publisher("claude.ai").Name)
	assert.Contains(t, root.Follow(root.Post(AddPublisher, right)).Text, "Saved.", "the same form twice")
	res := root.Post(AddPublisher, filled(right, "scopes", "BOOKING_WRITE"))
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.Text, "Host is taken.")
	assert.Contains(t, root.Follow(root.Post(AddPublisher, filled(form, "host", "agent.example", "scopes", "BOOKING_READ"))).Text, "The publisher was approved.", "it waited")
}

// TestLocalPublisher: programs on the computers of users are off until an administrator turns
// them on, and what was chosen stays when they are turned off.
func TestLocalPublisher(t *testing.T) {
	const cursor = "cursor://anysphere.cursor-mcp/oauth/callback"
	w, root := publishers(t)
	edit, off := LocalPage+"/edit", LocalPage+"/reject"
	page := root.Get(LocalPage)
	assert.Contains(t, page.Text, `<span class="pill">Off</span>`)
	assert.NotContains(t, page.Text, off)
	for _, end := range []string{"/revoke", "/reject", "/remove"} {
		assert.Equal(t, LocalPage, root.Get(LocalPage+end).Header.Get("Location"))
	}
	form := root.Get(edit).Form(t, edit)
	res := root.Post(edit, filled(form, "scopes", "BOOKING_READ", "redirect_uris", "https://x.example"))
	assert.Contains(t, res.Text, "Private-use redirect URIs must have a scheme of the program&#39;s own.")
	right := filled(form, "scopes", "BOOKING_READ", "redirect_uris", cursor+"\r\n\r\nzed://agent\r\n")
	assert.Contains(t, root.Follow(root.Post(edit, right)).Text, "It was turned on.")
	assert.Equal(t, []string{cursor, "zed://agent"}, w.Publisher("local").RedirectURIs)
	assert.Contains(t, root.Follow(root.Post(edit, right)).Text, "There was nothing to change.", "the same form twice")
	on := root.Get(LocalPage)
	assert.Contains(t, on.Text, `<span class="pill good">On</span>`)
	assert.Contains(t, on.Text, cursor)

	ask := root.Get(off)
	assert.Contains(t, ask.Text, "Turn off programs on users’ computers?")
	assert.NotContains(t, ask.Text, `name="reason"`)
	assert.Contains(t, root.Follow(root.Post(off, ask.Form(t, off))).Text, "It was turned off")
	assert.Equal(t, ledger.PublisherRejected, w.Publisher("local").State)
	again := root.Get(edit)
	assert.Contains(t, again.Text, `value="BOOKING_READ" checked`)
	assert.Contains(t, again.Text, cursor+"\nzed://agent</textarea>")

	remove := LocalPage + "/remove"
	form = root.Get(remove).Form(t, remove)
	for range 2 {
		assert.Contains(t, root.Post(remove, form).Header.Get("Location"), "/admin/publishers?done=removed-none.", "the same form twice")
	}
	assert.Nil(t, w.Publisher("local"))
}

// TestEndPublisher: each question states how many grants it ends, and a page that is stale ends
// none.
func TestEndPublisher(t *testing.T) {
	w, root := publishers(t)
	w.List("agent.example")
	agent := "https://agent.example/client"
	for range 2 {
		w.AllowAgent(agent)
	}
	page := root.Get(PublisherPage)
	assert.Contains(t, page.Text, `<td data-name="Grants" class="num">2</td>`)
	assert.NotContains(t, page.Text, `data-name="Last allowed">Never`)

	revoke := PublisherPage + "/revoke"
	ask := root.Get(revoke)
	assert.Contains(t, ask.Text, "<h1><bdi>Disconnect everybody from agent.example?</bdi></h1>")
	assert.Contains(t, root.Follow(root.Post(revoke, ask.Form(t, revoke))).Text, "Everybody was disconnected.")
	assert.Empty(t, w.Grants())
	assert.Equal(t, ledger.PublisherApproved, w.Publisher("agent.example").State)
	assert.Contains(t, root.Get(PublisherPage).Text, `<td data-name="Grants" class="num">0</td>`, "what was counted before counts no more")

	w.AllowAgent(agent)
	reject, remove := PublisherPage+"/reject", PublisherPage+"/remove"
	ask = root.Get(reject)
	assert.Contains(t, ask.Text, "<li>1 person is disconnected.</li>")
	w.Must(&ledger.PutPublisher{Actor: Operator, Host: "agent.example", Scopes: []string{"BOOKING_READ"}})
	form := With(ask.Form(t, reject), "reason", "It\nharms.")
	stale := root.Post(reject, form)
	assert.Equal(t, http.StatusConflict, stale.StatusCode, "it has changed")
	assert.Len(t, w.Grants(), 1)
	form = With(stale.Form(t, reject), "reason", "It\nharms.")
	for _, says := range []string{"The publisher was rejected and everybody disconnected. Access that", "The publisher was rejected."} {
		after := root.Follow(root.Post(reject, form))
		assert.Contains(t, after.Text, says)
		assert.Contains(t, after.Text, "It harms.")
	}
	assert.Empty(t, w.Grants())
	assert.Equal(t, ledger.PublisherRejected, w.Publisher("agent.example").State)
	assert.Equal(t, PublisherPage, root.Get(reject).Header.Get("Location"), "it is rejected already")
	assert.Contains(t, root.Submitted(reject).Text, "Its state does not allow that.", "another reason")

	long := root.Get(remove).Form(t, remove)
	for range 2 {
		assert.Contains(t, root.Follow(root.Post(remove, long)).Text, "Removed agent.example.</p>", "nobody was connected any more")
	}
	assert.Nil(t, w.Publisher("agent.example"))
	w.List("agent.example")
	ask = root.Get(remove)
	assert.Contains(t, ask.Text, "<li>Nobody is connected now.</li>")
	w.AllowAgent(agent)
	ask = root.Get(remove)
	assert.Contains(t, root.Follow(root.Post(remove, ask.Form(t, remove))).Text, "Removed agent.example. Everybody was disconnected. Access that")
	assert.Equal(t, http.StatusNotFound, root.Get(remove).StatusCode)

	w.List("agent.example")
	form, other := root.Get(remove).Form(t, remove), root.Get(revoke).Form(t, revoke)
	w.Lag()
	w.Must(&ledger.EndPublisher{Actor: Operator, Host: "agent.example", How: ledger.EndRemove})
	assert.Equal(t, http.StatusNotFound, root.Post(revoke, other).StatusCode)
	assert.Contains(t, root.Post(remove, form).Header.Get("Location"), "/admin/publishers?done=removed-none.", "removed already, which this node doesn't know yet")
}

// TestManagedPublisher verifies that the page warns of a change that a file undoes.
func TestManagedPublisher(t *testing.T) {
	w, root := publishers(t)
	w.Must(&ledger.ApplyPublisher{
		Actor: Operator, Host: "agent.example", Scopes: []string{"BOOKING_READ"}, Manager: "team", Adopt: true, ExpectedLast: w.Publisher("agent.example").Last,
	})
	assert.Contains(t, root.Get(PublisherPage).Text, "What you change here is undone when its file is applied again.")
	w.List("other.example")
	assert.NotContains(t, root.Get(PublishersPage+"/other.example").Text, "applied again")
}

// TestPublisherOfManyClients: the page lists all of them, and the audit trail leads back to it.
func TestPublisherOfManyClients(t *testing.T) {
	w, root := publishers(t)
	w.Must(&ledger.PutPublisher{Actor: Operator, Host: "agent.example", Scopes: []string{"BOOKING_READ"}, MaxClients: 100})
	for i := range 40 {
		w.Document(fmt.Sprintf("https://agent.example/%02d", i))
	}
	seen := strings.Count(root.Get(PublisherPage).Text, `<tr><th scope="row">`)
	assert.LessOrEqual(t, seen, 25)
	for next := linkTo(root.Get(PublisherPage), "next"); next != ""; {
		page := root.Get(next)
		seen += strings.Count(page.Text, `<tr><th scope="row">`)
		next = linkTo(page, "next")
	}
	assert.Equal(t, 41, seen)
}

// TestReviewOfADocument: a change of a document is decided on the page of the client, which
// names its publisher and can't be transferred.
func TestReviewOfADocument(t *testing.T) {
	w, _ := publishers(t)
	w.List("agent.example")
	agent := "https://agent.example/client"
	w.Advance(2 * time.Hour)
	root := w.SignedInAs("root")
	w.Document(agent, "http://127.0.0.1/cb", "http://localhost/cb")
	path := "/admin/clients/" + ledger.ClientKey(agent)
	assert.Contains(t, root.Get("/admin").Text, `<a href="`+path+`">`)
	assert.Contains(t, root.Get(PublisherPage).Text, "Changes in review")
	page := root.Get(path)
	for _, says := range []string{"Changes in its metadata document, read", `<a href="` + PublisherPage + `"><bdi>agent.example</bdi></a>`, "The most it gets, as set for its publisher", "BOOKING_READ", agent} {
		assert.Contains(t, page.Text, says)
	}
	assert.NotContains(t, page.Text, "no longer has an account")
	assert.NotContains(t, page.Text, path+"/transfer")
	assert.NotContains(t, page.Text, "owner", "nobody owns it")
	assert.Contains(t, root.Submit(path, path+"/review", "verdict", "reject").Text, "Please give a reason.")
	assert.Contains(t, root.Follow(root.Submit(path, path+"/review", "verdict", "reject", "reason", "why")).Text, "The reason:")
	assert.NotContains(t, root.Get(path).Text, "owner")

	w.Agents(ledger.AgentsOff)
	assert.NotContains(t, root.Get(path).Text, PublisherPage, "the page of the publisher does not exist")
}

func linkTo(page Answer, rel string) string {
	before, _, found := strings.Cut(page.Text, `" rel="`+rel+`"`)
	if !found {
		return ""
	}
	return strings.ReplaceAll(before[strings.LastIndex(before, `"`)+1:], "&amp;", "&")
}
