package site_test

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// filledSpecimen returns the specimen's form, filled in.
func filledSpecimen(t *testing.T, b *Browser) url.Values {
	form := With(b.Get(specimenPage).Form(t, specimenPath), "name", `<b> & "Calendar"`, "purpose", "line 1\nline 2", "secret", Hunter, "type", "public")
	form["redirect_uris"] = []string{"https://a.example/", "", "https://b.example/"}
	form["scopes"] = []string{"BOOKING_READ", "BOOKING_WRITE"}
	return form
}

// TestFormAfterItsSession verifies that a form that is sent after its session has ended
// is shown again with its input, has no effect before its user has signed in in another
// tab, and can then be sent once more.
func TestFormAfterItsSession(t *testing.T) {
	for name, end := range map[string]func(*Browser){
		"signed out": (*Browser).SignOutElsewhere,
		"idle":       func(b *Browser) { b.Env.Advance(13 * time.Hour) },
		"no cookie":  func(b *Browser) { delete(b.Cookies, "mintmark") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpecimen(t)
			b := s.SignedIn()
			form := filledSpecimen(t, b)
			end(b)
			state, proposed := s.Index, len(s.Proposals)
			page := b.PostParts(specimenPath, form, Part{Name: "logo", File: "secret.png", Content: "\x89PNG of mine"})
			require.Equal(t, http.StatusForbidden, page.StatusCode, page.Text)
			assert.Contains(t, page.Text, "<h1>Your session ended</h1>")
			assert.Contains(t, page.Text, `href="/auth/sign-in" target="_blank"`)
			assert.NotContains(t, page.Text, "Ada", "the session has ended")
			again := page.All(t, specimenPath)
			for _, field := range []string{"name", "purpose", "type", "scopes", "revision"} {
				assert.Equal(t, form[field], again[field], field)
			}
			assert.Equal(t, []string{"https://a.example/", "https://b.example/"}, again["redirect_uris"])
			assert.Empty(t, again.Get("secret"))
			for _, text := range []string{"hunter2", "secret.png", "of mine"} {
				assert.NotContains(t, page.Text, text)
			}
			assert.Contains(t, page.Text, `name="secret" type="password"`)
			assert.Contains(t, page.Text, `name="logo" type="file"`)

			page = b.PostParts(specimenPath, again)
			require.Equal(t, http.StatusForbidden, page.StatusCode, "before the new sign-in")
			again = page.All(t, specimenPath)
			assert.Equal(t, `<b> & "Calendar"`, again.Get("name"))
			assert.Zero(t, s.accepted)
			assert.Equal(t, state, s.Index)
			assert.Len(t, s.Proposals, proposed)

			b.SignInAgain("ada")
			res := b.PostParts(specimenPath, again, Part{Name: "logo", File: "l.png", Content: "\x89PNG"})
			require.Equal(t, http.StatusSeeOther, res.StatusCode, res.Text)
			assert.Equal(t, specimenPage+"?done=saved", LeadsTo(res))
			assert.Equal(t, 1, s.accepted)
			assert.Equal(t, form.Get("name"), s.name)
			assert.Equal(t, again["redirect_uris"], s.uris)
			assert.Equal(t, form["scopes"], s.scopes)
			assert.Equal(t, "\x89PNG", string(s.logo))
		})
	}
}

// TestFormOfAnEarlierSession verifies that a user who has signed in again already checks
// the input once and sends it again.
func TestFormOfAnEarlierSession(t *testing.T) {
	s := newSpecimen(t)
	b := s.SignedIn()
	form := filledSpecimen(t, b)
	b.SignOutElsewhere()
	b.SignInAgain("ada")
	page := b.Post(specimenPath, form)
	require.Equal(t, http.StatusConflict, page.StatusCode, page.Text)
	assert.Contains(t, page.Text, "You have signed in again since this page was opened.")
	assert.Contains(t, page.Text, "Ada Lovelace")
	assert.NotContains(t, page.Text, "hunter2")
	assert.Zero(t, s.accepted)
	assert.Equal(t, http.StatusSeeOther, b.Post(specimenPath, page.All(t, specimenPath)).StatusCode)
	assert.Equal(t, form.Get("name"), s.name)
}

// TestShownAgainInAnotherBrowser verifies that a redisplayed form is bound to its
// browser: in another one it is redisplayed again.
func TestShownAgainInAnotherBrowser(t *testing.T) {
	s := newSpecimen(t)
	b := s.SignedIn()
	form := filledSpecimen(t, b)
	b.SignOutElsewhere()
	again := b.Post(specimenPath, form).All(t, specimenPath)
	assert.Equal(t, http.StatusConflict, s.SignedIn().Post(specimenPath, again).StatusCode)
	assert.Zero(t, s.accepted)
}

// TestFormOfAnotherUser verifies that another user gets an empty form, whether they sign
// in before the form is sent or before it is sent again.
func TestFormOfAnotherUser(t *testing.T) {
	for name, shownAgain := range map[string]bool{"at once": false, "shown again": true} {
		t.Run(name, func(t *testing.T) {
			s := newSpecimen(t)
			b := s.SignedIn()
			form := With(b.Get("/developer/new").Form(t, "/developer/new"), "name", "Trip Planner", "type", "public", "scopes", "BOOKING_READ", "redirect_uris", Callback)
			b.SignOutElsewhere()
			if shownAgain {
				form = b.PostParts("/developer/new", form).All(t, "/developer/new")
				require.Equal(t, "Trip Planner", form.Get("name"))
			}
			b.SignInAgain("bob")
			proposed := len(s.Proposals)
			res := b.PostParts("/developer/new", form)
			require.Equal(t, http.StatusSeeOther, res.StatusCode, res.Text)
			assert.Equal(t, "/developer/new?done=others", LeadsTo(res))
			page := b.Get(res.Header.Get("Location"))
			assert.Contains(t, page.Text, "Another user had filled in the form, so nothing was done.")
			assert.NotContains(t, page.Text, "Trip Planner")
			assert.Len(t, s.Proposals, proposed)
			assert.Nil(t, s.ClientRow(form.Get("client")))
		})
	}
}

// TestFormsThatAreNotShownAgain verifies that a form that no page showed to its user is
// not redisplayed: without a session the response is the sign-in page, and otherwise an
// error.
func TestFormsThatAreNotShownAgain(t *testing.T) {
	native := "/specimens/native/edit"
	for name, test := range map[string]struct {
		path   string
		change func(*specimen, url.Values)
		header http.Header
		nobody int // status without a session; 0 means 303
	}{
		"no proof":      {change: func(_ *specimen, f url.Values) { f.Del("shown_to") }},
		"garbage":       {change: func(_ *specimen, f url.Values) { f.Set("shown_to", "garbage") }},
		"a forged one":  {change: func(_ *specimen, f url.Values) { f.Set("shown_to", flip(f.Get("shown_to"))) }},
		"not a form's":  {change: func(_ *specimen, f url.Values) { f.Set("shown_to", Sealer{}.SealSession(make([]byte, 40))) }},
		"empty":         {change: func(_ *specimen, f url.Values) { f.Set("shown_to", Sealer{}.SealForm(nil)) }},
		"nobody's":      {change: func(_ *specimen, f url.Values) { f.Set("shown_to", Sealer{}.SealForm(make([]byte, 24))) }},
		"two":           {change: func(_ *specimen, f url.Values) { f.Add("shown_to", f.Get("shown_to")) }},
		"another's":     {path: native},
		"a revision":    {change: func(_ *specimen, f url.Values) { f.Set("revision", "4") }},
		"another form":  {path: "/developer/new"},
		"after a week":  {change: func(s *specimen, _ url.Values) { s.Advance(7 * 24 * time.Hour) }},
		"too long":      {change: func(_ *specimen, f url.Values) { f.Set("purpose", strings.Repeat("x", 32<<10)) }},
		"much too long": {change: func(_ *specimen, f url.Values) { f.Set("purpose", strings.Repeat("x", 70_000)) }},
		"cross-site":    {header: http.Header{"Sec-Fetch-Site": {"cross-site"}}, nobody: 403},
		"same site":     {header: http.Header{"Sec-Fetch-Site": {"same-site"}}, nobody: 403},
		"an Origin":     {header: http.Header{"Origin": {"https://evil.example"}}, nobody: 403},
		"a null Origin": {header: http.Header{"Origin": {"null"}}, nobody: 403},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpecimen(t)
			b := s.SignedIn()
			form := filledSpecimen(t, b)
			b.SignOutElsewhere()
			if test.change != nil {
				test.change(s, form)
			}
			header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
			if maps.Copy(header, test.header); test.header == nil {
				header.Set("Sec-Fetch-Site", "same-origin")
			}
			send := func() Answer {
				res := b.Send(http.MethodPost, cmp.Or(test.path, specimenPath), strings.NewReader(form.Encode()), header)
				assert.NotContains(t, res.Text, "Calendar")
				assert.NotContains(t, res.Text, SubmitAgain)
				return res
			}
			state := s.Index
			assert.Equal(t, cmp.Or(test.nobody, http.StatusSeeOther), send().StatusCode)
			assert.Equal(t, state, s.Index)
			b.SignInAgain("ada")
			state = s.Index
			assert.Contains(t, []int{400, 403, 413}, send().StatusCode)
			assert.Equal(t, state, s.Index)
			assert.Zero(t, s.accepted)
		})
	}
}

// TestThrottledFormIsBounded verifies that a form with more than may be shown again is not repeated
// when it comes too early.
func TestThrottledFormIsBounded(t *testing.T) {
	for size, kept := range map[int]bool{10 << 10: true, 32 << 10: false} {
		s := newSpecimen(t)
		b := s.SignedIn()
		form := With(filledSpecimen(t, b), "secret", "", "purpose", strings.Repeat("x", size))
		s.Web.SpendChanges(b.UserID)
		page := b.Post(specimenPath, form)
		require.Equal(t, http.StatusTooManyRequests, page.StatusCode)
		assert.Equal(t, kept, strings.Contains(page.Text, "Nothing you typed is lost."), size)
		assert.Equal(t, !kept, strings.Contains(page.Text, `href="`+specimenPage+`">Open the form again</a>`), size)
		assert.Equal(t, kept, strings.Contains(page.Text, "Calendar"), size)
	}
}

// flip changes a character of a sealed text.
func flip(text string) string {
	letters := []byte(text)
	if i := len(letters) / 2; letters[i] == 'A' {
		letters[i] = 'B'
	} else {
		letters[i] = 'A'
	}
	return string(letters)
}
