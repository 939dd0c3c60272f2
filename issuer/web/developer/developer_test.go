package developer_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"image"
	"image/jpeg"
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
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestRegister verifies that a new client is pending, and that sending the same form
// twice creates one (service document, section 2.1).
func TestRegister(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	page := b.Get(NewPath)
	for _, text := range []string{
		"<legend>Type</legend>", "where no secret stays one", `value="TEAM_BOOKING_READ"`, `value="ORG_PROFILE_WRITE"`,
		`aria-label="Bookings, team: view"`, `aria-label="Memberships, organization: change, powerful"`, "get a client ID and connect users’ accounts",
		`enctype="multipart/form-data"`, "at most 16 KB",
	} {
		assert.Contains(t, page.Text, text)
	}
	assert.Equal(t, 30, strings.Count(page.Text, `name="scopes"`))
	assert.Equal(t, 10, strings.Count(page.Text, `name="redirect_uris"`))
	form := page.Form(t, NewPath)
	id := form.Get("client")
	require.Regexp(t, `^c_[0-9a-f]{32}$`, id)
	assert.NotEqual(t, id, b.Get(NewPath).Form(t, NewPath).Get("client"))

	for name, list := range ProfileOf(" Calendar Sync ", Callback, "BOOKING_READ", "ORG_PROFILE_READ") {
		form[name] = list
	}
	form["redirect_uris"] = []string{"", Callback, "  ", "https://app.example.com/second"}
	form = With(form, "type", "confidential", "purpose", "One line\r\nand another", "website", "https://sync.example.com/",
		"privacy_url", " https://sync.example.com/privacy", "terms_url", "https://sync.example.com/terms")
	res := b.PostParts(NewPath, form, Part{Name: "logo", File: "logo.png", Content: string(Drawn(64, 64))})
	after := b.Follow(res)
	assert.Equal(t, "/developer/clients/"+id+"?done=created", LeadsTo(res))
	client := w.View().Client(id)
	assert.Equal(t, ledger.Pending, client.State)
	assert.Equal(t, ledger.Confidential, client.Type)
	assert.Equal(t, "u-ada", client.Owner)
	assert.Equal(t, ledger.Profile{
		Name: "Calendar Sync", Purpose: "One line and another", Website: "https://sync.example.com/",
		PrivacyURL: "https://sync.example.com/privacy", TermsURL: "https://sync.example.com/terms",
		RedirectURIs: []string{Callback, "https://app.example.com/second"}, Scopes: []string{"BOOKING_READ", "ORG_PROFILE_READ"},
		Logo: DigestOf(Drawn(64, 64)),
	}, client.Profile)
	assert.Empty(t, client.Secrets)
	for _, text := range []string{
		"The application was registered.", "Waiting for review", "Current: </span>Generate a secret", `<code id="client-id">` + id + "</code>",
		"Submitted just now, 1st of 2 in the queue. Nobody can use the application until it’s approved.", "0 of 3",
	} {
		assert.Contains(t, after.Text, text)
	}

	state := w.Index
	assert.Equal(t, res.Header.Get("Location"), b.PostParts(NewPath, form).Header.Get("Location"), "the same form twice")
	assert.Equal(t, state, w.Index)
	assert.Contains(t, b.Get("/developer").Text, "Calendar Sync")
	w.User("u-bob", "bob", "Bob")
	assert.NotContains(t, w.SignedInAs("bob").Get("/developer").Text, "Calendar Sync")
}

// TestRegisterProblems verifies that all problems are shown at their fields, and that
// input is kept.
func TestRegisterProblems(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	fill := func(change func(url.Values)) url.Values {
		form := b.Get(NewPath).Form(t, NewPath)
		for name, list := range ProfileOf("Calendar", Callback, "BOOKING_READ") {
			form[name] = list
		}
		form.Set("type", "confidential")
		change(form)
		return form
	}
	for _, test := range []struct {
		name   string
		change func(url.Values)
		says   []string
	}{
		{"nothing", func(v url.Values) {
			for _, name := range []string{"name", "type", "redirect_uris", "scopes"} {
				v.Del(name)
			}
		}, []string{
			`<a href="#f-name">Enter a name.</a>`, `<a href="#f-type">Choose a type.</a>`,
			`<a href="#f-redirect_uris.0">Enter a redirect URI.</a>`,
			`<a href="#f-scopes">Choose at least one scope.</a>`,
		}},
		{"two redirect URIs", func(v url.Values) {
			v.Set("website", "example.com")
			v["redirect_uris"] = []string{"http://app.example.com/cb", Callback, Callback, "https://*.example.com/", "https://a.example/#f"}
		}, []string{
			`<p class="error" id="f-redirect_uris.0-error">Redirect URI 1 must be https;`, "Redirect URI 3 is there twice.",
			"Website URL must begin with https:// or http://.", "Redirect URI 4 has a wildcard in its host.", "Redirect URI 5 must not have a part after #.", `value="https://*.example.com/"`,
		}},
		{"eleven", func(v url.Values) {
			for i := range 10 {
				v.Add("redirect_uris", fmt.Sprintf("https://app.example.com/%d", i))
			}
		}, []string{"Redirect URI has more than 10.", `value="https://app.example.com/9"`}},
		{"a private scheme", func(v url.Values) { v.Set("redirect_uris", "com.example.app:/cb") }, []string{"for public clients only"}},
		{"addresses of the service", func(v url.Values) {
			v["redirect_uris"] = []string{Callback, Issuer + "/cb", "https://app.mintmark.example:443/sign-in"}
		}, []string{
			"Redirect URI 2 is an address of this service, not of the application.",
			"Redirect URI 3 is an address of this service, not of the application.",
		}},
		{"a long name", func(v url.Values) { v.Set("name", strings.Repeat("x", 81)) }, []string{"Name is too long: "}},
		{"a website", func(v url.Values) { v.Set("website", "javascript:alert(1)") }, []string{"Website URL must begin with https:// or http://."}},
		{"links", func(v url.Values) { v.Set("privacy_url", "x"); v.Set("terms_url", "javascript:alert(1)") }, []string{
			"Privacy policy URL must begin with https:// or http://.", "Terms URL must begin with https:// or http://.",
		}},
		{"a scope that there is not", func(v url.Values) { v.Set("scopes", "EVERYTHING") }, []string{"names a scope that does not exist"}},
		{"a type that there is not", func(v url.Values) { v.Set("type", "secret") }, []string{"Choose a type."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			state := w.Index
			res := b.Post(NewPath, fill(test.change))
			assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
			for _, text := range test.says {
				assert.Contains(t, res.Text, text)
			}
			assert.Equal(t, state, w.Index)
		})
	}
	for name, file := range map[string][]byte{
		"is not a PNG or JPEG picture":      []byte("<svg onload=alert(1)>"),
		"is damaged":                        Drawn(64, 64)[:60],
		"is too small":                      Drawn(8, 64),
		"is too large: a side may have":     Drawn(1025, 16),
		"is larger than 16 KB":              append(Drawn(32, 32), make([]byte, ledger.MaxLogo)...),
		"is not a PNG or JPEG picture. ":    []byte("GIF89a\x10\x00\x10\x00\x00\x00\x00;"),
		"has to be chosen again: browsers ": Drawn(32, 32), // another field is invalid
	} {
		t.Run(name, func(t *testing.T) {
			form := fill(func(v url.Values) {
				if strings.Contains(name, "again") {
					v.Set("name", "")
				}
			})
			res := b.PostParts(NewPath, form, Part{Name: "logo", File: "x.png", Content: string(file)})
			assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
			assert.Contains(t, res.Text, "Logo "+strings.TrimSuffix(name, ". "))
		})
	}
}

// TestEdit verifies that narrowing takes effect at once, and that widening and renaming
// await a review and are shown as a difference.
func TestEdit(t *testing.T) {
	w, b := Mine(t, nil)
	edit := MinePath + "/edit"
	page := b.Get(edit)
	form := page.Form(t, edit)
	assert.Equal(t, "1", form.Get("revision"))
	for _, text := range []string{`value="The mine app"`, `value="` + Callback + `"`, `value="BOOKING_WRITE" checked`, "Removed scopes and redirect URIs end at once."} {
		assert.Contains(t, page.Text, text)
	}
	for name, list := range ProfileOf("A better name", Callback+"/new", "BOOKING_READ", "PROFILE_READ") {
		form[name] = list
	}
	form["redirect_uris"] = append(form["redirect_uris"], Callback)
	asked := b.Post(edit, form)
	assert.Equal(t, http.StatusOK, asked.StatusCode)
	assert.Equal(t, "1", asked.Form(t, edit).Get("revision"))
	assert.NotEmpty(t, w.View().Client("mine").Scopes[1:], "nothing may be removed before the user agrees")
	form.Set("removed", "BOOKING_WRITE TEAM_BOOKING_READ ORG_PROFILE_READ")
	res := b.Post(edit, form)
	after := b.Follow(res)
	client := w.View().Client("mine")
	assert.Equal(t, "The mine app", client.Name, "the name must not change before the review")
	assert.Equal(t, []string{"BOOKING_READ"}, client.Scopes, "removed scopes must be removed at once")
	assert.Equal(t, "A better name", client.Proposed.Name)
	for _, text := range []string{
		"Saved. 3 scopes were removed at once. The other changes were sent for review.", "Changes in review", "<del><b>Before:</b> <bdi>The mine app</bdi></del>",
		"<ins><b>After:</b> <bdi>A better name</bdi></ins>", "<ins><b>Adds:</b> " + Callback + "/new</ins>", "<ins><b>Adds:</b> PROFILE_READ</ins>",
	} {
		assert.Contains(t, after.Text, text)
	}

	state := w.Index
	assert.Equal(t, res.Header.Get("Location"), b.Post(edit, form).Header.Get("Location"), "the same form twice")
	assert.Equal(t, state, w.Index)
	again := b.Post(edit, With(form, "name", "Yet another"))
	assert.Equal(t, http.StatusConflict, again.StatusCode, "the page was out of date")
	assert.Contains(t, again.Text, "Something changed while the page was open")
	assert.Contains(t, again.Text, `value="Yet another"`)
	assert.Equal(t, "2", again.Form(t, edit).Get("revision"), "the redisplayed form must have the new revision")
	assert.Contains(t, b.Get(edit).Text, `value="A better name"`, "the edit must start from the proposed revision")

	w.Must(&ledger.ReviewClient{Actor: ledger.Actor{Operator: true}, ID: "mine", Verdict: ledger.Reject, Reason: "Say who <you> are", Revision: 2})
	assert.Contains(t, b.Get(MinePath+"/scopes").Text, "<b>Why:</b> <bdi>Say who &lt;you&gt; are</bdi>")
}

// TestRemoval verifies that an edit that takes something away is asked about, that the question
// has the whole edit, and that the answer is for what was asked only.
func TestRemoval(t *testing.T) {
	w, b := Mine(t, func(c *ledger.ImportClient) {
		c.Profile.RedirectURIs = append(c.Profile.RedirectURIs, Callback+"/2", Callback+"/3")
		c.Profile.Scopes = []string{"BOOKING_READ", "BOOKING_WRITE"}
	})
	b.Allow("client_id", "mine", "scope", "BOOKING_READ")
	edit := MinePath + "/edit"
	form := b.Get(edit).Form(t, edit)
	maps.Copy(form, ProfileOf("A better name", Callback, "BOOKING_READ"))
	state := w.Index
	page := b.PostParts(edit, form, Part{Name: "logo", File: "me.jpg", Content: string(Photo(64, 64))})
	assert.Equal(t, http.StatusOK, page.StatusCode)
	for _, text := range []string{
		"<bdi>Remove 1 scope and 2 redirect URIs now?</bdi>", "<b>Removes:</b> BOOKING_WRITE", "<b>Removes:</b> " + Callback + "/2</del>",
		"Getting them back needs a review.", "<b>1 person is connected.</b>", "Sent for review", "<bdi>A better name</bdi></ins>", "Choose it again",
		`<input type="hidden" name="name" value="A better name">`, `<input type="hidden" name="scopes" value="BOOKING_READ">`,
	} {
		assert.Contains(t, page.Text, text)
	}
	sent := page.Form(t, edit)
	assert.Equal(t, []string{Callback}, sent["redirect_uris"])
	back := b.Post(edit, With(maps.Clone(sent), "preview", "Preview"))
	assert.Contains(t, back.Text, `value="A better name"`)
	assert.NotContains(t, back.Text, `value="BOOKING_WRITE" checked`)
	agreed := strings.Join([]string{Callback + "/2", Callback + "/3", "BOOKING_WRITE"}, " ")
	assert.Contains(t, b.Post(edit, With(sent, "removed", "BOOKING_WRITE")).Text, "Remove and save", "the user agreed to less")
	assert.Equal(t, state, w.Index)
	assert.Contains(t, b.Done(b.Post(edit, With(sent, "removed", agreed))).Text, "Saved. 1 scope and 2 redirect URIs were removed at once. The other changes")
	assert.Equal(t, []string{Callback}, w.ClientRow("mine").RedirectURIs)

	form = b.Get(edit).Form(t, edit)
	maps.Copy(form, ProfileOf("A better name", Callback+"/new", "BOOKING_READ"))
	assert.Contains(t, b.Done(b.Post(edit, form)).Text, "Saved, and sent for review.", "the last redirect URI stays until the review")
}

// TestRemovalOnly verifies the texts for an edit that has no other changes.
func TestRemovalOnly(t *testing.T) {
	w, b := Mine(t, func(c *ledger.ImportClient) { c.Profile.Scopes = []string{"BOOKING_READ", "BOOKING_WRITE"} })
	edit := MinePath + "/edit"
	form := b.Get(edit).Form(t, edit)
	maps.Copy(form, ProfileOf("The mine app", Callback, "BOOKING_READ"))
	form.Set("website", w.ClientRow("mine").Website)
	page := b.Post(edit, form)
	assert.Contains(t, page.Text, "<bdi>Remove BOOKING_WRITE now?</bdi>")
	assert.NotContains(t, page.Text, "Sent for review")
	assert.NotContains(t, page.Text, "is connected")
	form.Set("redirect_uris", Callback+"/new")
	assert.NotContains(t, page.Text, "What you add")
	assert.Contains(t, b.Post(edit, form).Text, "<b>Adds:</b> "+Callback+"/new")
	after := b.Done(b.Post(edit, With(page.Form(t, edit), "removed", "BOOKING_WRITE"))).Text
	assert.Contains(t, after, "<p>Saved. BOOKING_WRITE was removed at once.</p>")
	assert.Nil(t, w.ClientRow("mine").Proposed)
}

// TestGoingBack verifies that a browser may keep the response to a form with problems,
// for the back button, only if it can't contain a secret, and that signing out removes
// it.
func TestGoingBack(t *testing.T) {
	w, root := Administration(t)
	b := w.SignedIn()
	for name, test := range map[string]struct {
		who          *Browser
		page, action string
		pairs        []string
		kept         bool
	}{
		"register":   {b, NewPath, NewPath, nil, true},
		"edit":       {b, "/developer/clients/calendar/edit", "/developer/clients/calendar/edit", []string{"name", ""}, true},
		"a password": {b, "/account/password", "/account/password", nil, false},
		"a user":     {root, NewUserPage, NewUserPage, []string{"username", ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			page := test.who.Get(test.page)
			assert.Equal(t, "no-store", page.Header.Get("Cache-Control"))
			res := test.who.Post(test.action, With(page.Form(t, test.action), test.pairs...))
			require.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
			assert.Equal(t, test.kept, res.Header.Get("Cache-Control") == "private, no-cache", res.Header.Get("Cache-Control"))
		})
	}
	out := b.Post("/auth/sign-out", b.Get("/").Form(t, "/auth/sign-out"))
	assert.Equal(t, `"cache"`, out.Header.Get("Clear-Site-Data"))
}

// TestNothingToSave verifies that saving without changes is not reported as saved, and
// that a reviewer's note on an approval is not shown as a warning.
func TestNothingToSave(t *testing.T) {
	w, b := Mine(t, nil)
	edit := MinePath + "/edit"
	form := b.Get(edit).Form(t, edit)
	for name, list := range ProfileOf("The mine app", Callback, w.ClientRow("mine").Scopes...) {
		form[name] = list
	}
	form.Set("website", w.ClientRow("mine").Website)
	for range 2 {
		after := b.Done(b.Post(edit, form)).Text
		assert.Contains(t, after, "There was nothing to change.")
		assert.NotContains(t, after, "Saved")
	}
	assert.Contains(t, b.Done(b.Post(edit, With(form, "purpose", "It plans."))).Text, "Saved, and sent for review.")

	w.Must(&ledger.ReviewClient{Actor: Operator, ID: "mine", Verdict: ledger.Approve, Reason: "Well done.", Revision: w.ClientRow("mine").Revision})
	assert.Contains(t, b.Get(MinePath).Text, `<p><b>The last reviewer wrote:</b> <bdi>Well done.</bdi></p>`)
	w.Must(&ledger.ReviewClient{Actor: Operator, ID: "mine", Verdict: ledger.Suspend, Reason: "Spam.", Revision: w.ClientRow("mine").Revision})
	assert.Contains(t, b.Get(MinePath).Text, `<p><b>Suspended just now:</b> <bdi>Spam.</bdi></p>`)
}

// TestEditInTwoTabs verifies that the second of two pages to be saved shows what it would
// undo, field by field.
func TestEditInTwoTabs(t *testing.T) {
	w, b := Mine(t, nil)
	edit := MinePath + "/edit"
	filled := func(pairs ...string) url.Values {
		form := b.Get(edit).Form(t, edit)
		for name, list := range ProfileOf("The mine app", Callback, "BOOKING_READ", "BOOKING_WRITE", "TEAM_BOOKING_READ", "ORG_PROFILE_READ") {
			form[name] = list
		}
		return With(form, pairs...)
	}
	first, second := filled("purpose", "What the first says."), filled("website", "https://second.example/")
	b.Done(b.PostParts(edit, first))
	res := b.PostParts(edit, second, Part{Name: "logo", File: "me.jpg", Content: string(Photo(64, 64))})
	assert.Equal(t, http.StatusConflict, res.StatusCode)
	assert.Equal(t, "What the first says.", w.ClientRow("mine").Proposed.Purpose, "the first change was lost")
	for _, text := range []string{
		"Something changed while the page was open", `value="https://second.example/"`, "What was saved meanwhile",
		"<del><b>Removes:</b> <bdi>What the first says.</bdi></del>",
	} {
		assert.Contains(t, res.Text, text)
	}
	assert.NotContains(t, res.Text, "are filled in below", "the form has the user's input")
	assert.NotContains(t, res.Text, `src="/logos/`, "the picture was not stored")
	assert.NotContains(t, b.Get(edit).Text, "What was saved meanwhile")
	assert.Equal(t, http.StatusSeeOther, b.PostParts(edit, first).StatusCode, "the same form twice")
}

func TestEditOfARejectedClient(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	page := b.Get("/developer/clients/refused")
	assert.Contains(t, page.Text, "Rejected")
	const edit = "/developer/clients/refused/edit"
	form := b.Get(edit).Form(t, edit)
	for name, list := range ProfileOf("The refused app", Callback, "BOOKING_READ") {
		form[name] = list
	}
	assert.Contains(t, b.Follow(b.Post(edit, form)).Text, "sent for review again")
	assert.Equal(t, ledger.Pending, w.View().Client("refused").State)
}

func TestEditOfALogo(t *testing.T) {
	w, b := Mine(t, nil)
	w.WithLogo("mine")
	edit := MinePath + "/edit"
	send := func(pairs []string, files ...Part) {
		t.Helper()
		form := With(b.Get(edit).Form(t, edit), pairs...)
		client := w.View().Client("mine")
		for name, list := range ProfileOf(client.Name, Callback, client.Scopes...) {
			form[name] = list
		}
		form.Set("website", client.Website)
		require.Equal(t, http.StatusSeeOther, b.PostParts(edit, form, files...).StatusCode)
	}
	assert.Contains(t, b.Get(MinePath).Text, `src="`+LogoAddress+`"`)
	send(nil)
	assert.Nil(t, w.View().Client("mine").Proposed, "the logo must stay if no picture is chosen")
	send(nil, Part{Name: "logo", File: "me.jpg", Content: string(Photo(64, 64))})
	assert.Equal(t, DigestOf(Photo(64, 64)), w.View().Client("mine").Proposed.Logo)
	assert.Contains(t, b.Get(MinePath+"/scopes").Text, `alt="the proposed logo"`)
	send([]string{"no_logo", "yes"})
	assert.Empty(t, w.View().Client("mine").Proposed.Logo)
}

// TestLogo verifies that a logo is served with its own media type and can be cached.
func TestLogo(t *testing.T) {
	w := NewEnv(t)
	w.WithLogo("calendar")
	b := w.Browser()
	res := b.Get(LogoAddress)
	assert.Equal(t, http.StatusOK, res.StatusCode)
	assert.Equal(t, string(Drawn(32, 32)), res.Text)
	assert.Equal(t, "image/png", res.Header.Get("Content-Type"))
	assert.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
	assert.Equal(t, "same-origin", res.Header.Get("Cross-Origin-Resource-Policy"))
	assert.Equal(t, "public, max-age=31536000, immutable", res.Header.Get("Cache-Control"))
	assert.Empty(t, res.Cookies())
	assert.Empty(t, b.Send(http.MethodHead, LogoAddress, nil, nil).Text)
	ada := w.SignedIn()
	assert.Contains(t, ada.Get(At(Good())).Text, `src="`+LogoAddress+`"`, "the consent page must show the logo")
	ada.Allow()
	assert.Contains(t, ada.Get("/connected-apps").Text, `src="`+LogoAddress+`"`)
	for _, path := range []string{"/logos/", "/logos/x", "/logos/" + strings.Repeat("0", 64), LogoAddress + "0", LogoAddress[:len(LogoAddress)-2], "/logos/" + strings.Repeat("g", 64)} {
		none := b.Get(path)
		assert.Equal(t, http.StatusNotFound, none.StatusCode, path)
		assert.Equal(t, "no-store", none.Header.Get("Cache-Control"))
	}
}

// TestLogoApprovedWhileANodeLags: no shared cache stores a response that sets a session cookie.
func TestLogoApprovedWhileANodeLags(t *testing.T) {
	w, _ := Administration(t)
	ada := w.SignedIn()
	w.WithLogo("waiting")
	ada.Get(LogoAddress)
	w.Advance(15 * time.Minute)
	w.Lag()
	w.Must(&ledger.ReviewClient{Actor: ledger.Actor{Operator: true}, ID: "waiting", Verdict: ledger.Approve, Revision: w.View().Client("waiting").Revision})
	w.NoLeaderContact = true
	res := ada.Get(LogoAddress)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.NotEmpty(t, res.Cookies())
	require.NotContains(t, res.Header.Get("Cache-Control"), "public")
}

// TestLogoBeforeItsReview verifies that a picture that was not reviewed is visible to its
// owner and reviewers only, and is not stored in shared caches.
func TestLogoBeforeItsReview(t *testing.T) {
	w, root := Administration(t)
	ada, bob, nobody := w.SignedIn(), w.SignedInAs("bob"), w.Browser()
	w.WithLogo("waiting")
	waits := func(address string) {
		t.Helper()
		for _, b := range []*Browser{nobody, bob} {
			res := b.Get(address)
			assert.Equal(t, http.StatusNotFound, res.StatusCode)
			assert.Equal(t, "no-store", res.Header.Get("Cache-Control"))
		}
		for _, b := range []*Browser{ada, root} {
			res := b.Get(address)
			assert.Equal(t, http.StatusOK, res.StatusCode)
			assert.Equal(t, "no-store", res.Header.Get("Cache-Control"))
			assert.Equal(t, "same-origin", res.Header.Get("Cross-Origin-Resource-Policy"))
			assert.Empty(t, b.Send(http.MethodHead, address, nil, nil).Text)
		}
	}
	waits(LogoAddress)
	assert.Contains(t, root.Get(WaitingPage).Text, `src="`+LogoAddress+`"`)
	assert.Contains(t, ada.Get("/developer/clients/waiting").Text, `src="`+LogoAddress+`"`)
	w.Must(&ledger.OfferClient{Actor: ledger.Actor{Operator: true}, ID: "waiting", Username: "bob"})
	assert.NotContains(t, bob.Get("/developer/offers/waiting").Text, "/logos/", "the recipient of an offer is not the owner yet")

	root.Done(root.Press(WaitingPage, WaitingPage+"/review", "verdict", "approve"))
	assert.Equal(t, "public, max-age=31536000, immutable", nobody.Get(LogoAddress).Header.Get("Cache-Control"))
	assert.Contains(t, bob.Get("/developer/offers/waiting").Text, `src="`+LogoAddress+`"`)

	// Another logo is proposed for a client in use.
	next := Drawn(48, 48)
	address := "/logos/" + hex.EncodeToString(DigestOf(next))
	ada = w.SignedIn()
	p := w.ClientRow("calendar").Profile
	p.Logo = DigestOf(next)
	w.Must(&ledger.EditClient{
		Actor: ledger.Actor{Session: credential.SessionDigest(ada.Session())}, ID: "calendar", Revision: w.ClientRow("calendar").Revision, Profile: p, Logo: next,
	})
	waits(address)
	assert.Contains(t, root.Get(CalendarPage).Text, `src="`+address+`"`)
	assert.NotContains(t, bob.Get(At(Good())).Text, "/logos/", "the consent page must not show it")
	w.Must(&ledger.OfferClient{Actor: ledger.Actor{Operator: true}, ID: "calendar", Username: "bob"})
	offer := bob.Get("/developer/offers/calendar").Text
	assert.NotContains(t, offer, "/logos/")
	assert.Contains(t, offer, "<ins><b>Adds:</b> <bdi>a picture that nobody has reviewed</bdi></ins>")

	root.Done(root.Press(CalendarPage, CalendarPage+"/review", "verdict", "reject", "reason", "No."))
	waits(address)
	root.Done(root.Press(SuspendPage, SuspendPage))
	assert.Equal(t, http.StatusOK, nobody.Get(LogoAddress).StatusCode, "the logo of the client waiting")
}

// TestLogoIsMadeAnew verifies that only the pixels of a picture are kept.
func TestLogoIsMadeAnew(t *testing.T) {
	const hidden = "<script>alert('hidden')</script>PK\x03\x04"
	chunk := func(kind string) string {
		body := kind + hidden
		return string(binary.BigEndian.AppendUint32(nil, uint32(len(hidden)))) + body +
			string(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(body))))
	}
	plain, jpg := string(Drawn(32, 32)), string(Photo(32, 32))
	for name, test := range map[string]struct{ file, kept string }{
		"a chunk of text":     {plain[:33] + chunk("tEXt") + plain[33:], plain},
		"an animation":        {plain[:33] + chunk("acTL") + plain[33:], plain},
		"after a PNG":         {plain + hidden, plain},
		"a comment of a JPEG": {jpg[:2] + "\xff\xfe\x00" + string(rune(len(hidden)+2)) + hidden + jpg[2:], jpg},
		"after a JPEG":        {jpg + hidden, jpg},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewEnv(t)
			b := w.SignedIn()
			form := b.Get(NewPath).Form(t, NewPath)
			maps.Copy(form, ProfileOf("New", Callback, "BOOKING_READ"))
			form.Set("type", "public")
			res := b.PostParts(NewPath, form, Part{Name: "logo", File: "x", Content: test.file})
			require.Equal(t, http.StatusSeeOther, res.StatusCode, res.Text)
			id := strings.TrimPrefix(strings.Split(res.Header.Get("Location"), "?")[0], "/developer/clients/")
			served := b.Get("/logos/" + hex.EncodeToString(w.ClientRow(id).Logo))
			require.Equal(t, http.StatusOK, served.StatusCode)
			assert.Equal(t, test.kept, served.Text)
		})
	}
}

// TestLogoThatGrows covers a picture that fits as uploaded but not when it is encoded again.
func TestLogoThatGrows(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	noise := image.NewGray(image.Rect(0, 0, 256, 256))
	state := uint32(1)
	for i := range noise.Pix {
		state = state*1664525 + 1013904223
		noise.Pix[i] = byte(state >> 24)
	}
	var rough bytes.Buffer
	require.NoError(t, jpeg.Encode(&rough, noise, &jpeg.Options{Quality: 5}))
	require.Less(t, rough.Len(), ledger.MaxLogo)
	form := b.Get(NewPath).Form(t, NewPath)
	maps.Copy(form, ProfileOf("New", Callback, "BOOKING_READ"))
	form.Set("type", "public")
	res := b.PostParts(NewPath, form, Part{Name: "logo", File: "x.jpg", Content: rough.String()})
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.Text, "Logo has too much detail for 16 KB")
}

func TestOwnClients(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	for i := range 201 { // beside 6 of the kit
		w.Client(fmt.Sprintf("a-client-with-a-long-id-%03d", i), func(c *ledger.ImportClient) {
			c.Profile.Name = fmt.Sprintf("App %03d %s", i, strings.Repeat("&<long", 2))
		})
	}
	names := regexp.MustCompile(`<bdi>App (\d\d\d)`)
	var all []string
	next := "/developer"
	for range 20 {
		page := b.Get(next)
		if next == "/developer" {
			assert.Contains(t, page.Text, `<p role="status">1–25 of 207</p>`)
			assert.Contains(t, page.Text, `<option value="created">Newest first</option>`)
			assert.Contains(t, page.Text, `role="search"`)
		}
		for _, m := range names.FindAllStringSubmatch(page.Text, -1) {
			all = append(all, m[1])
		}
		m := regexp.MustCompile(`<a class="button small" href="([^"]*)" rel="next">`).FindStringSubmatch(page.Text)
		if m == nil {
			assert.Contains(t, page.Text, `<a class="button small" href="/developer">First</a>`)
			break
		}
		next = m[1]
	}
	assert.Len(t, all, 201)
	assert.IsIncreasing(t, all)
	found := b.Get("/developer?q=app+017")
	assert.Len(t, names.FindAllString(found.Text, -1), 1)
	assert.Contains(t, b.Get("/developer?q=nothing+like+it").Text, "No application matches “nothing like it”")
	w.User("u-bob", "bob", "Bob")
	none := w.SignedInAs("bob").Get("/developer").Text
	assert.Contains(t, none, "You have no applications yet")
	assert.Equal(t, 1, strings.Count(none, `href="`+NewPath+`"`), "one way to register")
	assert.NotContains(t, none, `role="search"`)
}

// TestOwnClient verifies what the list has of an application.
func TestOwnClient(t *testing.T) {
	w, b := Mine(t, nil)
	for _, name := range []string{"zoe", "zack"} {
		w.User("u-"+name, name, name)
		w.SignedInAs(name).Allow("client_id", "mine")
	}
	page := b.Get("/developer").Text
	assert.NotContains(t, page, `role="search"`, "a short list")
	for _, text := range []string{
		`<td data-name="People" class="num">2</td>`, `<td data-name="People" class="num">0</td>`, `<td data-name="Scopes" class="quiet">Bookings`,
		`<td data-name="Scopes" class="quiet">No limits</td>`, `<td data-name="Last used">Never used</td>`, ` applications</p>`,
	} {
		assert.Contains(t, page, text)
	}
	assert.Contains(t, page, `<td data-name="State">Approved</td>`, "only exceptions are marked")
	w.Must(&ledger.ReviewClient{Actor: ledger.Actor{Operator: true}, ID: "mine", Revision: w.ClientRow("mine").Revision, Verdict: ledger.Suspend})
	assert.Contains(t, b.Get("/developer").Text, ">Suspended</span>")
}

func TestDelete(t *testing.T) {
	w, b := Mine(t, func(c *ledger.ImportClient) { c.Profile.Name = "My  app" })
	path := MinePath + "/delete"
	form := b.Get(path).Form(t, path)
	wrong := b.Post(path, With(form, "name", "My ap"))
	assert.Equal(t, http.StatusUnprocessableEntity, wrong.StatusCode)
	assert.Contains(t, wrong.Text, "That isn’t the name. Type My  app.")
	assert.Equal(t, ledger.Approved, w.View().Client("mine").State)

	w.Must(&ledger.ReviewClient{Actor: ledger.Actor{Operator: true}, ID: "mine", Verdict: ledger.Suspend, Revision: 1})
	form.Set("name", " My app ")
	moved := b.Post(path, form)
	assert.Equal(t, http.StatusConflict, moved.StatusCode)
	assert.Equal(t, ledger.Suspended, w.View().Client("mine").State)
	form = With(moved.Form(t, path), "name", "My app")
	res := b.Post(path, form)
	assert.Contains(t, b.Follow(res).Text, "app was deleted.")
	assert.Equal(t, ledger.Deleted, w.View().Client("mine").State)
	assert.Equal(t, res.Header.Get("Location"), b.Post(path, form).Header.Get("Location"), "the same form twice")
	assert.Equal(t, http.StatusNotFound, b.Get(MinePath).StatusCode)
	assert.NotContains(t, b.Get("/developer").Text, "My  app")
}

// TestDeclineEndsTheOfferShown verifies that a form of an earlier page declines or withdraws no
// later offer, and that nobody reads that an application was declined that is theirs.
func TestDeclineEndsTheOfferShown(t *testing.T) {
	path, offer := MinePath+"/transfer", "/developer/offers/mine"
	begin := func(t *testing.T) (w *Env, ada, bob *Browser) {
		w, ada = Mine(t, nil)
		w.User("u-bob", "bob", "Bob")
		w.User("u-dan", "dan", "Dan")
		ada.Done(ada.Submit(path, path, "username", "bob"))
		return w, ada, w.SignedInAs("bob")
	}
	t.Run("accepted, then declined", func(t *testing.T) {
		w, _, bob := begin(t)
		decline := bob.Get(offer).Form(t, offer+"/decline")
		bob.Done(bob.Submit(offer, offer+"/accept"))
		verify := func() {
			res := bob.Post(offer+"/decline", decline)
			assert.Equal(t, http.StatusSeeOther, res.StatusCode)
			assert.Equal(t, MinePath, res.Header.Get("Location"), "without a notice")
		}
		verify()
		bob.Done(bob.Submit(path, path, "username", "dan"))
		verify()
		assert.Equal(t, "u-dan", w.ClientRow("mine").Offer.To)
	})
	t.Run("offered anew", func(t *testing.T) {
		w, ada, bob := begin(t)
		decline := bob.Get(offer).Form(t, offer+"/decline")
		ada.Done(ada.Submit(path, path+"/withdraw"))
		ada.Done(ada.Submit(path, path, "username", "bob"))
		res := bob.Post(offer+"/decline", decline)
		assert.Equal(t, http.StatusConflict, res.StatusCode)
		assert.Contains(t, res.Text, site.NoticeMoved)
		assert.NotNil(t, w.ClientRow("mine").Offer)
		assert.Contains(t, bob.Done(bob.Post(offer+"/decline", res.Form(t, offer+"/decline"))).Text, "You declined the application.")
		assert.Nil(t, w.ClientRow("mine").Offer)
		assert.Equal(t, "/developer?done=declined", LeadsTo(bob.Post(offer+"/decline", decline)), "it has ended")
	})
	t.Run("offered to somebody else", func(t *testing.T) {
		w, ada, _ := begin(t)
		withdraw := ada.Get(path).Form(t, path+"/withdraw")
		ada.Done(ada.Submit(path, path, "username", "dan"))
		res := ada.Post(path+"/withdraw", withdraw)
		assert.Equal(t, http.StatusConflict, res.StatusCode)
		assert.Contains(t, res.Text, site.NoticeMoved)
		assert.Contains(t, res.Text, "<bdi>dan</bdi>")
		assert.Equal(t, "u-dan", w.ClientRow("mine").Offer.To)
		ada.Done(ada.Post(path+"/withdraw", res.Form(t, path+"/withdraw")))
		assert.Nil(t, w.ClientRow("mine").Offer)
	})
}

func TestTransfer(t *testing.T) {
	w, b := Mine(t, nil)
	w.User("u-bob", "bob", "Bob")
	bob := w.SignedInAs("bob")
	path, offer := MinePath+"/transfer", "/developer/offers/mine"
	for name, says := range map[string]string{"": "Enter a username", "nobody": "There is no user of that name", "ADA": "Username owns it already"} {
		res := b.Submit(path, path, "username", name)
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
		assert.Contains(t, res.Text, says+".")
	}
	assert.Equal(t, http.StatusNotFound, bob.Get(offer).StatusCode)
	res := b.Submit(path, path, "username", "Bob")
	assert.Contains(t, b.Follow(res).Text, "The offer was made.")
	assert.Contains(t, b.Get(path).Text, "You offered this application to <b><bdi>bob</bdi></b>")

	assert.Contains(t, bob.Get("/developer").Text, `href="/developer/offers/mine">See the offer<span class="unseen"> of The mine app</span></a>`)
	assert.Contains(t, bob.Get(offer).Text, "<bdi>Ada Lovelace (ada)</bdi> offers you this application.")
	declined := bob.Submit(offer, offer+"/decline")
	assert.Contains(t, bob.Follow(declined).Text, "You declined the application.")
	assert.NotContains(t, bob.Get("/developer").Text, "Offered to you")
	assert.NotContains(t, b.Get(path).Text, "You offered")

	b.Submit(path, path, "username", "bob")
	old := bob.Get(offer).Form(t, offer+"/accept")
	form := b.Get(path).Form(t, path+"/withdraw")
	for range 2 {
		assert.Contains(t, b.Follow(b.Post(path+"/withdraw", form)).Text, "The offer was withdrawn.")
	}
	assert.Equal(t, http.StatusNotFound, bob.Post(offer+"/accept", old).StatusCode)

	b.Submit(path, path, "username", "bob")
	w.WithLogo("mine")
	moved := bob.Post(offer+"/accept", old)
	assert.Equal(t, http.StatusConflict, moved.StatusCode, "the application changed after the page was shown")
	form = moved.Form(t, offer+"/accept")
	for range 2 {
		assert.Contains(t, bob.Follow(bob.Post(offer+"/accept", form)).Text, "The application is yours now.")
	}
	assert.Equal(t, http.StatusNotFound, b.Get(MinePath).StatusCode)
	assert.Equal(t, "u-bob", w.View().Client("mine").Owner)
	assert.Len(t, w.View().Client("mine").Secrets, 2, "secrets must stay")
}

// TestOffers verifies that offers of disabled owners are not shown, and that all others
// can be reached.
func TestOffers(t *testing.T) {
	w := NewEnv(t)
	operator := ledger.Actor{Operator: true}
	w.User("u-bob", "bob", "Bob")
	w.User("u-mallory", "mallory", "Mallory")
	offer := func(id, owner string) {
		w.Client(id, func(c *ledger.ImportClient) { c.Owner = owner })
		w.Must(&ledger.OfferClient{Actor: operator, ID: id, Username: "bob"})
	}
	for i := range 60 {
		offer(fmt.Sprintf("junk-%02d", i), "u-mallory")
	}
	offer("wanted", "u-ada")
	w.User("u-bobby", "bobby", "Bobby")
	w.Client("zed", nil)
	w.Must(&ledger.OfferClient{Actor: operator, ID: "zed", Username: "bobby"})

	bob := w.SignedInAs("bob")
	list := bob.Get("/developer")
	assert.Equal(t, 10, strings.Count(list.Text, `href="/developer/offers/`))
	assert.Contains(t, list.Text, `<a href="/developer/offers">Show all`)
	seen, next := "", "/developer/offers"
	for next != "" {
		page := bob.Get(next)
		require.Equal(t, http.StatusOK, page.StatusCode)
		seen += page.Text
		_, rest, _ := strings.Cut(page.Text, `href="/developer/offers?after=`)
		after, _, more := strings.Cut(rest, `" rel="next"`)
		if next = ""; more && !strings.Contains(after, "<") {
			next = "/developer/offers?after=" + after
		}
	}
	assert.Equal(t, 61, strings.Count(seen, `<a href="/developer/offers/`), "each offer once")
	assert.Contains(t, seen, `<a href="/developer/offers/wanted"><bdi>The wanted app</bdi></a></th><td data-name="Owner"><bdi>Ada Lovelace (ada)</bdi>`)
	back := bob.Get("/developer/offers?before=wanted").Text
	assert.Contains(t, back, "/developer/offers/junk-59")
	assert.NotContains(t, back, "/developer/offers/wanted")

	const junk = "/developer/offers/junk-00"
	form := bob.Get(junk).Form(t, junk+"/accept")
	w.Must(&ledger.SetUserState{Actor: operator, User: "u-mallory", State: ledger.Disable})
	assert.Equal(t, http.StatusNotFound, bob.Post(junk+"/accept", form).StatusCode)
	assert.Equal(t, http.StatusNotFound, bob.Get(junk).StatusCode)
	assert.Equal(t, "u-mallory", w.View().Client("junk-00").Owner)
	list = bob.Get("/developer")
	assert.Contains(t, list.Text, "/developer/offers/wanted")
	assert.NotContains(t, list.Text, "/developer/offers/junk")
	assert.NotContains(t, list.Text, "Show all")
}

// TestTransferOfAPublicClient verifies that secrets are not mentioned for a public client.
func TestTransferOfAPublicClient(t *testing.T) {
	w, b := Mine(t, func(c *ledger.ImportClient) { c.Type, c.Secrets = ledger.Public, nil })
	w.User("u-bob", "bob", "Bob")
	bob := w.SignedInAs("bob")
	path, offer := MinePath+"/transfer", "/developer/offers/mine"
	assert.NotContains(t, b.Get(path).Text, "secret")
	b.Submit(path, path, "username", "bob")
	assert.NotContains(t, bob.Get(offer).Text, "Its secrets")
	after := bob.Follow(bob.Submit(offer, offer+"/accept")).Text
	assert.Contains(t, after, "The application is yours now.")
	assert.NotContains(t, after, "its secrets")
}

// TestOffersTellNoNames verifies that making an offer reveals only whether a user name
// exists, and only for a limited number of names.
func TestOffersTellNoNames(t *testing.T) {
	w, b := Mine(t, nil)
	w.User("u-bob", "bob", "Robert de Somewhere")
	w.User("u-gone", "gone", "Gone")
	w.Must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-gone", State: ledger.Disable})
	path := MinePath + "/transfer"
	bodies := map[string]bool{}
	for _, name := range []string{"gone", "none"} {
		res := b.Submit(path, path, "username", name)
		bodies[strings.ReplaceAll(res.Text, name, "")] = true
	}
	assert.Len(t, bodies, 1, "a disabled user must look like an unknown one")
	require.Equal(t, http.StatusSeeOther, b.Submit(path, path, "username", "bob").StatusCode)
	for _, page := range []string{MinePath, MinePath + "/settings", path} {
		assert.Contains(t, b.Get(page).Text, "bob")
		assert.NotContains(t, b.Get(page).Text, "Robert")
		assert.NotContains(t, b.Get(page).Text, "@example.com")
	}
	for range 7 {
		require.Equal(t, http.StatusUnprocessableEntity, b.Submit(path, path, "username", "guess").StatusCode)
	}
	other := w.SignedIn() // the same user
	for _, name := range []string{"guess", "bob"} {
		res := other.Submit(path, path, "username", name)
		assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
		assert.Equal(t, "60", res.Header.Get("Retry-After"))
		assert.Contains(t, res.Text, "You have made many offers. Try again in 1 minute.")
		assert.Contains(t, res.Text, `value="`+name+`"`, "input must be kept")
	}
	w.Advance(time.Minute)
	assert.Equal(t, http.StatusUnprocessableEntity, other.Submit(path, path, "username", "guess").StatusCode)
}

// TestChangesAreBounded verifies that the number of forms of one user is limited, so that
// nobody displaces the events of others from the audit trail.
func TestChangesAreBounded(t *testing.T) {
	t.Parallel()
	w, b := Mine(t, nil)
	edit := MinePath + "/edit"
	before := w.Index
	send := func(i int) Answer {
		form := b.Get(edit).Form(t, edit)
		maps.Copy(form, ProfileOf(fmt.Sprint("Name ", i), Callback, w.ClientRow("mine").Scopes...))
		return b.Post(edit, form)
	}
	i := 0
	for send(i).StatusCode == http.StatusSeeOther && i < 1000 {
		i++
	}
	assert.Equal(t, 200, i)
	assert.LessOrEqual(t, w.Index-before, uint64(200))
	res := send(i)
	assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
	assert.Equal(t, "20", res.Header.Get("Retry-After"))
	assert.Equal(t, http.StatusSeeOther, b.Post("/auth/sign-out", b.Get("/").Form(t, "/auth/sign-out")).StatusCode, "signing out is not limited")
	w.Advance(20 * time.Second)
	b = w.SignedIn()
	assert.Equal(t, http.StatusSeeOther, send(i).StatusCode)
}

// TestLogoOfManyScans: a small picture may take long to decode, since each scan of a
// progressive JPEG covers all pixels.
func TestLogoOfManyScans(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	plain := Photo(32, 32)
	scans := bytes.Repeat([]byte{0xff, 0xda, 0x00, 0x08, 0x01, 0x01, 0x00, 0x01, 0x3f, 0x00, 0x7f, 0xff}, 1000)
	file := slices.Concat(plain[:len(plain)-2], scans, plain[len(plain)-2:])
	require.Less(t, len(file), ledger.MaxLogo)
	form := b.Get(NewPath).Form(t, NewPath)
	maps.Copy(form, ProfileOf("New", Callback, "BOOKING_READ"))
	form.Set("type", "public")
	res := b.PostParts(NewPath, form, Part{Name: "logo", File: "x.jpg", Content: string(file)})
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.Text, "has more layers than a picture needs")
	assert.Equal(t, http.StatusSeeOther, b.PostParts(NewPath, form, Part{Name: "logo", File: "x.jpg", Content: string(plain)}).StatusCode)
}

// TestDeveloperOnALaggingNode verifies that a node uses a fresh view before it responds 404.
func TestDeveloperOnALaggingNode(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	w.Lag()
	w.Client("mine", nil)
	assert.Equal(t, http.StatusOK, b.Get(MinePath).StatusCode)
	w.NoLeader = true
	assert.Equal(t, http.StatusServiceUnavailable, b.Get(MinePath).StatusCode)
	assert.Equal(t, http.StatusOK, b.Get("/developer").StatusCode)
}
