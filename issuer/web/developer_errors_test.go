package web_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

// TestExplainErrorID verifies that the cause is shown to the owner of the client only.
func TestExplainErrorID(t *testing.T) {
	w, b := mine(t, nil)
	grant := ledger.GrantID{1, 2, 3}
	w.explanations = map[string]ledger.Explanation{
		"mme_mine": {
			Client: credential.ClientDigest("mine"), Cause: ledger.RefreshReused, At: w.Now(),
			Named: true, Grant: grant, Presented: 4, Due: 6, When: w.Now().Add(-3600e9),
		},
		"mme_stranger": {Client: credential.ClientDigest("mine"), Cause: ledger.NotACredential, At: w.Now()},
		"mme_other":    {Client: credential.ClientDigest("calendar"), Cause: ledger.SecretRevoked, At: w.Now()},
	}
	ask := func(id string) answer { return b.get(minePath + "/errors?error_id=" + url.QueryEscape(id)) }
	page := ask("  mme_mine ")
	for _, text := range []string{
		"<b>" + html.EscapeString(strings.ToUpper(ledger.RefreshReused.String()[:1])+ledger.RefreshReused.String()[1:]) + ".</b>",
		"4 March 2026, 12:00 UTC", "4 March 2026, 11:00 UTC", "Refresh token 4 of its chain", "Refresh token 6", grant.String(), `value="mme_mine"`,
	} {
		assert.Contains(t, page.body, text)
	}
	assert.NotContains(t, ask("mme_stranger").body, "Grant ID")
	for _, id := range []string{"mme_other", "nonsense", "<b>" + strings.Repeat("x", 1000)} {
		page := ask(id)
		assert.Contains(t, page.body, "This is not an error_id of this application.", id)
		assert.NotContains(t, page.body, "Why it was refused")
	}
	assert.NotContains(t, b.get(minePath+"/errors").body, `role="alert"`)
}

// TestRecentRefusals verifies that a node keeps the last refusals of a client.
func TestRecentRefusals(t *testing.T) {
	_, b := mine(t, nil)
	path := minePath + "/errors"
	assert.Contains(t, b.get(path).body, "remembers none")
	request := with(good(), "client_id", "mine")
	for range 3 {
		b.get(at(with(request, "scope", "ORG_BOOKING_READ")))
	}
	b.decide(b.get(at(with(request, "scope", "BOOKING_READ"))), "cancel")
	b.get(at(with(request, "client_id", "nobody")))
	page := b.get(path)
	assert.Contains(t, page.body, `<td data-name="Times" class="num">3</td>`)
	assert.Less(t, strings.Index(page.body, "The user refused."), strings.Index(page.body, html.EscapeString(ledger.ScopeTooWide.String()[1:])), "newest first")
	assert.Contains(t, b.get("/developer/clients/calendar/errors").body, "remembers none")
}

// TestRefusedScope verifies that an unknown or not enabled scope is named if its name is
// valid and short.
func TestRefusedScope(t *testing.T) {
	_, b := mine(t, nil)
	for asked, want := range map[string]string{
		"BOOKING_READ ORG_BOOKING_READ": "more scopes were asked for than are enabled or granted. The last was <code>ORG_BOOKING_READ</code>.",
		"BOOKING_READ BOKING_READ":      "a scope was asked for that does not exist. The last was <code>BOKING_READ</code>.",
		"<b>&amp;":                      " The last was <code>&lt;b&gt;&amp;amp;</code>.",
		strings.Repeat("x", 64):         "The last was <code>" + strings.Repeat("x", 64) + "</code>.",
		strings.Repeat("x", 65):         "",
		"a\"b":                          "",
		"a\u202eb":                      "",
	} {
		b.get(at(with(good(), "client_id", "mine", "scope", asked)))
		page := b.get(minePath + "/errors").body
		row := page[strings.Index(page, `<th scope="row">`):]
		row = row[:strings.Index(row, "</th>")]
		// The sentence begins with a capital letter.
		assert.Equal(t, want != "", strings.Contains(row, "The last was"), "%s: %s", asked, row)
		if want != "" {
			assert.Contains(t, row, want[1:], asked)
		}
	}
}

// TestRefusalsAreBounded verifies that memory is bounded.
func TestRefusalsAreBounded(t *testing.T) {
	r := web.NewRefusals()
	for i := range 100 {
		r.Record("c", ledger.Cause(i), ledger.Time(i))
	}
	list := web.RefusalsOf(r, "c")
	require.Len(t, list, 40)
	assert.Equal(t, ledger.Cause(99), list[0])
	assert.Equal(t, ledger.Cause(60), list[39])
	for i := range 5000 {
		r.Record(fmt.Sprint(i), ledger.SecretWrong, 1)
		r.Record("busy", ledger.SecretWrong, 1)
	}
	assert.Empty(t, web.RefusalsOf(r, "c"), "the oldest client must be dropped first")
	assert.Len(t, web.RefusalsOf(r, "busy"), 1)
	assert.Len(t, web.RefusalsOf(r, "4999"), 1)
	assert.Equal(t, 2000, web.RefusedClients(r))
}

// TestUnauthenticatedFlushNoRefusals: anybody can send authorization requests in the name
// of a client. They must not displace other refusals that the owner sees.
func TestUnauthenticatedFlushNoRefusals(t *testing.T) {
	w, b := mine(t, nil)
	w.refusals.Record("mine", ledger.RefreshReused, w.Now())
	stranger, request := w.browser(), with(good(), "client_id", "mine")
	for range 50 {
		w.advance(time.Second)
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
			changed := with(url.Values{}, pair[0], pair[1])
			for name := range request {
				if name != pair[0] {
					changed.Set(name, request.Get(name))
				}
			}
			stranger.get(at(changed))
		}
	}
	causes := web.RefusalsOf(w.refusals, "mine")
	assert.Greater(t, len(causes), 5)
	assert.Less(t, len(causes), 15, "each cause once")
	assert.Equal(t, ledger.RefreshReused, causes[len(causes)-1], "the oldest refusal was displaced")
	page := b.get(minePath + "/errors").body
	assert.Contains(t, page, `<td data-name="Where">Token endpoint</td><td data-name="Last"><time datetime="2026-03-04T12:00Z"`)
	assert.Contains(t, page, `<td data-name="Times" class="num">50</td>`)

	for i := range 5000 {
		web.RecordBrowser(w.refusals, fmt.Sprint("other-", i), ledger.RedirectURIUnregistered, w.Now())
	}
	assert.Equal(t, []ledger.Cause{ledger.RefreshReused}, web.RefusalsOf(w.refusals, "mine"), "refusals in browsers must be kept separately")
}

// TestRedirectURIOfAChange verifies that a redirect URI of a pending or refused
// revision is reported as such, since its owner believes that it is registered.
func TestRedirectURIOfAChange(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	w.user("u-bob", "bob", "Bob")
	bob := w.signedInAs("bob")
	w.propose("calendar", func(p *ledger.Profile) { p.RedirectURIs = append(p.RedirectURIs, callback+"/new") })
	w.propose("native", func(p *ledger.Profile) { p.RedirectURIs = append(p.RedirectURIs, "http://127.0.0.1/new") })
	const waits, refused = "This redirect URI is in your change that awaits review.", "This redirect URI is in your change that a reviewer refused."
	request := at(with(good(), "redirect_uri", callback+"/new"))
	page := b.get(request)
	assert.Equal(t, http.StatusBadRequest, page.StatusCode)
	assert.Contains(t, page.body, waits)
	assert.NotContains(t, page.body, "<mark>", "the URI equals the proposed one")
	assert.NotContains(t, bob.get(request).body, "review")
	assert.Contains(t, b.get(at(with(good(), "client_id", "native", "redirect_uri", "http://127.0.0.1:4711/new"))).body, waits, "whatever the port (RFC 8252 §7.3)")
	other := b.get(at(with(good(), "redirect_uri", callback+"/other"))).body
	assert.NotContains(t, other, waits)
	assert.Contains(t, other, "<mark>")

	w.refuse("calendar", "No.")
	page = b.get(request)
	assert.NotContains(t, page.body, waits)
	assert.Contains(t, page.body, refused)
	assert.NotContains(t, bob.get(request).body, "refused")
	assert.NotContains(t, b.get(at(with(good(), "redirect_uri", callback+"/other"))).body, refused)
}

// TestRedirectURIHelp verifies that the error page shows the difference to the owner only.
func TestRedirectURIHelp(t *testing.T) {
	w := newEnv(t)
	w.user("u-bob", "bob", "Bob")
	b, bob := w.signedIn(), w.signedInAs("bob")
	request := at(with(good(), "redirect_uri", callback+"/"))
	page := b.get(request)
	assert.Contains(t, page.body, "<code>"+callback+"<mark>/</mark></code>")
	assert.Contains(t, page.body, "<dt>Registered, and nearest to it</dt><dd><code>"+callback+"</code></dd>")
	assert.Contains(t, page.body, "Only in what was received: <code>/</code>")
	assert.NotContains(t, page.body, "Only in what is registered")
	assert.Contains(t, page.body, `href="/developer/clients/calendar">Go to the application</a>`)
	for _, other := range []answer{bob.get(request), w.browser().get(request)} {
		assert.Equal(t, 400, other.StatusCode)
		assert.NotContains(t, other.body, "app.example.com")
		assert.NotContains(t, other.body, "/developer/clients")
	}
	assert.Contains(t, b.get(at(with(good(), "redirect_uri", ""))).body, "The request has no <code>redirect_uri</code>.")
	long := b.get(at(with(good(), "redirect_uri", "https://a.example/"+strings.Repeat("x", 7000))))
	assert.Contains(t, long.body, "…</mark>")
	assert.NotContains(t, b.get(at(with(good(), "redirect_uri", `https://"><script>alert(1)</script>`))).body, "<script")

	w.client("refused", func(c *ledger.ImportClient) { c.State = ledger.Pending })
	w.must(&ledger.ReviewClient{Actor: ledger.Actor{Operator: true}, ID: "refused", Verdict: ledger.Reject, Reason: "Who are you?", Revision: 2})
	request = at(with(good(), "client_id", "refused"))
	assert.Contains(t, b.get(request).body, "The reviewer wrote: <bdi>Who are you?</bdi>")
	assert.NotContains(t, bob.get(request).body, "Who are you?")
}
