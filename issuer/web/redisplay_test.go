package web_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

var (
	redisplayedForms = []string{
		"/admin/branding", "/admin/clients/:id/review", "/admin/clients/:id/suspend", "/admin/clients/:id/transfer",
		"/admin/new-publisher", "/admin/new-resource-server", NewUserPage, "/admin/publishers/:host/edit", "/admin/publishers/:host/reject",
		"/admin/resource-servers/:server/edit", "/admin/resource-servers/:server/remove", "/admin/users/:id/edit",
		"/developer/clients/:id/delete", "/developer/clients/:id/edit", "/developer/clients/:id/migration", "/developer/clients/:id/secrets/set", "/developer/clients/:id/transfer", "/developer/new",
	}
	notRedisplayed = []string{"/account/password", "/admin/users/:id/password", "/developer/clients/:id/decode", "/developer/clients/:id/migration/draft", "/developer/offers/:id/accept"}
)

// TestFilledFormsAreKept verifies that every form with input is redisplayed and can be
// sent again. A new form must be in redisplayedForms, unless there is a reason.
func TestFilledFormsAreKept(t *testing.T) {
	t.Parallel()
	var kept, others []string
	_, people := stage(t)
	for _, r := range append(slices.Clone(matrix),
		row{route: "GET /admin/clients/:id", address: "/admin/clients/waiting"},
	) {
		if !strings.HasPrefix(r.route, "GET ") || strings.HasPrefix(r.route, "GET /auth/") {
			continue
		}
		for i, who := range people[1:] {
			for n, f := range FormsOf(who.Get(r.path()).Text) {
				pattern, proof := patternOf(f.Action), f.Values.Has("shown_to")
				if !proof && len(f.Inputs) > 0 {
					others = append(others, pattern)
				}
				if proof && !slices.Contains(kept, pattern) {
					kept = append(kept, pattern)
					t.Run(pattern, func(t *testing.T) {
						_, people := stage(t)
						b := people[i+1]
						FormsOf(b.Get(r.path()).Text)[n].SendAgain(t, b)
					})
				}
			}
		}
	}
	slices.Sort(kept)
	slices.Sort(others)
	assert.Equal(t, redisplayedForms, kept)
	assert.Equal(t, notRedisplayed, slices.Compact(others), "the input of a form is lost when its session ends")
}

// patternOf returns the route of a form.
func patternOf(action string) string {
	for _, r := range matrix {
		_, pattern, post := strings.Cut(r.route, "POST ")
		if post && regexp.MustCompile("^"+regexp.MustCompile(":[a-z]+").ReplaceAllString(pattern, "[^/]+")+"$").MatchString(action) {
			return pattern
		}
	}
	return action
}

// TestThrottledFormIsKept: a form beyond the limit can be sent again as it was, and secrets are not
// repeated.
func TestThrottledFormIsKept(t *testing.T) {
	t.Parallel()
	w, root := Administration(t)
	b := w.SignedIn()
	w.Web.SpendChanges(b.UserID)
	const path = "/developer/new"
	page := b.Post(path, With(b.Get(path).Form(t, path), "name", "Zeta <Notes>"))
	require.Equal(t, http.StatusTooManyRequests, page.StatusCode)
	assert.NotEmpty(t, page.Header.Get("Retry-After"))
	assert.Contains(t, page.Text, "Wait 20 seconds, then send it again. Nothing you typed is lost.")
	again := page.Form(t, path)
	assert.Equal(t, "Zeta <Notes>", again.Get("name"))
	w.Advance(20 * time.Second)
	assert.Equal(t, http.StatusUnprocessableEntity, b.Post(path, again).StatusCode, "it is not complete, but was read")

	page = b.PostParts(path, b.Get(path).Form(t, path), Part{Name: "logo", File: "me.png", Content: strings.Repeat("x", 100_000)})
	assert.Equal(t, http.StatusTooManyRequests, page.StatusCode)
	assert.NotContains(t, page.Text, "Nothing you typed is lost")
	assert.Contains(t, page.Text, "Files are not kept.")

	w.Web.SpendEndings(Handle(b))
	w.Web.SpendChanges(root.UserID)
	for _, test := range []struct {
		b     *Browser
		path  string
		pairs []string
	}{
		{b, "/account/password", []string{"current", "lantern-one", "new", "lantern-two", "again", "lantern-two"}},
		{root, NewUserPage, []string{"username", "eve", "password", "lantern-one"}},
	} {
		page := test.b.Post(test.path, With(test.b.Get(test.path).Form(t, test.path), test.pairs...))
		require.Equal(t, http.StatusTooManyRequests, page.StatusCode)
		assert.NotContains(t, page.Text, "lantern")
		assert.Contains(t, page.Text, `href="`+test.path+`">Open the form again</a>`)
	}
}
