package site_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/web/site"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

const (
	specimenPage = "/specimens/calendar"
	specimenPath = "/specimens/calendar/edit"
)

func TestForm(t *testing.T) {
	s := newSpecimen(t)
	b := s.SignedIn()
	form := b.Get(specimenPage).Form(t, specimenPath)
	require.Equal(t, "3", form.Get("revision"))
	form.Set("name", " Calendar ")
	form["redirect_uris"] = []string{"https://a.example/", "", "  ", " https://b.example/ "}
	form["scopes"] = []string{"BOOKING_READ", "BOOKING_WRITE"}
	form.Set("undeclared", "x")
	form.Set("type", "public")
	for i, send := range []func() Answer{
		func() Answer { return b.Post(specimenPath, form) },
		func() Answer { return b.PostParts(specimenPath, form, Part{Name: "logo", File: "", Content: ""}) },
		func() Answer {
			return b.PostParts(specimenPath, form, Part{Name: "logo", File: "../../etc/passwd", Content: "\x89PNG"}, Part{Name: "other", File: "x", Content: "y"})
		},
	} {
		res := send()
		require.Equal(t, http.StatusSeeOther, res.StatusCode, res.Text)
		assert.Equal(t, specimenPage+"?done=saved", LeadsTo(res))
		assert.Equal(t, i+1, s.accepted)
		assert.Equal(t, " Calendar ", s.name)
		assert.Equal(t, []string{"https://a.example/", "https://b.example/"}, s.uris)
		assert.Equal(t, form["scopes"], s.scopes)
		assert.Contains(t, b.Get(res.Header.Get("Location")).Text, `<p>It was saved.</p>`)
	}
	assert.Equal(t, "\x89PNG", string(s.logo))
}

// TestFormProblems verifies that problems are shown in a summary and at their fields, and
// that input is kept except secrets.
func TestFormProblems(t *testing.T) {
	s := newSpecimen(t)
	b := s.SignedIn()
	good := b.Get(specimenPage).Form(t, specimenPath)
	fill := func(pairs ...string) url.Values {
		form := url.Values{"token": good["token"], "revision": good["revision"], "redirect_uris": {"https://a.example/", "", "<b>"}, "scopes": {"BOOKING_WRITE"}}
		return With(form, append([]string{"name", "Calendar", "purpose", "line 1\nline 2", "secret", "hunter2", "type", "public"}, pairs...)...)
	}
	for _, test := range []struct {
		name   string
		form   url.Values
		status int
		says   []string
	}{
		{"a field", fill("name", ""), 422, []string{
			`<li><a href="#f-name">Name is empty.</a></li>`, `<p class="error" id="f-name-error">Name is empty.</p>`,
			`<input id="f-name" name="name" type="text" maxlength="80" required aria-invalid="true" aria-describedby="f-name-hint f-name-error" autofocus>`,
			"Nothing was changed.", "<title>Problem: Specimen · Mintmark</title>",
		}},
		{"two fields", fill("name", "line", "website", "bad"), 422, []string{
			`<li><a href="#f-website">Website must begin with https:// or http://.</a></li>
<li><a href="#f-redirect_uris.1">Redirect URI 2 must be absolute.</a></li>`, `value="bad"`,
		}},
		{"a line of a list", fill("name", "line"), 422, []string{
			`<p class="error" id="f-redirect_uris.1-error">Redirect URI 2 must be absolute.</p>`,
			`<input id="f-redirect_uris.1" name="redirect_uris" type="text" value="&lt;b&gt;" aria-invalid="true" aria-describedby="f-redirect_uris.1-error" autofocus>`,
			`<input id="f-redirect_uris.0" name="redirect_uris" type="text" value="https://a.example/" required>`,
		}},
		{"a field that the page does not have", fill("name", "other"), 422, []string{"Owner is not a user."}},
		{"no field", fill("name", "third"), 422, []string{`<p>There are at most 2 active secrets. Revoke one first.</p>`}},
		{"moved", fill("name", "moved"), 409, []string{"Something changed while the page was open, so nothing was done."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			res := b.Post(specimenPath, test.form)
			assert.Equal(t, test.status, res.StatusCode)
			for _, text := range append(test.says,
				`value="BOOKING_WRITE" checked`, `value="public" checked`, ">line 1\nline 2</textarea>", `value="https://a.example/"`) {
				assert.Contains(t, res.Text, text)
			}
			assert.NotContains(t, res.Text, `value="BOOKING_READ" checked`)
			assert.NotContains(t, res.Text, "hunter2")
			assert.NotContains(t, res.Text, `<p>It was saved`)
			assert.LessOrEqual(t, strings.Count(res.Text, " autofocus"), 1)

			form := res.Form(t, specimenPath)
			assert.Equal(t, good.Get("token"), form.Get("token"))
		})
	}
	assert.Zero(t, s.accepted)
}

func TestFormFiles(t *testing.T) {
	s := newSpecimen(t)
	b := s.SignedIn()
	form := With(b.Get(specimenPage).Form(t, specimenPath), "name", "Calendar", "website", "kept", "type", "public", "scopes", "BOOKING_READ")
	for size, status := range map[int]int{1 << 10: 303, 1<<10 + 1: 422, 3 << 20: 422, 9 << 20: 413} {
		res := b.PostParts(specimenPath, form, Part{Name: "logo", File: "l.png", Content: strings.Repeat("x", size)})
		assert.Equal(t, status, res.StatusCode, size)
		switch status {
		case 422:
			assert.Contains(t, res.Text, `<p class="error" id="f-logo-error">Logo is larger than 1 KB.</p>`)
			assert.Contains(t, res.Text, `value="kept"`)
		case 413:
			assert.Contains(t, res.Text, "Too much was sent")
		}
	}
	assert.Equal(t, 1, s.accepted)
	assert.Len(t, s.logo, 1<<10)
}

// TestFormRefusals verifies that requests are refused that no page of this server can have sent.
func TestFormRefusals(t *testing.T) {
	s := newSpecimen(t)
	b := s.SignedIn()
	good := With(b.Get(specimenPage).Form(t, specimenPath), "name", "Calendar", "type", "public", "scopes", "BOOKING_READ")
	good.Del("shown_to") // see TestFormAfterItsSession
	copied := func(pairs ...string) url.Values {
		form := url.Values{}
		for name, list := range good {
			form[name] = list
		}
		return With(form, pairs...)
	}
	raw := func(kind, body string) func() Answer {
		return func() Answer {
			return b.Send("POST", specimenPath, strings.NewReader(body), http.Header{"Content-Type": {kind}, "Sec-Fetch-Site": {"same-origin"}})
		}
	}
	many := copied()
	many["scopes"] = make([]string, 201)
	twice := copied()
	twice["name"] = []string{"a", "b"}
	tokens := copied()
	tokens["token"] = append(tokens["token"], "x")
	for name, test := range map[string]struct {
		send   func() Answer
		status int
	}{
		"no token":             {func() Answer { return b.Post(specimenPath, copied("token", "")) }, 403},
		"another token":        {func() Answer { return b.Post(specimenPath, copied("token", "x")) }, 403},
		"another revision":     {func() Answer { return b.Post(specimenPath, copied("revision", "4")) }, 403},
		"no revision":          {func() Answer { return b.Post(specimenPath, copied("revision", "")) }, 403},
		"another object":       {func() Answer { return b.Post("/specimens/native/edit", good) }, 403},
		"another form's token": {func() Answer { return b.Post("/account/sign-out-everywhere", good) }, 403},
		"parts that run together": {func() Answer {
			token := site.FormToken(b.Session(), site.SpecimenPurpose, "u-ada", "calendar\x003\x00")
			return b.Post("/specimens/calendar%003/edit", copied("revision", "", "token", token))
		}, 403},
		"another session": {func() Answer { return s.SignedIn().Post(specimenPath, good) }, 403},
		"another user":    {func() Answer { return s.SignedInAs("bob").Post(specimenPath, good) }, 403},
		"a field twice":   {func() Answer { return b.Post(specimenPath, twice) }, 400},
		"two tokens":      {func() Answer { return b.Post(specimenPath, tokens) }, 400},
		"too many values": {func() Answer { return b.Post(specimenPath, many) }, 400},
		"a file twice": {func() Answer {
			return b.PostParts(specimenPath, good, Part{Name: "logo", File: "a", Content: "a"}, Part{Name: "logo", File: "b", Content: "b"})
		}, 400},
		"too long":          {func() Answer { return b.Post(specimenPath, copied("name", strings.Repeat("x", 70_000))) }, 413},
		"too long in parts": {func() Answer { return b.PostParts(specimenPath, copied("name", strings.Repeat("x", 70_000))) }, 413},
		"many long parts": {func() Answer {
			return b.PostParts(specimenPath, With(copied(), "a", strings.Repeat("x", 40_000), "b", strings.Repeat("x", 40_000)))
		}, 413},
		"too many parts": {func() Answer {
			form := copied()
			form["other"] = make([]string, 1000)
			return b.PostParts(specimenPath, form)
		}, 413},
		"half a body":             {raw("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nx"), 400},
		"no boundary":             {raw("multipart/form-data", "x"), 400},
		"broken escapes":          {raw("application/x-www-form-urlencoded", "token=%zz"), 400},
		"JSON":                    {raw("application/json", `{"token":"x"}`), 403},
		"no type":                 {raw("", good.Encode()), 403},
		"parts where none belong": {func() Answer { return b.PostParts("/account/sign-out-everywhere", good) }, 403},
	} {
		assert.Equal(t, test.status, test.send().StatusCode, name)
	}
	for name, header := range map[string]http.Header{
		"cross-site": {"Sec-Fetch-Site": {"cross-site"}}, "same site": {"Sec-Fetch-Site": {"same-site"}},
		"an Origin": {"Origin": {"https://evil.example"}}, "a null Origin": {"Origin": {"null"}},
	} {
		header.Set("Content-Type", "application/x-www-form-urlencoded")
		assert.Equal(t, http.StatusForbidden, b.Send("POST", specimenPath, strings.NewReader(good.Encode()), header).StatusCode, name)
	}
	assert.Zero(t, s.accepted)
	assert.Equal(t, http.StatusSeeOther, b.Post(specimenPath, good).StatusCode)
}

// TestObjectsOfOthers verifies that another user's object is reported as not found, on
// its page and its form.
func TestObjectsOfOthers(t *testing.T) {
	s := newSpecimen(t)
	for _, who := range []string{"bob", "root"} {
		assert.Equal(t, http.StatusNotFound, s.SignedInAs(who).Get(specimenPage).StatusCode)
	}
	assert.Equal(t, http.StatusNotFound, s.SignedIn().Get("/specimens/nothing").StatusCode)
}

func FuzzDecode(f *testing.F) {
	f.Add("application/x-www-form-urlencoded", "token=x&name=y&scopes=a&scopes=b")
	f.Add("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"logo\"; filename=\"x\"\r\n\r\nx\r\n--b--\r\n")
	var s *specimen
	var b *Browser
	f.Fuzz(func(t *testing.T, kind, body string) {
		if s == nil {
			s = newSpecimen(t)
			b = s.SignedIn()
		}
		s.T = t
		res := b.Send("POST", specimenPath, strings.NewReader(body), http.Header{"Content-Type": {kind}})
		if res.StatusCode != 400 && res.StatusCode != 403 && res.StatusCode != 413 {
			t.Fatalf("status %d for %q %q", res.StatusCode, kind, body)
		}
	})
}
