package webtest

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	SubmitAgain = ">Submit again</button>"
	Hunter      = "hunter2 hunter2"
)

// SignOutElsewhere ends the browser's session without its knowledge.
func (b *Browser) SignOutElsewhere() {
	b.Env.T.Helper()
	b.Env.Must(&ledger.SignOut{Session: credential.SessionDigest(b.Session())})
}

// SignInAgain signs in in another tab of the same browser.
func (b *Browser) SignInAgain(username string) {
	b.Env.T.Helper()
	res := b.SignIn(b.Get("/auth/sign-in"), username, Password)
	require.Equal(b.Env.T, http.StatusSeeOther, res.StatusCode, res.Text)
}

// All returns what a browser would send: hidden fields and input.
func (a Answer) All(t testing.TB, action string) url.Values {
	t.Helper()
	for _, f := range FormsOf(a.Text) {
		if f.Action == action {
			return f.Values
		}
	}
	require.Fail(t, "no form", "for %s in %d %s", action, a.StatusCode, a.Text)
	return nil
}

// A shownForm is a form of a page.
type shownForm struct {
	Action string
	Values url.Values        // what would be sent
	Inputs map[string]string // type of each visible input, by name
	boxes  url.Values        // selectable values
}

func FormsOf(body string) (forms []*shownForm) {
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
			f.Inputs[name] = kind
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
		f.Values.Add(name, value)
	}
	return forms
}

// form returns the form that contains an element, or nil.
func (e *element) form() *element {
	for ; e != nil && e.name != "form"; e = e.parent {
	}
	return e
}

func (f *shownForm) SendAgain(t *testing.T, b *Browser) {
	w := b.Env
	username := w.View().User(b.UserID).Username
	for name, kind := range f.Inputs {
		switch kind {
		case "checkbox", "radio":
			f.Values[name] = f.boxes[name][len(f.boxes[name])-1:]
		case "file":
		default:
			f.Values.Set(name, "typed into "+name)
		}
		if name == "password" {
			f.Values.Set(name, Hunter)
		}
	}
	filled := maps.Clone(f.Values)
	b.SignOutElsewhere()
	state := w.Index
	send := func(form url.Values) Answer {
		if f.Inputs["logo"] != "" {
			return b.PostParts(f.Action, form, Part{"logo", "l.png", "a picture"})
		}
		return b.Post(f.Action, form)
	}
	page := send(filled)
	require.Equal(t, http.StatusForbidden, page.StatusCode, page.Text)
	again := page.All(t, f.Action)
	for name, list := range filled {
		switch name {
		case "token", "shown_to":
		case "password":
			assert.Empty(t, again.Get(name))
		default:
			assert.Equal(t, strings.Join(list, " "), strings.Join(again[name], " "), name)
		}
	}
	assert.NotContains(t, page.Text, "hunter2")
	assert.NotContains(t, page.Text, "a picture")
	assert.Equal(t, state, w.Index)

	b.SignInAgain(username)
	res := send(again)
	assert.Contains(t, []int{http.StatusSeeOther, http.StatusUnprocessableEntity}, res.StatusCode, res.Text)
	assert.NotContains(t, res.Text, SubmitAgain)
}
