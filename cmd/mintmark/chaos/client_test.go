package chaos

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// An application sends requests to the token endpoint of any node and records the
// answers.
type application struct {
	env  *env
	http *http.Client
	pick func() *node // selects the node for the next request
}

func newApplication(w *env) *application { return &application{w, newHTTP(nil), w.c.any} }

// A grant is an application's data about one authorization.
type grant struct {
	client, id string
	code       string
	publisher  string   // of an agent, which has no secret
	secret     int      // index of the client's secret for the exchange
	tokens     []string // refresh tokens by generation, from 1; [0] is ""
	access     string   // the latest access token
	ended      bool     // an answer reported the end
}

func (g *grant) gen() uint32 { return uint32(len(g.tokens) - 1) }

// exchange redeems the code. deliberate marks a code that was redeemed before.
func (a *application) exchange(ctx context.Context, n *node, g *grant, deliberate bool) (op, string) {
	o := op{Kind: exchange, Client: g.client, Publisher: g.publisher, Secret: g.secret, Grant: g.id, Deliberate: deliberate}
	return a.token(ctx, n, g, o, testkit.CodeGrant(g.code, callback))
}

// refresh presents the refresh token of a generation, with one of the client's
// secrets.
func (a *application) refresh(ctx context.Context, n *node, g *grant, gen uint32, secret int) (op, string) {
	o := op{Kind: refresh, Client: g.client, Publisher: g.publisher, Secret: secret, Grant: g.id, Gen: gen}
	o.Deliberate = g.ended || gen+1 < uint32(len(g.tokens))
	return a.token(ctx, n, g, o, testkit.RefreshGrant(g.tokens[gen]))
}

// token sends one request and records the result. It returns the refresh token of a
// success.
func (a *application) token(ctx context.Context, n *node, g *grant, o op, form url.Values) (op, string) {
	form.Set("client_id", g.client)
	switch {
	case g.publisher == "":
		form.Set("client_secret", a.env.secretText(g.client, o.Secret))
	case o.Kind == exchange:
		form.Set("code_verifier", codeVerifier)
	}
	o.Node = n.Name
	a.env.h.begin(n.Name)
	o.Start = a.env.c.now()
	r := send(ctx, a.http, http.MethodPost, n.URL()+testkit.PathToken, form)
	o.End = a.env.c.now()
	o.Class = r.class(a.env.c.single)
	var next string
	switch {
	case o.Class == refused:
		o.Code = r.ErrorCode()
	case o.Class == ok:
		next = a.accept(&o, g, r)
	case r.err == nil && r.Status != http.StatusServiceUnavailable && r.Status != http.StatusTooManyRequests:
		a.env.h.addFault("%s answers %s with %d: %s", n.Name, o.Kind, r.Status, r.Body)
	}
	a.env.h.end(o)
	return o, next
}

// accept checks everything about a success that is independent of the state: that the
// tokens belong to the request, and that the access token verifies offline.
func (a *application) accept(o *op, g *grant, r reply) string {
	var m testkit.Tokens
	if err := json.Unmarshal([]byte(r.Body), &m); err != nil {
		a.env.h.addFault("%s answers 200 with %q", o.Node, r.Body)
		o.Class = unknown
		return ""
	}
	l, genuine := parseLink(m.Refresh)
	if !genuine || l.grant != g.id {
		a.env.h.addFault("a refresh token of grant %s came for grant %s", l.grant, g.id)
	}
	o.Got, o.MadeUnder, o.Scope, o.Key = l.gen, l.key, m.Scope, keyOf(m.Access)
	a.env.received(l.grant, l.gen, m.Refresh)
	claims, err := a.env.keyLog.verify(m.Access)
	if err != nil {
		a.env.h.addFault("an access token of %s under key %s does not verify offline: %v", o.Node, o.Key, err)
		return m.Refresh
	}
	if claims.GrantID() != g.id || claims.ClientID() != g.client || claims.ScopeText() != m.Scope || claims.Legacy() {
		a.env.h.addFault("the access token of grant %s says grant %s, client %s, scope %q", g.id, claims.GrantID(), claims.ClientID(), claims.ScopeText())
	}
	o.IssuedAt, o.Expires = claims.IssuedAt().Unix(), claims.ExpiresAt().Unix()
	g.access = m.Access
	return m.Refresh
}

// keyOf returns the kid of a token.
func keyOf(token string) string {
	header, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(header)
	var m struct{ Kid string }
	if err != nil || json.Unmarshal(text, &m) != nil {
		return ""
	}
	return m.Kid
}

// me reads the profile with the grant's access token.
func (a *application) me(ctx context.Context, n *node, g *grant) reply {
	o := op{Kind: read, Node: n.Name, Start: a.env.c.now()}
	a.env.h.begin(n.Name)
	r := send(ctx, a.http, http.MethodGet, n.URL()+testkit.PathMe, nil, "Authorization", "Bearer "+g.access)
	o.End, o.Class = a.env.c.now(), r.class(a.env.c.single)
	a.env.h.end(o)
	return r
}
