package chaos

import (
	"context"
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// A browser is used by a user who signs in and clicks on Allow. Its cookies apply to all
// nodes, as behind a load balancer.
type browser struct {
	env    *env
	pick   func() *node // selects the node for the next request
	person testkit.Person
}

func newBrowser(w *env) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		panic(err) // unreachable without options
	}
	b := &browser{env: w, pick: w.c.any}
	b.person = testkit.Person{
		Name: w.nextUser(), Password: w.password, HTTP: newHTTP(jar), Server: func() string { return b.pick().URL() },
	}
	return b
}

// allow goes through the authorization step, with each request to another node, and
// returns the new grant, or nil if the outcome is unknown.
func (b *browser) allow(ctx context.Context, client string) *grant {
	o := op{Kind: allow, Node: b.pick().Name, Client: client, Start: b.env.c.now(), Class: unknown}
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
	to, err := b.person.Decide(ctx, testkit.PathAuthorize+"?"+query.Encode(), "allow")
	var odd *testkit.StatusError
	if errors.As(err, &odd) && odd.Answer.Status == http.StatusTooManyRequests {
		time.Sleep(200 * time.Millisecond) // shorter than Retry-After
	}
	if err != nil {
		return nil
	}
	code := to.Query().Get("code")
	l, genuine := parseLink(code)
	if !genuine || !strings.HasPrefix(to.String(), callback) {
		return nil
	}
	return &grant{client: client, id: l.grant, code: code, tokens: []string{""}}
}
