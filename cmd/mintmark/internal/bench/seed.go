package bench

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A Seed is a user and a client that exist for one measurement. The user signs in and
// allows the client on the pages, as a person does: no operator can make a grant.
type Seed struct {
	Clients []Client // the client with each of its grants, or see SeedOptions.Introspect

	caller             *admin.Caller
	user, id, resource string // of user, client and resource server
}

// SeedOptions describe a Seed.
type SeedOptions struct {
	Base, App string // public addresses of the API and of the pages
	Grants    int
	Redeem    bool // exchange the code of each grant
	// Introspect registers a resource server, and makes each of Seed.Clients that resource
	// server with the access token of a grant. It needs Redeem.
	Introspect bool
}

const (
	seedName     = "Load test"
	seedScope    = "PROFILE_READ"
	seedRedirect = "http://127.0.0.1:9/callback" // nothing is ever sent there
)

// NewSeed makes a user, a client and grants on the node of a caller. After an error nothing
// is left.
func NewSeed(ctx context.Context, caller *admin.Caller, o SeedOptions) (*Seed, error) {
	s := &Seed{caller: caller}
	if err := s.make(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("seed: %w", err), s.Remove(ctx))
	}
	return s, nil
}

func (s *Seed) make(ctx context.Context, o SeedOptions) error {
	var random [8]byte
	_, _ = rand.Read(random[:])
	name := "bench-" + hex.EncodeToString(random[:])
	u, err := admin.AddUser.Call(ctx, s.caller, admin.NewUser{Username: name, Name: seedName})
	if err != nil {
		return fmt.Errorf("add user: %w", err)
	}
	s.user = u.ID
	c, err := admin.AddClient.Call(ctx, s.caller, admin.NewClient{
		Name: name, Owner: name, Type: "confidential", Purpose: seedName, RedirectURIs: []string{seedRedirect}, Scopes: []string{seedScope},
	})
	if err != nil {
		return fmt.Errorf("add client: %w", err)
	}
	s.id = c.ID
	if _, err := admin.ReviewClient.Call(ctx, s.caller, admin.Review{ID: c.ID, Verdict: "approve"}); err != nil {
		return fmt.Errorf("approve client: %w", err)
	}
	b := newBrowser(o.App)
	for range o.Grants {
		code, err := b.allow(ctx, c.ID, name, u.Password.Reveal())
		if err != nil {
			return fmt.Errorf("allow client: %w", err)
		}
		s.Clients = append(s.Clients, Client{ID: c.ID, Secret: c.Secret.Reveal(), Code: code})
	}
	if !o.Redeem {
		return nil
	}
	if err := s.redeem(ctx, o.Base); err != nil || !o.Introspect {
		return err
	}
	r, err := admin.AddResourceServer.Call(ctx, s.caller, admin.NewResourceServer{ID: "https://" + name + ".invalid", Name: name})
	if err != nil {
		return fmt.Errorf("add resource server: %w", err)
	}
	s.resource = r.ID
	for i := range s.Clients {
		s.Clients[i] = Client{ID: r.ID, Secret: r.Secret.Reveal(), AccessToken: s.Clients[i].AccessToken}
	}
	return nil
}

// redeem exchanges the codes for refresh tokens.
func (s *Seed) redeem(ctx context.Context, base string) error {
	u, err := url.Parse(base)
	if err != nil {
		return fmt.Errorf("parse URL: %w", err)
	}
	conn, err := Dial(ctx, u)
	if err != nil {
		return fmt.Errorf("exchange code: %w", err)
	}
	defer func() { _ = conn.Close() }()
	for i := range s.Clients {
		status, err := Exchange(conn, &s.Clients[i])
		if err != nil {
			return fmt.Errorf("exchange code: %w", err)
		}
		if status != http.StatusOK {
			return fmt.Errorf("exchange code: status %d", status)
		}
	}
	return nil
}

// Remove deletes the client, the user, and the resource server, and with them the grants.
func (s *Seed) Remove(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // an interrupt must not leave them
	var errs []error
	if s.resource != "" {
		if _, err := admin.RemoveResourceServer.Call(ctx, s.caller, admin.ResourceServerRef{ID: s.resource}); err != nil {
			errs = append(errs, fmt.Errorf("remove resource server %s: %w", s.resource, err))
		}
	}
	if s.id != "" {
		if _, err := admin.DeleteClient.Call(ctx, s.caller, admin.ClientRef{ID: s.id}); err != nil {
			errs = append(errs, fmt.Errorf("delete client %s: %w", s.id, err))
		}
	}
	if s.user != "" {
		if _, err := admin.SetUserState.Call(ctx, s.caller, admin.UserStateChange{User: s.user, State: "delete"}); err != nil {
			errs = append(errs, fmt.Errorf("delete user %s: %w", s.user, err))
		}
	}
	return errors.Join(errs...)
}

// A browser keeps cookies and fills in the forms of the pages.
type browser struct {
	app    string // origin of the pages
	client *http.Client
}

func newBrowser(app string) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		panic(err) // it has no options that could be wrong
	}
	return &browser{app, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// allow opens an authorization request, signs in where that is asked for, allows the
// client, and returns the code.
func (b *browser) allow(ctx context.Context, client, user, password string) (code string, err error) {
	request := url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {seedRedirect}, "scope": {seedScope}, "state": {"bench"},
	}
	page, err := b.get(ctx, oauth.PathAuthorize+"?"+request.Encode())
	if err != nil {
		return "", err
	}
	if strings.Contains(string(page.body), `name="password"`) {
		in, err := b.submit(ctx, page, "password", url.Values{"username": {user}, "password": {password}})
		if err != nil {
			return "", err
		}
		if in.status != http.StatusSeeOther {
			return "", fmt.Errorf("sign in: status %d", in.status)
		}
		if page, err = b.get(ctx, in.location); err != nil {
			return "", err
		}
	}
	done, err := b.submit(ctx, page, "decision", url.Values{"decision": {"allow"}})
	if err != nil {
		return "", err
	}
	to, err := url.Parse(done.location)
	if err != nil || to.Query().Get("code") == "" {
		return "", fmt.Errorf("no code: status %d", done.status)
	}
	return to.Query().Get("code"), nil
}

func (b *browser) get(ctx context.Context, address string) (response, error) {
	if strings.HasPrefix(address, "/") {
		address = b.app + address
	}
	return send(ctx, b.client, http.MethodGet, address, nil, nil)
}

var (
	formText  = regexp.MustCompile(`(?s)<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>`)
	inputText = regexp.MustCompile(`<input[^>]*>`)
	attribute = regexp.MustCompile(`([a-z-]+)="([^"]*)"`)
)

// submit posts the form of a page that has a field or button of that name, with its
// hidden fields and more.
func (b *browser) submit(ctx context.Context, page response, holding string, more url.Values) (response, error) {
	for _, form := range formText.FindAllStringSubmatch(string(page.body), -1) {
		if !strings.Contains(form[2], fmt.Sprintf("name=%q", holding)) {
			continue
		}
		fields := url.Values{}
		for _, input := range inputText.FindAllString(form[2], -1) {
			a := map[string]string{}
			for _, pair := range attribute.FindAllStringSubmatch(input, -1) {
				a[pair[1]] = html.UnescapeString(pair[2])
			}
			if a["type"] == "hidden" {
				fields.Set(a["name"], a["value"])
			}
		}
		for name, values := range more {
			fields[name] = values
		}
		return send(ctx, b.client, http.MethodPost, b.app+html.UnescapeString(form[1]), fields, http.Header{"Origin": {b.app}})
	}
	return response{}, fmt.Errorf("no form with %q on the page: status %d", holding, page.status)
}

// A response was read to its end.
type response struct {
	status   int
	location string
	body     []byte
}

func send(ctx context.Context, c *http.Client, method, address string, form url.Values, header http.Header) (response, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return response{}, err
	}
	if header != nil {
		r.Header = header
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	a, err := c.Do(r)
	if err != nil {
		return response{}, err
	}
	defer a.Body.Close()
	body, err := io.ReadAll(io.LimitReader(a.Body, maxBody))
	return response{a.StatusCode, a.Header.Get("Location"), body}, err
}
