package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

const (
	publishersPage = "/admin/publishers"
	addPublisher   = "/admin/new-publisher"
	publisherPage  = publishersPage + "/agent.example"
	localPage      = publishersPage + "/local"
)

var aboutPublisher = "agent.example\x00" + anySeen // what a form's token is bound to

// publishers is administration with agents accepted, and with two hosts that wait for a review.
func publishers(t *testing.T) (w *env, root *browser) {
	w, _ = administration(t)
	w.agents(ledger.AgentsReviewed)
	for _, host := range []string{"agent.example", "other.example"} {
		w.document("https://" + host + "/client")
		w.advance(time.Second)
	}
	return w, w.signedInAs("root")
}

// document records a metadata document that ada's authorization led to.
func (w *env) document(clientID string, uris ...string) {
	w.t.Helper()
	if uris == nil {
		uris = []string{"http://127.0.0.1/cb"}
	}
	w.must(&ledger.NoteDocument{
		Actor: ledger.Actor{Session: credential.SessionDigest(w.signedIn().session())}, URL: clientID, Name: "The agent",
		RedirectURIs: uris, Digest: [32]byte{byte(len(uris))},
	})
}

// allowAgent lets ada allow a client with a document.
func (w *env) allowAgent(clientID string) {
	w.t.Helper()
	request := oauth.AuthorizationRequest{
		ClientID: clientID, RedirectURI: "http://127.0.0.1/cb", CodeChallenge: challenge, CodeChallengeMethod: "S256", Scope: "BOOKING_READ",
	}
	w.must(&ledger.Allow{
		Actor: ledger.Actor{Session: credential.SessionDigest(w.signedIn().session())}, User: "u-ada", Request: request,
		Revision: w.View().ClientNamed(clientID).Revision, Grant: ledger.GrantID{7, byte(w.index)},
	})
}

func (w *env) publisher(host string) *ledger.Publisher { return w.View().Publisher(host) }

func TestAdminPublishers(t *testing.T) {
	w, root := publishers(t)
	w.list("zoo.example")
	w.list("claude.ai")
	page := root.get(publishersPage)
	var last int
	for _, host := range []string{"agent.", "other.", "claude.", "local", "zoo."} {
		at := strings.Index(page.body, `">`+host)
		assert.Greater(t, at, last, host)
		last = at
	}
	assert.Contains(t, page.body, `<span class="pill">Off</span>`)
	assert.Contains(t, page.body, `<a href="/admin/users/u-ada"><bdi>ada</bdi></a>, <time`)
	assert.Contains(t, page.body, `href="/admin/new-publisher?host=zed.dev">`)
	assert.NotContains(t, page.body, `?host=claude.ai`, "it is listed")
	for query, want := range map[string]int{"state=pending": 2, "state=approved": 2, "state=rejected": 1, "q=AGENT": 1, "q=programs": 1, "q=other&state=pending": 1, "q=none": 0} {
		found := root.get(publishersPage + "?" + query)
		assert.Equal(t, want, strings.Count(found.body, `<th scope="row">`), query)
		assert.NotContains(t, found.body, "?host=", query)
	}
	for i := range 30 {
		w.list(fmt.Sprintf("h%02d.example", i))
	}
	assert.Equal(t, 25, strings.Count(root.get(publishersPage).body, `<th scope="row">`))
	assert.Equal(t, 11, strings.Count(root.get(publishersPage+"?after=h20.example").body, `<th scope="row">`))
	assert.Equal(t, http.StatusNotFound, root.get(publishersPage+"/none.example").StatusCode)
	w.agents(ledger.AgentsListed)
	assert.Contains(t, root.get(publishersPage).body, "is refused, and nothing is looked up")
}

// TestPublishersInTheReviewQueue: those that wait stand beside the applications that wait.
func TestPublishersInTheReviewQueue(t *testing.T) {
	w, root := publishers(t)
	queue := root.get("/admin").body
	assert.Contains(t, queue, `<a href="/admin/publishers/agent.example">agent.<wbr>example</a>`)
	assert.Contains(t, queue, `<a href="/admin/clients/waiting">`)
	assert.NotContains(t, queue, "publishers that wait</a>")
	assert.NotContains(t, root.get("/admin?q=waiting").body, "other.")
	assert.Contains(t, root.get("/admin?q=other").body, "other.")
	for i := range 6 {
		w.user(fmt.Sprintf("u-%d", i), fmt.Sprintf("user%d", i), "")
		w.must(&ledger.NoteDocument{
			Actor: ledger.Actor{Session: credential.SessionDigest(w.signedInAs(fmt.Sprintf("user%d", i)).session())},
			URL:   fmt.Sprintf("https://h%d.example/client", i), Name: "Agent", RedirectURIs: []string{"http://127.0.0.1/cb"},
		})
	}
	queue = root.get("/admin").body
	assert.Contains(t, queue, `<a href="/admin/publishers?state=pending">All 8 publishers that wait</a>`)
	assert.Equal(t, 5, strings.Count(queue, `<a href="/admin/publishers/`))
	w.agents(ledger.AgentsOff)
	assert.NotContains(t, root.get("/admin").body, "publishers")
}

// TestReviewPublisher goes from a request of a user to a client that can be allowed.
func TestReviewPublisher(t *testing.T) {
	w, root := publishers(t)
	page := root.get(publisherPage)
	for _, says := range []string{"Waiting for review", "https://agent.example/client", "The agent", "Never", `href="` + publisherPage + `/reject"`} {
		assert.Contains(t, page.body, says)
	}
	assert.NotContains(t, page.body, "Approved", "its client can't be used yet")
	edit := publisherPage + "/edit"
	form := root.get(edit).form(t, edit)
	for name, test := range map[string]struct {
		fields []string
		says   string
	}{
		"nothing":       {nil, "The selection of scopes needs at least one."},
		"unknown":       {[]string{"scopes", "NONE"}, "The selection of scopes names a scope that does not exist."},
		"more defaults": {[]string{"scopes", "BOOKING_READ", "defaults", "PROFILE_READ"}, "The selection of default scopes has a scope that is not among the scopes."},
		"writing":       {[]string{"scopes", "BOOKING_WRITE", "defaults", "BOOKING_WRITE"}, "The selection of default scopes has a scope that is not for reading only."},
		"too many":      {[]string{"scopes", "BOOKING_READ", "max_clients", "101"}, "Most applications must be from 1 to 100."},
		"none":          {[]string{"scopes", "BOOKING_READ", "max_clients", "0"}, "Most applications must be from 1 to 100."},
		"name":          {[]string{"scopes", "BOOKING_READ", "name", strings.Repeat("x", 81)}, "Name is too long."},
	} {
		res := root.post(edit, filled(form, test.fields...))
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, name)
		assert.Contains(t, res.body, test.says, name)
	}
	assert.Equal(t, ledger.PublisherPending, w.publisher("agent.example").State)

	right := with(filled(form, "scopes", "PROFILE_READ", "defaults", "BOOKING_READ", "long_retry", "yes", "name", "Agent"), "scopes", "PROFILE_READ")
	right["scopes"] = []string{"PROFILE_READ", "BOOKING_READ"}
	res := root.post(edit, right)
	after := root.follow(res)
	assert.Contains(t, after.body, "The publisher was approved.")
	assert.Contains(t, after.body, "Several processes may share a refresh token.")
	assert.Contains(t, after.body, `<bdi>root</bdi>`, "who reviewed it")
	p := w.publisher("agent.example")
	assert.Equal(t, []string{"BOOKING_READ", "PROFILE_READ"}, p.Scopes)
	assert.Equal(t, []string{"BOOKING_READ"}, p.Defaults)
	assert.Equal(t, "u-root", p.ReviewedBy)
	assert.True(t, p.LongRetry)
	index := w.index
	assert.Contains(t, root.follow(root.post(edit, right)).body, "Saved.", "the same form twice")
	assert.Equal(t, index, w.index)
	w.allowAgent("https://agent.example/client")

	// An edit of a page that is stale is shown again, for the current state.
	form = root.get(edit).form(t, edit)
	assert.Contains(t, root.follow(root.submit(edit, edit, "scopes", "PROFILE_READ", "long_retry", "yes", "name", "Agent")).body, "Saved.")
	stale := root.post(edit, filled(form, "scopes", "BOOKING_WRITE"))
	assert.Equal(t, http.StatusConflict, stale.StatusCode)
	assert.Contains(t, stale.body, `value="BOOKING_WRITE" checked`)
	assert.Equal(t, []string{"PROFILE_READ"}, w.publisher("agent.example").Scopes)
	assert.Contains(t, root.follow(root.post(edit, with(stale.form(t, edit), "scopes", "BOOKING_WRITE"))).body, "Saved.")
	assert.Contains(t, root.follow(root.submit(edit, edit, "scopes", "BOOKING_WRITE")).body, "There was nothing to change.")
	assert.False(t, w.publisher("agent.example").LongRetry)
	w.must(&ledger.EndPublisher{Actor: operator, Host: "agent.example", How: ledger.EndRemove})
	assert.Equal(t, http.StatusNotFound, root.post(edit, stale.form(t, edit)).StatusCode)

	audit := root.get("/admin/audit?kind=publisher").body
	for _, says := range []string{"Publisher asked for", "Publisher approved", "Publisher changed", "Publisher removed"} {
		assert.Contains(t, audit, says)
	}
}

func TestAddPublisher(t *testing.T) {
	w, root := publishers(t)
	page := root.get(addPublisher + "?host=claude.ai")
	assert.Contains(t, page.body, `value="claude.ai"`)
	assert.Contains(t, page.body, `value="Claude"`)
	assert.NotContains(t, page.body, "checked", "nothing is trusted by default")
	assert.NotContains(t, page.body, "redirect_uris")
	form := page.form(t, addPublisher)
	for host, says := range map[string]string{
		"":                 "Host is missing.",
		"127.0.0.1":        "Host must have a host name, not an address.",
		"agent":            "Host must have a host of the public DNS.",
		"auth.example.com": "Host is this service's own.",
		"zoo.example:8443": "Host must have a host without a port.",
	} {
		res := root.post(addPublisher, filled(form, "host", host, "scopes", "BOOKING_READ"))
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, host)
		assert.Contains(t, strings.ReplaceAll(res.body, "&#39;", "'"), says, host)
	}
	right := filled(form, "host", " https://Claude.ai/oauth/claude-code-client-metadata ", "name", "Claude", "scopes", "BOOKING_READ")
	assert.Contains(t, root.follow(root.post(addPublisher, right)).body, "The publisher was approved.")
	assert.Equal(t, "Claude", w.publisher("claude.ai").Name)
	assert.Contains(t, root.follow(root.post(addPublisher, right)).body, "Saved.", "the same form twice")
	res := root.post(addPublisher, filled(right, "scopes", "BOOKING_WRITE"))
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.body, "Host is taken.")
	assert.Contains(t, root.follow(root.post(addPublisher, filled(form, "host", "agent.example", "scopes", "BOOKING_READ"))).body, "The publisher was approved.", "it waited")
}

// TestLocalPublisher: programs on the computers of users are off until an administrator turns
// them on, and what was chosen stays when they are turned off.
func TestLocalPublisher(t *testing.T) {
	const cursor = "cursor://anysphere.cursor-mcp/oauth/callback"
	w, root := publishers(t)
	edit, off := localPage+"/edit", localPage+"/reject"
	page := root.get(localPage)
	assert.Contains(t, page.body, `<span class="pill">Off</span>`)
	assert.NotContains(t, page.body, off)
	for _, end := range []string{"/revoke", "/reject", "/remove"} {
		assert.Equal(t, localPage, root.get(localPage+end).Header.Get("Location"))
	}
	form := root.get(edit).form(t, edit)
	res := root.post(edit, filled(form, "scopes", "BOOKING_READ", "redirect_uris", "https://x.example"))
	assert.Contains(t, res.body, "Private-use redirect URIs must have a scheme of the program&#39;s own.")
	right := filled(form, "scopes", "BOOKING_READ", "redirect_uris", cursor+"\r\n\r\nzed://agent\r\n")
	assert.Contains(t, root.follow(root.post(edit, right)).body, "It was turned on.")
	assert.Equal(t, []string{cursor, "zed://agent"}, w.publisher("local").RedirectURIs)
	assert.Contains(t, root.follow(root.post(edit, right)).body, "There was nothing to change.", "the same form twice")
	on := root.get(localPage)
	assert.Contains(t, on.body, `<span class="pill good">On</span>`)
	assert.Contains(t, on.body, cursor)

	ask := root.get(off)
	assert.Contains(t, ask.body, "Turn off Programs on the user’s computer")
	assert.NotContains(t, ask.body, `name="reason"`)
	assert.Contains(t, root.follow(root.post(off, ask.form(t, off))).body, "It was turned off")
	assert.Equal(t, ledger.PublisherRejected, w.publisher("local").State)
	again := root.get(edit)
	assert.Contains(t, again.body, `value="BOOKING_READ" checked`)
	assert.Contains(t, again.body, cursor+"\nzed://agent</textarea>")
}

// TestEndPublisher: each question states how many grants it ends, and a page that is stale ends
// none.
func TestEndPublisher(t *testing.T) {
	w, root := publishers(t)
	w.list("agent.example")
	agent := "https://agent.example/client"
	for range 2 {
		w.allowAgent(agent)
	}
	page := root.get(publisherPage)
	assert.Contains(t, page.body, `<td data-name="Grants" class="num">2</td>`)
	assert.NotContains(t, page.body, `data-name="Last allowed">Never`)

	revoke := publisherPage + "/revoke"
	ask := root.get(revoke)
	assert.Contains(t, ask.body, "<h1><bdi>End all access of agent.example and end 2 grants?</bdi></h1>")
	assert.Contains(t, root.follow(root.post(revoke, ask.form(t, revoke))).body, "All access was ended.")
	assert.Empty(t, w.grants())
	assert.Equal(t, ledger.PublisherApproved, w.publisher("agent.example").State)
	assert.Contains(t, root.get(publisherPage).body, `<td data-name="Grants" class="num">0</td>`, "what was counted before counts no more")

	w.allowAgent(agent)
	reject, remove := publisherPage+"/reject", publisherPage+"/remove"
	ask = root.get(reject)
	assert.Contains(t, ask.body, "<li>1 grant for its applications ends, for good.</li>")
	w.must(&ledger.PutPublisher{Actor: operator, Host: "agent.example", Scopes: []string{"BOOKING_READ"}})
	form := with(ask.form(t, reject), "reason", "It\nharms.")
	stale := root.post(reject, form)
	assert.Equal(t, http.StatusConflict, stale.StatusCode, "it has changed")
	assert.Len(t, w.grants(), 1)
	form = with(stale.form(t, reject), "reason", "It\nharms.")
	for range 2 {
		after := root.follow(root.post(reject, form))
		assert.Contains(t, after.body, "The publisher was rejected")
		assert.Contains(t, after.body, "It harms.")
	}
	assert.Empty(t, w.grants())
	assert.Equal(t, ledger.PublisherRejected, w.publisher("agent.example").State)
	assert.Equal(t, publisherPage, root.get(reject).Header.Get("Location"), "it is rejected already")
	assert.Contains(t, root.submitted(reject).body, "Its state does not allow that.", "another reason")

	long := root.get(remove).form(t, remove)
	for range 2 {
		assert.Contains(t, root.follow(root.post(remove, long)).body, "The publisher was removed")
	}
	assert.Nil(t, w.publisher("agent.example"))
	assert.Equal(t, http.StatusNotFound, root.get(remove).StatusCode)
}

// TestManagedPublisher verifies that the page warns of a change that a file undoes.
func TestManagedPublisher(t *testing.T) {
	w, root := publishers(t)
	w.must(&ledger.ApplyPublisher{
		Actor: operator, Host: "agent.example", Scopes: []string{"BOOKING_READ"}, Manager: "team", Adopt: true, ExpectedLast: w.publisher("agent.example").Last,
	})
	assert.Contains(t, root.get(publisherPage).body, "What you change here is undone when its file is applied again.")
	w.list("other.example")
	assert.NotContains(t, root.get(publishersPage+"/other.example").body, "applied again")
}

// TestPublisherOfManyClients: the page lists all of them, and the audit trail leads back to it.
func TestPublisherOfManyClients(t *testing.T) {
	w, root := publishers(t)
	w.must(&ledger.PutPublisher{Actor: operator, Host: "agent.example", Scopes: []string{"BOOKING_READ"}, MaxClients: 100})
	for i := range 40 {
		w.document(fmt.Sprintf("https://agent.example/%02d", i))
	}
	seen := strings.Count(root.get(publisherPage).body, `<tr><th scope="row">`)
	assert.LessOrEqual(t, seen, 25)
	for next := linkTo(root.get(publisherPage), "next"); next != ""; {
		page := root.get(next)
		seen += strings.Count(page.body, `<tr><th scope="row">`)
		next = linkTo(page, "next")
	}
	assert.Equal(t, 41, seen)
}

// TestReviewOfADocument: a change of a document is decided on the page of the client, which
// names its publisher and can't be transferred.
func TestReviewOfADocument(t *testing.T) {
	w, _ := publishers(t)
	w.list("agent.example")
	agent := "https://agent.example/client"
	w.advance(2 * time.Hour)
	root := w.signedInAs("root")
	w.document(agent, "http://127.0.0.1/cb", "http://localhost/cb")
	path := "/admin/clients/" + ledger.ClientKey(agent)
	assert.Contains(t, root.get("/admin").body, `<a href="`+path+`">`)
	assert.Contains(t, root.get(publisherPage).body, "Changes wait")
	page := root.get(path)
	for _, says := range []string{"Its metadata document says this since", `<a href="` + publisherPage + `"><bdi>agent.example</bdi></a>`, "What its publisher may ask for", agent} {
		assert.Contains(t, page.body, says)
	}
	assert.NotContains(t, page.body, "no longer has an account")
	assert.NotContains(t, page.body, path+"/transfer")
	assert.NotContains(t, page.body, "owner", "nobody owns it")
	assert.Contains(t, root.submit(path, path+"/review", "verdict", "reject").body, "Please give a reason.")
	assert.Contains(t, root.follow(root.submit(path, path+"/review", "verdict", "reject", "reason", "why")).body, "The reason:")
	assert.NotContains(t, root.get(path).body, "owner")
	assert.NotContains(t, root.get(path+"/suspend").body, "owner")

	w.agents(ledger.AgentsOff)
	assert.NotContains(t, root.get(path).body, publisherPage, "the page of the publisher does not exist")
}

// submitted sends a form of the reject page without having seen it.
func (b *browser) submitted(path string) answer {
	p := b.env.publisher("agent.example")
	last := fmt.Sprintf("%x", p.Last)
	s := sent{purpose: "reject publisher", about: p.Host + "\x00" + last, fields: url.Values{"expected_last": {last}, "reason": {"another"}}}
	return b.post(path, s.values(b))
}

func linkTo(page answer, rel string) string {
	before, _, found := strings.Cut(page.body, `" rel="`+rel+`"`)
	if !found {
		return ""
	}
	return strings.ReplaceAll(before[strings.LastIndex(before, `"`)+1:], "&amp;", "&")
}
