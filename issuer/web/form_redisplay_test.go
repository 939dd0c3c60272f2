package web_test

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	submitAgain = ">Submit again</button>"
	hunter      = "hunter2 hunter2"
)

// signOutElsewhere ends the browser's session without its knowledge.
func (b *browser) signOutElsewhere() {
	b.env.t.Helper()
	b.env.must(&ledger.SignOut{Session: credential.SessionDigest(b.session())})
}

// signInAgain signs in in another tab of the same browser.
func (b *browser) signInAgain(username string) {
	b.env.t.Helper()
	res := b.signIn(b.get("/auth/sign-in"), username, password)
	require.Equal(b.env.t, http.StatusSeeOther, res.StatusCode, res.body)
}

// filledSpecimen returns the specimen's form, filled in.
func filledSpecimen(t *testing.T, b *browser) url.Values {
	form := with(b.get(specimenPage).form(t, specimenPath), "name", `<b> & "Calendar"`, "purpose", "line 1\nline 2", "secret", hunter, "type", "public")
	form["redirect_uris"] = []string{"https://a.example/", "", "https://b.example/"}
	form["scopes"] = []string{"BOOKING_READ", "BOOKING_WRITE"}
	return form
}

// all returns what a browser would send: hidden fields and input.
func (a answer) all(t testing.TB, action string) url.Values {
	t.Helper()
	for _, f := range formsOf(a.body) {
		if f.action == action {
			return f.values
		}
	}
	require.Fail(t, "no form", "for %s in %d %s", action, a.StatusCode, a.body)
	return nil
}

// TestFormAfterItsSession verifies that a form that is sent after its session has ended
// is shown again with its input, has no effect before its user has signed in in another
// tab, and can then be sent once more.
func TestFormAfterItsSession(t *testing.T) {
	for name, end := range map[string]func(*browser){
		"signed out": (*browser).signOutElsewhere,
		"idle":       func(b *browser) { b.env.advance(13 * time.Hour) },
		"no cookie":  func(b *browser) { delete(b.cookies, "mintmark") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpecimen(t)
			b := s.signedIn()
			form := filledSpecimen(t, b)
			end(b)
			state, proposed := s.index, len(s.proposals)
			page := b.postParts(specimenPath, form, part{"logo", "secret.png", "\x89PNG of mine"})
			require.Equal(t, http.StatusForbidden, page.StatusCode, page.body)
			assert.Contains(t, page.body, "<p>Your session ended. Sign in in another tab, then submit again.")
			assert.Contains(t, page.body, `<a href="/auth/sign-in" target="_blank"`)
			assert.NotContains(t, page.body, "Ada", "the session has ended")
			again := page.all(t, specimenPath)
			for _, field := range []string{"name", "purpose", "type", "scopes", "revision"} {
				assert.Equal(t, form[field], again[field], field)
			}
			assert.Equal(t, []string{"https://a.example/", "https://b.example/"}, again["redirect_uris"])
			assert.Empty(t, again.Get("secret"))
			for _, text := range []string{"hunter2", "secret.png", "of mine"} {
				assert.NotContains(t, page.body, text)
			}
			assert.Contains(t, page.body, `name="secret" type="password"`)
			assert.Contains(t, page.body, `name="logo" type="file"`)

			page = b.postParts(specimenPath, again)
			require.Equal(t, http.StatusForbidden, page.StatusCode, "before the new sign-in")
			again = page.all(t, specimenPath)
			assert.Equal(t, `<b> & "Calendar"`, again.Get("name"))
			assert.Zero(t, s.accepted)
			assert.Equal(t, state, s.index)
			assert.Len(t, s.proposals, proposed)

			b.signInAgain("ada")
			res := b.postParts(specimenPath, again, part{"logo", "l.png", "\x89PNG"})
			require.Equal(t, http.StatusSeeOther, res.StatusCode, res.body)
			assert.Equal(t, specimenPage+"?done=saved", leadsTo(res))
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
	b := s.signedIn()
	form := filledSpecimen(t, b)
	b.signOutElsewhere()
	b.signInAgain("ada")
	page := b.post(specimenPath, form)
	require.Equal(t, http.StatusConflict, page.StatusCode, page.body)
	assert.Contains(t, page.body, "You have signed in again since this page was opened.")
	assert.Contains(t, page.body, "Ada Lovelace")
	assert.NotContains(t, page.body, "hunter2")
	assert.Zero(t, s.accepted)
	assert.Equal(t, http.StatusSeeOther, b.post(specimenPath, page.all(t, specimenPath)).StatusCode)
	assert.Equal(t, form.Get("name"), s.name)
}

// TestShownAgainInAnotherBrowser verifies that a redisplayed form is bound to its
// browser: in another one it is redisplayed again.
func TestShownAgainInAnotherBrowser(t *testing.T) {
	s := newSpecimen(t)
	b := s.signedIn()
	form := filledSpecimen(t, b)
	b.signOutElsewhere()
	again := b.post(specimenPath, form).all(t, specimenPath)
	assert.Equal(t, http.StatusConflict, s.signedIn().post(specimenPath, again).StatusCode)
	assert.Zero(t, s.accepted)
}

// TestFormOfAnotherUser verifies that another user gets an empty form, whether they sign
// in before the form is sent or before it is sent again.
func TestFormOfAnotherUser(t *testing.T) {
	for name, shownAgain := range map[string]bool{"at once": false, "shown again": true} {
		t.Run(name, func(t *testing.T) {
			s := newSpecimen(t)
			b := s.signedIn()
			form := with(b.get("/developer/new").form(t, "/developer/new"), "name", "Trip Planner", "type", "public", "scopes", "BOOKING_READ", "redirect_uris", callback)
			b.signOutElsewhere()
			if shownAgain {
				form = b.postParts("/developer/new", form).all(t, "/developer/new")
				require.Equal(t, "Trip Planner", form.Get("name"))
			}
			b.signInAgain("bob")
			proposed := len(s.proposals)
			res := b.postParts("/developer/new", form)
			require.Equal(t, http.StatusSeeOther, res.StatusCode, res.body)
			assert.Equal(t, "/developer/new?done=others", leadsTo(res))
			page := b.get(res.Header.Get("Location"))
			assert.Contains(t, page.body, "Another user had filled in the form, so nothing was done.")
			assert.NotContains(t, page.body, "Trip Planner")
			assert.Len(t, s.proposals, proposed)
			assert.Nil(t, s.clientRow(form.Get("client")))
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
		"not a form's":  {change: func(_ *specimen, f url.Values) { f.Set("shown_to", sealer{}.SealSession(make([]byte, 40))) }},
		"empty":         {change: func(_ *specimen, f url.Values) { f.Set("shown_to", sealer{}.SealForm(nil)) }},
		"nobody's":      {change: func(_ *specimen, f url.Values) { f.Set("shown_to", sealer{}.SealForm(make([]byte, 24))) }},
		"two":           {change: func(_ *specimen, f url.Values) { f.Add("shown_to", f.Get("shown_to")) }},
		"another's":     {path: native},
		"a revision":    {change: func(_ *specimen, f url.Values) { f.Set("revision", "4") }},
		"another form":  {path: "/developer/new"},
		"after a week":  {change: func(s *specimen, _ url.Values) { s.advance(7 * 24 * time.Hour) }},
		"too long":      {change: func(_ *specimen, f url.Values) { f.Set("purpose", strings.Repeat("x", 32<<10)) }},
		"much too long": {change: func(_ *specimen, f url.Values) { f.Set("purpose", strings.Repeat("x", 70_000)) }},
		"cross-site":    {header: http.Header{"Sec-Fetch-Site": {"cross-site"}}, nobody: 403},
		"same site":     {header: http.Header{"Sec-Fetch-Site": {"same-site"}}, nobody: 403},
		"an Origin":     {header: http.Header{"Origin": {"https://evil.example"}}, nobody: 403},
		"a null Origin": {header: http.Header{"Origin": {"null"}}, nobody: 403},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpecimen(t)
			b := s.signedIn()
			form := filledSpecimen(t, b)
			b.signOutElsewhere()
			if test.change != nil {
				test.change(s, form)
			}
			header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
			if maps.Copy(header, test.header); test.header == nil {
				header.Set("Sec-Fetch-Site", "same-origin")
			}
			send := func() answer {
				res := b.send(http.MethodPost, cmp.Or(test.path, specimenPath), strings.NewReader(form.Encode()), header)
				assert.NotContains(t, res.body, "Calendar")
				assert.NotContains(t, res.body, submitAgain)
				return res
			}
			state := s.index
			assert.Equal(t, cmp.Or(test.nobody, http.StatusSeeOther), send().StatusCode)
			assert.Equal(t, state, s.index)
			b.signInAgain("ada")
			state = s.index
			assert.Contains(t, []int{400, 403, 413}, send().StatusCode)
			assert.Equal(t, state, s.index)
			assert.Zero(t, s.accepted)
		})
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

// A shownForm is a form of a page.
type shownForm struct {
	action string
	values url.Values        // what would be sent
	inputs map[string]string // type of each visible input, by name
	boxes  url.Values        // selectable values
}

func formsOf(body string) (forms []*shownForm) {
	list, _ := elements(body)
	of := map[*element]*shownForm{}
	for _, e := range list {
		if e.name == "form" && e.attrs["method"] == "post" {
			of[e] = &shownForm{e.attrs["action"], url.Values{}, map[string]string{}, url.Values{}}
			forms = append(forms, of[e])
		}
		f := of[e.form()]
		name, value, kind := e.attrs["name"], e.attrs["value"], cmp.Or(e.attrs["type"], e.name)
		_, unseen := e.attrs["hidden"]
		if f == nil || name == "" || unseen || !slices.Contains([]string{"input", "textarea", "select"}, e.name) {
			continue
		}
		if kind != "hidden" {
			f.inputs[name] = kind
		}
		switch _, checked := e.attrs["checked"]; kind {
		case "textarea":
			value = e.text.String()
		case "file":
			continue
		case "checkbox", "radio":
			if f.boxes.Add(name, value); !checked {
				continue
			}
		}
		f.values.Add(name, value)
	}
	return forms
}

// form returns the form that contains an element, or nil.
func (e *element) form() *element {
	for ; e != nil && e.name != "form"; e = e.parent {
	}
	return e
}

// redisplayedForms are redisplayed after their session has ended. notRedisplayed have
// nothing to show: a password, or a box to tick beside a button.
var (
	redisplayedForms = []string{
		"/admin/clients/:id/review", "/admin/clients/:id/suspend", "/admin/clients/:id/transfer",
		"/admin/new-publisher", "/admin/new-resource-server", "/admin/new-user", "/admin/publishers/:host/edit", "/admin/publishers/:host/reject",
		"/admin/resource-servers/:server/edit", "/admin/resource-servers/:server/remove", "/admin/users/:id/edit",
		"/developer/clients/:id/delete", "/developer/clients/:id/edit", "/developer/clients/:id/migration", "/developer/clients/:id/transfer", "/developer/new",
	}
	notRedisplayed = []string{"/account/password", "/admin/users/:id/password", "/admin/users/:id/state", "/developer/offers/:id/accept"}
)

// TestFilledFormsAreKept verifies that every form with input is redisplayed and can be
// sent again. A new form must be in redisplayedForms, unless there is a reason.
func TestFilledFormsAreKept(t *testing.T) {
	t.Parallel()
	var kept, others []string
	_, people := stage(t)
	for _, r := range append(slices.Clone(matrix),
		row{route: "GET /admin/clients/:id", address: "/admin/clients/waiting"},
		row{route: "GET /developer/clients/:id/migration", address: "/developer/clients/old/migration?scopes=BOOKING_READ&scopes=BOOKING_WRITE"},
	) {
		if !strings.HasPrefix(r.route, "GET ") || strings.HasPrefix(r.route, "GET /auth/") {
			continue
		}
		for i, who := range people[1:] {
			for n, f := range formsOf(who.get(r.path()).body) {
				pattern, proof := patternOf(f.action), f.values.Has("shown_to")
				if !proof && len(f.inputs) > 0 {
					others = append(others, pattern)
				}
				if proof && !slices.Contains(kept, pattern) {
					kept = append(kept, pattern)
					t.Run(pattern, func(t *testing.T) {
						_, people := stage(t)
						b := people[i+1]
						formsOf(b.get(r.path()).body)[n].sendAgain(t, b)
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

func (f *shownForm) sendAgain(t *testing.T, b *browser) {
	w := b.env
	username := w.View().User(b.userID).Username
	for name, kind := range f.inputs {
		switch kind {
		case "checkbox", "radio":
			f.values[name] = f.boxes[name][len(f.boxes[name])-1:]
		case "file":
		default:
			f.values.Set(name, "typed into "+name)
		}
		if name == "password" {
			f.values.Set(name, hunter)
		}
	}
	filled := maps.Clone(f.values)
	b.signOutElsewhere()
	state := w.index
	send := func(form url.Values) answer {
		if f.inputs["logo"] != "" {
			return b.postParts(f.action, form, part{"logo", "l.png", "a picture"})
		}
		return b.post(f.action, form)
	}
	page := send(filled)
	require.Equal(t, http.StatusForbidden, page.StatusCode, page.body)
	again := page.all(t, f.action)
	for name, list := range filled {
		switch name {
		case "token", "shown_to":
		case "password":
			assert.Empty(t, again.Get(name))
		default:
			assert.Equal(t, strings.Join(list, " "), strings.Join(again[name], " "), name)
		}
	}
	assert.NotContains(t, page.body, "hunter2")
	assert.NotContains(t, page.body, "a picture")
	assert.Equal(t, state, w.index)

	b.signInAgain(username)
	res := send(again)
	assert.Contains(t, []int{http.StatusSeeOther, http.StatusUnprocessableEntity}, res.StatusCode, res.body)
	assert.NotContains(t, res.body, submitAgain)
}
