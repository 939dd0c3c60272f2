package developer_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestExplainErrorID verifies that the cause is shown to the owner of the client only.
func TestExplainErrorID(t *testing.T) {
	w, b := Mine(t, nil)
	grant := ledger.GrantID{1, 2, 3}
	w.Explanations = map[string]ledger.Explanation{
		"mme_mine": {
			Client: credential.ClientDigest("mine"), Cause: ledger.RefreshReused, At: w.Now(),
			Named: true, Grant: grant, Presented: 4, Due: 6, When: w.Now().Add(-3600e9),
		},
		"mme_malformed": {
			Client: credential.ClientDigest("mine"), Cause: ledger.RequestMalformed, At: w.Now(), Note: "The parameter redirect_uri is missing.",
		},
		"mme_stranger": {Client: credential.ClientDigest("mine"), Cause: ledger.NotACredential, At: w.Now()},
		"mme_other":    {Client: credential.ClientDigest("calendar"), Cause: ledger.SecretRevoked, At: w.Now()},
	}
	ask := func(id string) Answer { return b.Get(MinePath + "/errors?error_id=" + url.QueryEscape(id)) }
	page := ask("  mme_mine ")
	for _, text := range []string{
		"<b>Refresh token used twice: access ended</b>", html.EscapeString(ui.Sentence(ledger.RefreshReused.String())),
		"4 March 2026, 12:00 UTC", "4 March 2026, 11:00 UTC", "<dd>Refresh token 4</dd>", "Refresh token 6", grant.String(), `value="mme_mine"`,
	} {
		assert.Contains(t, page.Text, text)
	}
	assert.NotContains(t, ask("mme_stranger").Text, "Grant ID")
	assert.Contains(t, ask("mme_malformed").Text, "<p>The parameter redirect_uri is missing.</p>", "the sentence of the response")
	w.Refusals.Record("mine", oauth.InvalidRequest, ledger.RequestMalformed, "mme_malformed", w.Now())
	w.Refusals.Record("mine", oauth.InvalidClient, ledger.SecretRevoked, "mme_other", w.Now())
	list := b.Get(MinePath + "/errors").Text
	assert.Contains(t, list, `<b><a href="?error_id=mme_malformed">Malformed request</a></b>`)
	assert.Contains(t, list, "<code>invalid_request</code> · Token request: the parameter redirect_uri is missing.")
	assert.NotContains(t, list, "mme_other", "it can't be opened")
	for _, id := range []string{"mme_other", "nonsense", "<b>" + strings.Repeat("x", 1000)} {
		page := ask(id)
		assert.Contains(t, page.Text, "No refused request of this application has this error_id. Copy it whole.", id)
		assert.NotContains(t, page.Text, "Why it was refused")
	}
	assert.NotContains(t, b.Get(MinePath+"/errors").Text, `role="alert"`)
}

// TestRecentRefusals verifies that a node keeps the last refusals of a client.
func TestRecentRefusals(t *testing.T) {
	_, b := Mine(t, nil)
	path := MinePath + "/errors"
	assert.Contains(t, b.Get(path).Text, "No refused requests")
	request := With(Good(), "client_id", "mine")
	for range 3 {
		b.Get(At(With(request, "scope", "ORG_BOOKING_READ")))
	}
	b.Decide(b.Get(At(With(request, "scope", "BOOKING_READ"))), "cancel")
	b.Get(At(With(request, "client_id", "nobody")))
	b.Get(At(With(request, "client_id", "mine", "redirect_uri", "https://evil.example/")))
	page := b.Get(path)
	assert.Contains(t, page.Text, `<td data-name="Times" class="num">3</td>`)
	for _, text := range []string{
		"<code>invalid_scope</code> · Authorization request: ", "<code>access_denied</code> · Authorization request: ",
		`<p class="quiet">Authorization request: redirect_uri is not`,
	} {
		assert.Contains(t, page.Text, text)
	}
	assert.Less(t, strings.Index(page.Text, "Canceled by the person"), strings.Index(page.Text, html.EscapeString(ledger.ScopeTooWide.String()[1:])), "newest first")
	assert.Contains(t, b.Get("/developer/clients/calendar/errors").Text, "No refused requests")
}

// TestRefusedRedirectURI verifies that the page shows where an unregistered redirect URI differs
// from the nearest registered one, if it is short and printable.
func TestRefusedRedirectURI(t *testing.T) {
	_, b := Mine(t, nil)
	asked := func(uri string) string {
		b.Get(At(With(Good(), "client_id", "mine", "redirect_uri", uri)))
		return b.Get(MinePath + "/errors").Text
	}
	assert.Contains(t, asked(Callback+"/"), "Received: <code>"+Callback+"<mark>/</mark></code><br>Registered: <code>"+Callback+"</code>")
	for _, uri := range []string{Callback + "/" + strings.Repeat("x", 256), "https://a.example/\"", "https://a.example/\u202e"} {
		assert.NotContains(t, asked(uri), "Received:", uri)
	}
}

// TestRefusedScope verifies that an unknown or not enabled scope is named if its name is
// valid and short.
func TestRefusedScope(t *testing.T) {
	_, b := Mine(t, nil)
	for asked, want := range map[string]string{
		"BOOKING_READ ORG_BOOKING_READ": "Scope not enabled</b> <code>ORG_BOOKING_READ</code>",
		"BOOKING_READ BOKING_READ":      "Unknown scope</b> <code>BOKING_READ</code>",
		"<b>&amp;":                      "</b> <code>&lt;b&gt;&amp;amp;</code>",
		strings.Repeat("x", 64):         "</b> <code>" + strings.Repeat("x", 64) + "</code>",
		strings.Repeat("x", 65):         "",
		"a\"b":                          "",
		"a\u202eb":                      "",
	} {
		b.Get(At(With(Good(), "client_id", "mine", "scope", asked)))
		page := b.Get(MinePath + "/errors").Text
		row := page[strings.Index(page, `<th scope="row">`):]
		row = row[:strings.Index(row, "</th>")]
		assert.Equal(t, want != "", strings.Contains(row, "</b> <code>"), "%s: %s", asked, row)
		assert.Contains(t, row, want, asked)
	}
}

// TestUnauthenticatedFlushNoRefusals: anybody can send authorization requests in the name
// of a client. They must not displace other refusals that the owner sees.
func TestUnauthenticatedFlushNoRefusals(t *testing.T) {
	w, b := Mine(t, nil)
	w.Refusals.Record("mine", oauth.InvalidGrant, ledger.RefreshReused, "", w.Now())
	stranger, request := w.Browser(), With(Good(), "client_id", "mine")
	for range 50 {
		w.Advance(time.Second)
		for _, pair := range [][2]string{
			{"redirect_uri", "https://evil.example/"},
			{"redirect_uri", ""},
			{"scope", "NO_SUCH"},
			{"scope", "ORG_BOOKING_READ"},
			{"scope", ""},
			{"response_type", "token"},
			{"code_challenge", ""},
			{"code_challenge", "x"},
			{"code_challenge_method", "plain"},
		} {
			changed := With(url.Values{}, pair[0], pair[1])
			for name := range request {
				if name != pair[0] {
					changed.Set(name, request.Get(name))
				}
			}
			stranger.Get(At(changed))
		}
	}
	causes := CausesOf(w.Refusals, "mine")
	assert.Greater(t, len(causes), 5)
	assert.Less(t, len(causes), 15, "each cause once")
	assert.Equal(t, ledger.RefreshReused, causes[len(causes)-1], "the oldest refusal was displaced")
	page := b.Get(MinePath + "/errors").Text
	assert.Contains(t, page, `<p class="quiet"><code>invalid_grant</code> · Token request: a refresh token was presented`)
	assert.Contains(t, page, `<td data-name="Last"><time datetime="2026-03-04T12:00:00Z"`)
	assert.Contains(t, page, `<td data-name="Times" class="num">50</td>`)

	for i := range 5000 {
		w.Refusals.RecordBrowser(fmt.Sprint("other-", i), "", ledger.RedirectURIUnregistered, "", "", w.Now())
	}
	assert.Equal(t, []ledger.Cause{ledger.RefreshReused}, CausesOf(w.Refusals, "mine"), "refusals in browsers must be kept separately")
}

// TestRedirectURIOfAChange verifies that a redirect URI of a pending or refused
// revision is reported as such, since its owner believes that it is registered.
func TestRedirectURIOfAChange(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	w.User("u-bob", "bob", "Bob")
	bob := w.SignedInAs("bob")
	w.ProposeRevision("calendar", func(p *ledger.Profile) { p.RedirectURIs = append(p.RedirectURIs, Callback+"/new") })
	w.ProposeRevision("native", func(p *ledger.Profile) { p.RedirectURIs = append(p.RedirectURIs, "http://127.0.0.1/new") })
	const waits, refused = "The redirect URI is in a change that no administrator has approved yet.", "The redirect URI is in a change that a reviewer refused."
	request := At(With(Good(), "redirect_uri", Callback+"/new"))
	page := b.Get(request)
	assert.Equal(t, http.StatusBadRequest, page.StatusCode)
	assert.Contains(t, page.Text, waits)
	assert.NotContains(t, page.Text, "<mark>", "the URI equals the proposed one")
	assert.NotContains(t, bob.Get(request).Text, "review")
	assert.Contains(t, b.Get(At(With(Good(), "client_id", "native", "redirect_uri", "http://127.0.0.1:4711/new"))).Text, waits, "whatever the port (RFC 8252 §7.3)")
	other := b.Get(At(With(Good(), "redirect_uri", Callback+"/other"))).Text
	assert.NotContains(t, other, waits)
	assert.Contains(t, other, "<mark>")

	w.Refuse("calendar", "No.")
	page = b.Get(request)
	assert.NotContains(t, page.Text, waits)
	assert.Contains(t, page.Text, refused)
	assert.NotContains(t, bob.Get(request).Text, "refused")
	assert.NotContains(t, b.Get(At(With(Good(), "redirect_uri", Callback+"/other"))).Text, refused)
}

// TestRedirectURIHelp verifies that the error page shows the difference to the owner only.
func TestRedirectURIHelp(t *testing.T) {
	w := NewEnv(t)
	w.User("u-bob", "bob", "Bob")
	b, bob := w.SignedIn(), w.SignedInAs("bob")
	request := At(With(Good(), "redirect_uri", Callback+"/"))
	page := b.Get(request)
	assert.Contains(t, page.Text, "<code>"+Callback+"<mark>/</mark></code>")
	assert.Contains(t, page.Text, "<dt>Closest registered</dt><dd><code>"+Callback+"</code></dd>")
	assert.Contains(t, page.Text, "Only in what was received: <code>/</code>")
	assert.NotContains(t, page.Text, "Only in what is registered")
	assert.Contains(t, page.Text, `href="/developer/clients/calendar/scopes">See the registered URIs</a>`)
	for _, other := range []Answer{bob.Get(request), w.Browser().Get(request)} {
		assert.Equal(t, 400, other.StatusCode)
		assert.NotContains(t, other.Text, "app.example.com")
		assert.NotContains(t, other.Text, "/developer/clients")
	}
	assert.Contains(t, b.Get(At(With(Good(), "redirect_uri", ""))).Text, "The request has no redirect_uri.")
	long := b.Get(At(With(Good(), "redirect_uri", "https://a.example/"+strings.Repeat("x", 7000))))
	assert.Contains(t, long.Text, "…</mark>")
	assert.NotContains(t, b.Get(At(With(Good(), "redirect_uri", `https://"><script>alert(1)</script>`))).Text, "<script")

	w.Client("refused", func(c *ledger.ImportClient) { c.State = ledger.Pending })
	w.Must(&ledger.ReviewClient{Actor: ledger.Actor{Operator: true}, ID: "refused", Verdict: ledger.Reject, Reason: "Who are you?", Revision: 2})
	request = At(With(Good(), "client_id", "refused"))
	assert.Contains(t, b.Get(request).Text, "The reviewer wrote: “<bdi>Who are you?</bdi>”")
	assert.NotContains(t, bob.Get(request).Text, "Who are you?")
}
