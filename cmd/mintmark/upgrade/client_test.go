package upgrade

import (
	"fmt"
	"net/http/cookiejar"
	"net/url"
	"testing"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

const (
	callback = "http://127.0.0.1:9999/callback"
	password = "correct horse battery"
	secret   = "a-secret-of-the-application-in-this-test"
)

// A client is a user with a browser, and an application. Each request goes to a node of
// the client's choice.
type client struct {
	t      testing.TB
	person testkit.Person
	app    testkit.App
}

// newClient returns a client that keeps connections open, or makes one for each request.
func newClient(t testing.TB, user, app string, pick func() *node, standing bool) *client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		panic(err) // unreachable without options
	}
	http := testkit.NewHTTP(jar, standing, 15*time.Second)
	return &client{
		t,
		testkit.Person{Name: user, Password: password, HTTP: http, Server: func() string { return pick().URL() }},
		testkit.App{ID: app, Secret: secret, HTTP: http},
	}
}

// allow signs in if necessary, presses "Allow", and returns the code.
func (c *client) allow() (string, error) {
	to, err := c.person.Decide(c.t.Context(), testkit.PathAuthorize+"?"+url.Values{
		"client_id": {c.app.ID}, "redirect_uri": {callback}, "scope": {"PROFILE_READ"}, "state": {"a-state"},
	}.Encode(), "allow")
	if err != nil {
		return "", err
	}
	if to.Query().Get("code") == "" {
		return "", fmt.Errorf("allow: no code in %s", to)
	}
	return to.Query().Get("code"), nil
}

// redeem redeems a code or a refresh token at a node.
func (c *client) redeem(n *node, grant url.Values) (refresh string, err error) {
	a, err := c.app.Redeem(c.t.Context(), n.URL(), grant)
	if err != nil {
		return "", fmt.Errorf("%s: %w", n.Name, err)
	}
	tokens, err := a.Tokens()
	if err != nil {
		return "", fmt.Errorf("%s at %s: %w", grant.Get("grant_type"), n.Name, err)
	}
	return tokens.Refresh, nil
}

func (c *client) exchange(n *node, code string) (string, error) {
	return c.redeem(n, testkit.CodeGrant(code, callback))
}

func (c *client) refresh(n *node, token string) (string, error) {
	return c.redeem(n, testkit.RefreshGrant(token))
}
