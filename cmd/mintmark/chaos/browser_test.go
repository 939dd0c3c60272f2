package chaos

import (
	"context"
	"html"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// A browser is used by a user who signs in and clicks on Allow. Its cookies apply to all
// nodes, as behind a load balancer.
type browser struct {
	env  *env
	user string
	http *http.Client
	pick func() *node // selects the node for the next request
}

func newBrowser(w *env) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		panic(err) // unreachable without options
	}
	return &browser{w, w.nextUser(), newHTTP(jar), w.c.any}
}

// allow goes through the authorization step, with each request to another node, and
// returns the new grant, or nil if the outcome is unknown.
func (b *browser) allow(ctx context.Context, client string) *grant {
	o := op{Kind: allow, Node: b.pick().name, Client: client, Start: b.env.c.now(), Class: unknown}
	b.env.h.begin(o.Node)
	g := b.steps(ctx, client)
	if g != nil {
		o.Class, o.Grant = ok, g.id
	}
	o.End = b.env.c.now()
	b.env.h.end(o)
	return g
}

func (b *browser) steps(ctx context.Context, client string) *grant {
	query := url.Values{"client_id": {client}, "redirect_uri": {callback}, "scope": {scopes}, "state": {"a-state"}}
	path := pathAuthorize + "?" + query.Encode()
	page := b.get(ctx, path)
	if page.status == http.StatusOK && strings.Contains(page.body, `name="password"`) {
		in := b.submit(ctx, page, "password", "username", b.user, "password", b.env.password)
		if in.status != http.StatusSeeOther {
			if in.status == http.StatusTooManyRequests {
				time.Sleep(200 * time.Millisecond) // shorter than Retry-After
			}
			return nil
		}
		page = b.get(ctx, path)
	}
	if page.status != http.StatusOK || !strings.Contains(page.body, `name="decision"`) {
		return nil
	}
	done := b.submit(ctx, page, "decision", "decision", "allow")
	to, err := url.Parse(done.header.Get("Location"))
	if done.status != http.StatusSeeOther || err != nil {
		return nil
	}
	code := to.Query().Get("code")
	l, genuine := parseLink(code)
	if !genuine || !strings.HasPrefix(to.String(), callback) {
		return nil
	}
	return &grant{client: client, id: l.grant, code: code, tokens: []string{""}}
}

func (b *browser) get(ctx context.Context, path string) reply {
	return send(ctx, b.http, http.MethodGet, "http://"+b.pick().public+path, nil)
}

var (
	forms  = regexp.MustCompile(`(?s)<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>`)
	inputs = regexp.MustCompile(`<input[^>]*>`)
	attrs  = regexp.MustCompile(`([a-z-]+)="([^"]*)"`)
)

// submit sends the form of a page that has a field or button of that name, filled in with
// pairs of name and value.
func (b *browser) submit(ctx context.Context, page reply, holding string, fill ...string) reply {
	for _, form := range forms.FindAllStringSubmatch(page.body, -1) {
		if !strings.Contains(form[2], `name="`+holding+`"`) {
			continue
		}
		fields := url.Values{}
		for _, input := range inputs.FindAllString(form[2], -1) {
			a := map[string]string{}
			for _, pair := range attrs.FindAllStringSubmatch(input, -1) {
				a[pair[1]] = html.UnescapeString(pair[2])
			}
			if a["type"] == "hidden" {
				fields.Set(a["name"], a["value"])
			}
		}
		for i := 0; i+1 < len(fill); i += 2 {
			fields.Set(fill[i], fill[i+1])
		}
		to := "http://" + b.pick().public
		return send(ctx, b.http, http.MethodPost, to+html.UnescapeString(form[1]), fields, "Origin", to, "Sec-Fetch-Site", "same-origin")
	}
	return reply{}
}
