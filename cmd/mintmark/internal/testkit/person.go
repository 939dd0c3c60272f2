package testkit

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// A Person reads pages, fills in their forms and keeps cookies, without a browser. All
// servers get the same cookies, as behind a load balancer.
type Person struct {
	Name, Password string
	HTTP           *http.Client  // with a cookie jar
	Server         func() string // origin of the server that gets the next request
}

// Get opens a page.
func (p *Person) Get(ctx context.Context, path string) (Answer, error) {
	return SendForm(ctx, p.HTTP, http.MethodGet, p.Server()+path, nil)
}

// Submit sends the form that contains a field or button of that name. It sends the hidden
// fields of the form, and pairs of name and value.
func (p *Person) Submit(ctx context.Context, page Answer, holding string, fill ...string) (Answer, error) {
	action, fields, found := Form(page.Body, holding)
	if !found {
		return Answer{}, &StatusError{"no form with " + holding, page}
	}
	for i := 0; i+1 < len(fill); i += 2 {
		fields.Set(fill[i], fill[i+1])
	}
	server := p.Server()
	return SendForm(ctx, p.HTTP, http.MethodPost, server+action, fields, "Origin", server, "Sec-Fetch-Site", "same-origin")
}

// Decide opens an authorization request, signs in if necessary, and presses a button of
// the consent page: "allow" or "cancel". It returns the address to which the browser is
// then redirected.
func (p *Person) Decide(ctx context.Context, path, decision string) (*url.URL, error) {
	page, err := p.Get(ctx, path)
	if err == nil && strings.Contains(page.Body, `name="password"`) {
		page, err = p.Submit(ctx, page, "password", "username", p.Name, "password", p.Password)
		if err == nil && page.Status != http.StatusSeeOther {
			err = &StatusError{"sign in", page}
		}
		if err == nil {
			page, err = p.Get(ctx, path)
		}
	}
	if err == nil && page.Status == http.StatusOK {
		page, err = p.Submit(ctx, page, "decision", "decision", decision)
	}
	if err != nil {
		return nil, err
	}
	if page.Status != http.StatusSeeOther {
		return nil, &StatusError{decision, page}
	}
	return url.Parse(page.Header.Get("Location"))
}

var (
	forms  = regexp.MustCompile(`(?s)<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>`)
	inputs = regexp.MustCompile(`<input[^>]*type="hidden"[^>]*>`)
	attrs  = regexp.MustCompile(`([a-z-]+)="([^"]*)"`)
)

// Form finds the form that contains a field or button of that name or, if it begins with a slash,
// whose address ends so. It returns the address of the form, and its hidden fields.
func Form(page, holding string) (action string, fields url.Values, found bool) {
	for _, form := range forms.FindAllStringSubmatch(page, -1) {
		held := strings.Contains(form[2], fmt.Sprintf("name=%q", holding))
		if strings.HasPrefix(holding, "/") {
			held = strings.HasSuffix(form[1], holding)
		}
		if !held {
			continue
		}
		fields = url.Values{}
		for _, input := range inputs.FindAllString(form[2], -1) {
			a := map[string]string{}
			for _, pair := range attrs.FindAllStringSubmatch(input, -1) {
				a[pair[1]] = html.UnescapeString(pair[2])
			}
			fields.Set(a["name"], a["value"])
		}
		return html.UnescapeString(form[1]), fields, true
	}
	return "", nil, false
}
