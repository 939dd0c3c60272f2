package dev

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/oauth2"
)

// The demo's user and application, see demo.yaml.
const (
	demoUser, demoPassword = "demo", "lantern-under-oak"
	demoClient, demoSecret = "demo-app", "demo-secret"
	demoCallback           = "http://127.0.0.1:9999/callback"
)

func demoTokenCommand() *cobra.Command {
	var issuer, resource string
	var scopes []string
	c := &cobra.Command{
		Use:   "token",
		Short: "Get an access token without a browser",
		Long: `Get an access token of a node that "mintmark dev" runs with its demo user. It goes
the way of a browser: it signs in as demo, allows the application demo-app, and
exchanges the code. Standard output has the access token and nothing else.`,
		RunE: func(c *cobra.Command, _ []string) error {
			token, err := DemoToken(c.Context(), strings.TrimSuffix(issuer, "/"), resource, scopes)
			switch {
			case errors.Is(err, syscall.ECONNREFUSED):
				return fmt.Errorf("get a token of %s: %w (start a node: make run, or mintmark dev)", issuer, err)
			case err != nil:
				return fmt.Errorf("get a token of %s: %w", issuer, err)
			}
			fmt.Fprintf(c.ErrOrStderr(), "An access token of %s for %s, until %s:\n", demoUser, strings.Join(scopes, " "), token.Expiry.Format(time.TimeOnly))
			fmt.Fprintln(c.OutOrStdout(), token.AccessToken)
			return nil
		},
	}
	c.Flags().StringVar(&issuer, "issuer", "http://127.0.0.1:8080", "the authorization server")
	c.Flags().StringSliceVar(&scopes, "scope", []string{"PROFILE_READ", "BOOKING_READ"}, "scopes, separated by commas (may be repeated)")
	c.Flags().StringVar(&resource, "resource", "", "identifier of the registered resource server that the token is for (default: the cluster's audience)")
	return c
}

// DemoToken gets an access token for the demo's user and application, by the authorization
// code flow with PKCE. resource may be empty.
func DemoToken(ctx context.Context, issuer, resource string, scopes []string) (*oauth2.Token, error) {
	p, err := newDemoPerson()
	if err != nil {
		return nil, err
	}
	endpoint, err := p.endpoint(ctx, issuer)
	if err != nil {
		return nil, err
	}
	app := oauth2.Config{ClientID: demoClient, ClientSecret: demoSecret, Endpoint: endpoint, RedirectURL: demoCallback, Scopes: scopes}
	state, verifier := oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
	target := oauth2.SetAuthURLParam("resource", resource) // RFC 8707; an empty value is absent
	answer, err := p.allow(ctx, app.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier), target))
	if err != nil {
		return nil, err
	}
	switch q := answer.Query(); {
	case q.Get("error") != "":
		return nil, fmt.Errorf("%s: %s", q.Get("error"), q.Get("error_description"))
	case q.Get("state") != state || q.Get("code") == "":
		return nil, errors.New("the answer is not that of the authorization request")
	default:
		token, err := app.Exchange(context.WithValue(ctx, oauth2.HTTPClient, p.client), q.Get("code"), oauth2.VerifierOption(verifier), target)
		if err != nil {
			return nil, fmt.Errorf("exchange the code: %w", err)
		}
		return token, nil
	}
}

// A demoPerson is the demo's user with a browser: it keeps cookies and fills in forms.
type demoPerson struct{ client *http.Client }

func newDemoPerson() (*demoPerson, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	return &demoPerson{&http.Client{
		Jar: jar, Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// endpoint reads where an issuer is asked (RFC 8414).
func (p *demoPerson) endpoint(ctx context.Context, issuer string) (e oauth2.Endpoint, err error) {
	page, err := p.do(ctx, http.MethodGet, issuer+"/.well-known/oauth-authorization-server", nil)
	if err != nil {
		return e, err
	}
	var metadata struct {
		Authorization string `json:"authorization_endpoint"`
		Token         string `json:"token_endpoint"`
	}
	if err := json.Unmarshal([]byte(page.body), &metadata); err != nil || metadata.Authorization == "" || metadata.Token == "" {
		return e, errors.New("its metadata can't be read")
	}
	return oauth2.Endpoint{AuthURL: metadata.Authorization, TokenURL: metadata.Token, AuthStyle: oauth2.AuthStyleInParams}, nil
}

// maxPages is how many pages there are at most from the authorization request to the
// application: sign-in, consent, and a redirect after each.
const maxPages = 6

// allow answers the pages of an authorization request, and returns the address of the
// application that the browser is sent to.
func (p *demoPerson) allow(ctx context.Context, address string) (*url.URL, error) {
	page, err := p.do(ctx, http.MethodGet, address, nil)
	for range maxPages {
		if err != nil {
			return nil, err
		}
		to := page.location
		switch {
		case to != nil && strings.HasPrefix(to.String(), demoCallback+"?"):
			return to, nil
		case to != nil:
			page, err = p.do(ctx, http.MethodGet, to.String(), nil)
		default:
			page, err = p.fill(ctx, page)
		}
	}
	return nil, cmp.Or(err, errors.New("too many pages"))
}

// A demoPage is an answer that was read to its end. location is nil unless it redirects.
type demoPage struct {
	at, location *url.URL
	body         string
}

// fill submits the form of a page that the demo's user has to answer.
func (p *demoPerson) fill(ctx context.Context, page demoPage) (demoPage, error) {
	action, fields, found := formWith(page.body, "password")
	switch {
	case found && strings.Contains(page.body, `role="alert"`):
		return page, fmt.Errorf("sign in as %s: refused; the issuer may not have the demo's user", demoUser)
	case found:
		fields.Set("username", demoUser)
		fields.Set("password", demoPassword)
	default:
		if action, fields, found = formWith(page.body, "decision"); !found {
			return p.leave(page)
		}
		fields.Set("decision", "allow")
	}
	to, err := page.at.Parse(action)
	if err != nil {
		return page, err
	}
	return p.do(ctx, http.MethodPost, to.String(), fields)
}

// leave follows the link of a page that sends the user back to the application.
func (p *demoPerson) leave(page demoPage) (demoPage, error) {
	link := linkPattern.FindStringSubmatch(page.body)
	if link == nil {
		return page, errors.New("a page is neither for signing in nor for consent")
	}
	var err error
	page.location, err = url.Parse(html.UnescapeString(link[1]))
	return page, err
}

const maxDemoPage = 1 << 20 // bytes

// do sends a request as a browser does, with the fields of a form or without any.
func (p *demoPerson) do(ctx context.Context, method, address string, fields url.Values) (page demoPage, err error) {
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(fields.Encode()))
	if err != nil {
		return page, err
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", r.URL.Scheme+"://"+r.URL.Host)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	resp, err := p.client.Do(r)
	if err != nil {
		return page, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDemoPage))
	if err != nil {
		return page, err
	}
	page = demoPage{at: r.URL, body: string(body)}
	switch resp.StatusCode {
	case http.StatusOK:
		return page, nil
	case http.StatusFound, http.StatusSeeOther:
		page.location, err = resp.Location()
		return page, err
	}
	return page, fmt.Errorf("%s answered %s", r.URL.Path, resp.Status)
}

var (
	formPattern  = regexp.MustCompile(`(?s)<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>`)
	linkPattern  = regexp.MustCompile(`<a class="button primary" href="(` + regexp.QuoteMeta(demoCallback) + `\?[^"]*)"`)
	inputPattern = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
)

// formWith returns the action and the hidden fields of the form on a page that has a field
// or a button of a name.
func formWith(page, name string) (action string, fields url.Values, ok bool) {
	for _, form := range formPattern.FindAllStringSubmatch(page, -1) {
		if !strings.Contains(form[2], fmt.Sprintf(" name=%q", name)) {
			continue
		}
		fields = url.Values{}
		for _, input := range inputPattern.FindAllStringSubmatch(form[2], -1) {
			fields.Set(html.UnescapeString(input[1]), html.UnescapeString(input[2]))
		}
		return html.UnescapeString(form[1]), fields, true
	}
	return "", nil, false
}
