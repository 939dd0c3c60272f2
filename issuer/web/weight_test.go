package web_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/web/site"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// A weighing is a page with the maximum of content. Every route has at least one, or is
// in weightless.
type weighing struct {
	route   string             // method and pattern
	address func(*Full) string // nil means the pattern
	form    func(*Full) *Sent  // for a POST, with every possible problem; its token is made for the owner
	nobody  bool               // without a session; otherwise it is the owner's, who is an administrator
	status  int                // 0 means 200
	whole   bool               // it shows long texts completely
}

// of returns an address with a maximum-length identifier and a query.
func of(before, id, after string) func(*Full) string {
	return func(*Full) string { return before + Long(id) + after }
}

// saying returns the address of a page with a notice.
func saying(word string, address func(*Full) string) func(*Full) string {
	return func(f *Full) string { return f.Owner.Noticed(address(f), word) }
}

func query(path string, pairs ...string) func(*Full) string {
	return func(*Full) string { return path + "?" + With(url.Values{}, pairs...).Encode() }
}

// odd is the longest search, of the characters that take the most bytes.
var odd = strings.Repeat(`"`, 200)

var weighings = slices.Concat(weighingsSignin, weighingsAccount, weighingsDeveloper, weighingsAdmin)

// weightless are routes without a page of their own: they redirect, serve something else,
// or show the page of another route.
var weightless = []string{
	"POST /account/feed/remove", "GET /feed/:address", "POST /account/sign-out", "POST /account/sign-out-everywhere", "POST /connected-apps/disconnect", "POST /connected-apps/disconnect-all",
	"POST /developer/clients/:id/migration/draft", "POST /developer/clients/:id/transfer/withdraw", "POST /developer/offers/:id/accept", "POST /developer/offers/:id/decline",
	"POST /admin/branding/publish", "POST /admin/branding/discard", "POST /admin/users/:id/disconnect",
	"GET /admin/audit.jsonl", "GET /admin/branding/draft.css", "GET /logos/:digest", "GET /assets/:name",
}

// api returns the address of a page about the resource server with the most content.
func api(below string) func(*Full) string {
	return func(*Full) string { return "/admin/resource-servers/" + ApiName("api00") + below }
}

// aboutAPI00 returns a form about that resource server. Its token is bound to pairs, except
// what is typed.
func aboutAPI00(purpose site.Purpose, pairs ...string) func(*Full) *Sent {
	return func(f *Full) *Sent {
		bound := []string{ApiName("api00"), f.ResourceURI("api00")}
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] != "name" {
				bound = append(bound, pairs[i+1])
			}
		}
		return &Sent{Purpose: purpose, About: strings.Join(bound, "\x00"), Fields: With(url.Values{"resource": {f.ResourceURI("api00")}}, pairs...)}
	}
}

// agentPage returns the address of a page about the publisher with the most content.
func agentPage(below string) func(*Full) string {
	return func(f *Full) string { return "/admin/publishers/" + f.Host("agent") + below }
}

// aboutAgent returns a form about that publisher, of a page that is stale and with every problem.
func aboutAgent(purpose site.Purpose) func(*Full) *Sent {
	return func(f *Full) *Sent {
		stale := strings.Repeat("11", 16)
		return &Sent{Purpose: purpose, About: f.Host("agent") + "\x00" + stale, Fields: With(f.WrongPublisher(), "expected_last", stale, "reason", f.Wide(f.Note))}
	}
}

// sends returns a form that is the same in every env.
func sends(purpose site.Purpose, about string, fields url.Values) func(*Full) *Sent {
	return func(*Full) *Sent { return &Sent{Purpose: purpose, About: about, Fields: fields} }
}

// edits returns a form about a client in its current state. Its token is bound to the
// revision and to bound.
func edits(purpose site.Purpose, id string, fields func(*Full) url.Values, bound ...string) func(*Full) *Sent {
	return func(f *Full) *Sent {
		revision := fmt.Sprint(f.View().Client(Long(id)).Revision)
		return &Sent{Purpose: purpose, About: strings.Join(append([]string{Long(id), revision}, bound...), "\x00"), Fields: With(fields(f), "revision", revision)}
	}
}

// ask requests the page once.
func (one weighing) ask(f *Full) *httptest.ResponseRecorder {
	b := f.Owner
	if one.nobody {
		b = f.Browser()
	}
	method, target, _ := strings.Cut(one.route, " ")
	if one.address != nil {
		target = one.address(f)
	}
	r := httptest.NewRequest(method, target, nil)
	if method == http.MethodPost {
		r = httptest.NewRequest(method, target, strings.NewReader(one.form(f).Values(b).Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return b.Serve(r)
}

// TestPagesAreLight verifies that every page has less than 20 KB, without stylesheet and
// pictures. Pages that show long texts completely, or show them again beside problems,
// only satisfy this for texts of usual length: ten addresses of 1,024 bytes alone are 10
// KB.
func TestPagesAreLight(t *testing.T) {
	t.Parallel()
	var weighed []string
	for _, e := range []Extent{Usual, Long10, Extreme} {
		f := NewFull(t, e)
		for _, one := range weighings {
			weighed = append(weighed, one.route)
			page := one.ask(f)
			assert.Equal(t, max(one.status, http.StatusOK), page.Code, one.route)
			assert.Empty(t, FaultsOf(page.Body.String()), one.route)
			t.Logf("%6d bytes, %2d URIs of %4d: %s", page.Body.Len(), e.Many, e.Uri, one.route)
			most := MaxPage
			switch {
			case one.whole && e == Long10:
				most = 24 << 10
			case one.whole && e == Extreme:
				most = 52 << 10
			}
			assert.Less(t, page.Body.Len(), most, "%s with %d URIs of %d", one.route, e.Many, e.Uri)
		}
	}
	var routes registered
	NewEnv(t, WithProvider).Web.Register(&routes)
	for _, route := range routes {
		if !strings.HasPrefix(route, "HEAD ") && !slices.Contains(weightless, route) {
			assert.Contains(t, weighed, route, "the route has no weighing")
		}
	}
	for _, route := range weightless {
		assert.Contains(t, routes, route)
		assert.NotContains(t, weighed, route)
	}
}

// TestErrorPagesAreLight covers pages without a route.
func TestErrorPagesAreLight(t *testing.T) {
	f := NewFull(t, Extreme)
	for _, page := range []Answer{f.Owner.Get("/nothing/" + strings.Repeat("x", 8000)), f.Owner.Send(http.MethodPut, "/account", nil, nil)} {
		assert.Less(t, len(page.Text), MaxPage)
	}
}

// TestLightListsAreWhole verifies that a list whose pages have fewer rows than usual is
// still complete.
func TestLightListsAreWhole(t *testing.T) {
	f := NewFull(t, Extreme)
	next := regexp.MustCompile(`<a class="button small" href="([^"]*)" rel="next">`)
	rows := regexp.MustCompile(`<tr><th scope="row">.*`)
	for path, want := range map[string]int{"/admin/clients": 139, "/admin/resource-servers": 30, "/admin/publishers": 38, "/admin/users": 34, "/admin/audit?user=" + OtherID: 36} {
		seen, pages := map[string]bool{}, 0
		for {
			page := f.Owner.Get(path)
			for _, row := range rows.FindAllString(page.Text, -1) {
				seen[row] = true
			}
			pages++
			more := next.FindStringSubmatch(page.Text)
			if more == nil {
				break
			}
			path = html.UnescapeString(more[1])
		}
		assert.Equal(t, want, len(seen), path) // without printing all rows
		assert.Greater(t, pages, want/25, path)
	}
}
