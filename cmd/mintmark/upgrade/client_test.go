package upgrade

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"time"
)

const (
	callback = "http://127.0.0.1:9999/callback"
	password = "correct horse battery"
	secret   = "a-secret-of-the-application-in-this-test"
)

// A client is a user with a browser, and an application. Each request goes to a node of
// the client's choice.
type client struct {
	user, app string
	pick      func() *node
	http      *http.Client
}

// newClient returns a client that keeps connections open, or makes one for each request.
func newClient(user, app string, pick func() *node, standing bool) *client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		panic(err) // unreachable without options
	}
	return &client{user, app, pick, &http.Client{
		Jar: jar, Timeout: 15 * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: !standing, MaxIdleConnsPerHost: 4, DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

type reply struct {
	status int
	header http.Header
	body   string
}

// send makes one request. An error names the node.
func (c *client) send(n *node, method, path string, form url.Values, headers ...string) (reply, error) {
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequest(method, "http://"+n.public+path, body)
	if err != nil {
		return reply{}, err
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return reply{}, fmt.Errorf("%s %s at %s: %w", method, path[:min(len(path), 30)], n.name, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return reply{}, fmt.Errorf("%s %s at %s: %w", method, path[:min(len(path), 30)], n.name, err)
	}
	return reply{answer.StatusCode, answer.Header, string(text)}, nil
}

// allow signs in if necessary, presses "Allow", and returns the code.
func (c *client) allow() (string, error) {
	path := "/auth/oauth2/authorize?" + url.Values{
		"client_id": {c.app}, "redirect_uri": {callback}, "scope": {"PROFILE_READ"}, "state": {"a-state"},
	}.Encode()
	page, err := c.send(c.pick(), http.MethodGet, path, nil)
	if err == nil && strings.Contains(page.body, `name="password"`) {
		if _, err = c.submit(page, "password", "username", c.user, "password", password); err == nil {
			page, err = c.send(c.pick(), http.MethodGet, path, nil)
		}
	}
	if err != nil {
		return "", err
	}
	done, err := c.submit(page, "decision", "decision", "allow")
	if err != nil {
		return "", err
	}
	to, err := url.Parse(done.header.Get("Location"))
	if err != nil || to.Query().Get("code") == "" {
		return "", fmt.Errorf("allow: status %d, no code", done.status)
	}
	return to.Query().Get("code"), nil
}

var (
	forms  = regexp.MustCompile(`(?s)<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>`)
	inputs = regexp.MustCompile(`<input[^>]*>`)
	attrs  = regexp.MustCompile(`([a-z-]+)="([^"]*)"`)
)

// submit sends the form of a page that has a field or button of that name, filled in with
// pairs of name and value, and expects a redirect.
func (c *client) submit(page reply, holding string, fill ...string) (reply, error) {
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
		n := c.pick()
		r, err := c.send(n, http.MethodPost, html.UnescapeString(form[1]), fields,
			"Origin", "http://"+n.public, "Sec-Fetch-Site", "same-origin")
		if err == nil && r.status != http.StatusSeeOther {
			err = fmt.Errorf("%s at %s: status %d", holding, n.name, r.status)
		}
		return r, err
	}
	return reply{}, fmt.Errorf("status %d, and no form with %s", page.status, holding)
}

// redeem redeems a code or a refresh token at a node.
func (c *client) redeem(n *node, form url.Values) (refresh string, err error) {
	form.Set("client_id", c.app)
	form.Set("client_secret", secret)
	r, err := c.send(n, http.MethodPost, "/v2/auth/oauth2/token", form)
	if err != nil {
		return "", err
	}
	var m struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	if r.status != http.StatusOK || json.Unmarshal([]byte(r.body), &m) != nil || m.Refresh == "" || m.Access == "" {
		return "", fmt.Errorf("%s at %s: status %d: %s", form.Get("grant_type"), n.name, r.status, r.body)
	}
	return m.Refresh, nil
}

func (c *client) exchange(n *node, code string) (string, error) {
	return c.redeem(n, url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}})
}

func (c *client) refresh(n *node, token string) (string, error) {
	return c.redeem(n, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
}
