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
	return b.request(ctx, op{Client: client}, url.Values{"client_id": {client}, "redirect_uri": {callback}, "scope": {scopes}, "state": {"a-state"}})
}

// allowAgent is allow for an agent.
func (b *browser) allowAgent(ctx context.Context, it agent) *grant {
	return b.request(ctx, op{Client: it.clientID, Publisher: it.publisher}, it.request())
}

func (b *browser) request(ctx context.Context, o op, query url.Values) *grant {
	o.Kind, o.Node, o.Start, o.Class = allow, b.pick().Name, b.env.c.now(), unknown
	b.env.h.begin(o.Node)
	g := b.steps(ctx, query)
	if g != nil {
		g.client, g.publisher = o.Client, o.Publisher
		o.Class, o.Grant = ok, g.id
	}
	o.End = b.env.c.now()
	b.env.h.end(o)
	return g
}

func (b *browser) steps(ctx context.Context, query url.Values) *grant {
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
	return &grant{id: l.grant, code: code, tokens: []string{""}}
}
