package web_test

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
)

// TestRegister verifies that a new client is pending, and that sending the same form
// twice creates one (service document, section 2.1).
func TestRegister(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	page := b.get(newPath)
	for _, text := range []string{
		"<legend>Type</legend>", "where no secret stays one", `value="TEAM_BOOKING_READ"`, `value="ORG_PROFILE_WRITE"`,
		"<legend>The user’s own account</legend>", "<legend>Teams</legend>", "<legend>Organizations</legend>",
		`enctype="multipart/form-data"`, "at most 16 KB",
	} {
		assert.Contains(t, page.body, text)
	}
	assert.Equal(t, 30, strings.Count(page.body, `name="scopes"`))
	assert.Equal(t, 10, strings.Count(page.body, `name="redirect_uris"`))
	form := page.form(t, newPath)
	id := form.Get("client")
	require.Regexp(t, `^c_[0-9a-f]{32}$`, id)
	assert.NotEqual(t, id, b.get(newPath).form(t, newPath).Get("client"))

	for name, list := range profileOf(" Calendar Sync ", callback, "BOOKING_READ", "ORG_PROFILE_READ") {
		form[name] = list
	}
	form["redirect_uris"] = []string{"", callback, "  ", "https://app.example.com/second"}
	form = with(form, "type", "confidential", "purpose", "One line\r\nand another", "website", "https://sync.example.com/",
		"privacy_url", " https://sync.example.com/privacy", "terms_url", "https://sync.example.com/terms")
	res := b.postParts(newPath, form, part{"logo", "logo.png", string(drawn(64, 64))})
	after := b.follow(res)
	assert.Equal(t, "/developer/clients/"+id+"?done=created", leadsTo(res))
	client := w.View().Client(id)
	assert.Equal(t, ledger.Pending, client.State)
	assert.Equal(t, ledger.Confidential, client.Type)
	assert.Equal(t, "u-ada", client.Owner)
	assert.Equal(t, ledger.Profile{
		Name: "Calendar Sync", Purpose: "One line and another", Website: "https://sync.example.com/",
		PrivacyURL: "https://sync.example.com/privacy", TermsURL: "https://sync.example.com/terms",
		RedirectURIs: []string{callback, "https://app.example.com/second"}, Scopes: []string{"BOOKING_READ", "ORG_PROFILE_READ"},
		Logo: digestOf(drawn(64, 64)),
	}, client.Profile)
	assert.Empty(t, client.Secrets)
	for _, text := range []string{
		"The application was registered.", "Waiting for review", "has no secret yet", `<code id="client-id">` + id + "</code>",
		"Until then nobody can use it", "<code>ORG_PROFILE_READ</code>",
	} {
		assert.Contains(t, after.body, text)
	}

	state := w.index
	assert.Equal(t, res.Header.Get("Location"), b.postParts(newPath, form).Header.Get("Location"), "the same form twice")
	assert.Equal(t, state, w.index)
	assert.Contains(t, b.get("/developer").body, "Calendar Sync")
	w.user("u-bob", "bob", "Bob")
	assert.NotContains(t, w.signedInAs("bob").get("/developer").body, "Calendar Sync")
}

// TestRegisterProblems verifies that all problems are shown at their fields, and that
// input is kept.
func TestRegisterProblems(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	fill := func(change func(url.Values)) url.Values {
		form := b.get(newPath).form(t, newPath)
		for name, list := range profileOf("Calendar", callback, "BOOKING_READ") {
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
			`<a href="#f-name">Name is empty.</a>`, `<a href="#f-type">The type is not chosen.</a>`,
			`<a href="#f-redirect_uris.0">Redirect URI 1 is missing: at least one is needed.</a>`,
			`<a href="#f-scopes">The selection of scopes needs at least one.</a>`,
		}},
		{"two redirect URIs", func(v url.Values) {
			v.Set("website", "example.com")
			v["redirect_uris"] = []string{"http://app.example.com/cb", callback, callback, "https://*.example.com/", "https://a.example/#f"}
		}, []string{
			`<p class="error" id="f-redirect_uris.0-error">Redirect URI 1 must be https;`, "Redirect URI 3 is there twice.",
			"Website must begin with https:// or http://.", "Redirect URI 4 has a wildcard in its host.", "Redirect URI 5 must not have a part after #.", `value="https://*.example.com/"`,
		}},
		{"eleven", func(v url.Values) {
			for i := range 10 {
				v.Add("redirect_uris", fmt.Sprintf("https://app.example.com/%d", i))
			}
		}, []string{"Redirect URI has more than 10.", `value="https://app.example.com/9"`}},
		{"a private scheme", func(v url.Values) { v.Set("redirect_uris", "com.example.app:/cb") }, []string{"for public clients only"}},
		{"addresses of the service", func(v url.Values) {
			v["redirect_uris"] = []string{callback, issuer + "/cb", "https://app.mintmark.example:443/sign-in"}
		}, []string{
			"Redirect URI 2 is an address of this service, not of the application.",
			"Redirect URI 3 is an address of this service, not of the application.",
		}},
		{"a long name", func(v url.Values) { v.Set("name", strings.Repeat("x", 81)) }, []string{"Name is too long."}},
		{"a website", func(v url.Values) { v.Set("website", "javascript:alert(1)") }, []string{"Website must begin with https:// or http://."}},
		{"links", func(v url.Values) { v.Set("privacy_url", "x"); v.Set("terms_url", "javascript:alert(1)") }, []string{
			"Privacy policy must begin with https:// or http://.", "Terms must begin with https:// or http://.",
		}},
		{"a scope that there is not", func(v url.Values) { v.Set("scopes", "EVERYTHING") }, []string{"names a scope that does not exist"}},
		{"a type that there is not", func(v url.Values) { v.Set("type", "secret") }, []string{"The type is not chosen."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			state := w.index
			res := b.post(newPath, fill(test.change))
			assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
			for _, text := range test.says {
				assert.Contains(t, res.body, text)
			}
			assert.Equal(t, state, w.index)
		})
	}
	for name, file := range map[string][]byte{
		"is not a PNG or JPEG picture":      []byte("<svg onload=alert(1)>"),
		"is damaged":                        drawn(64, 64)[:60],
		"is too small":                      drawn(8, 64),
		"is too large: a side may have":     drawn(1025, 16),
		"is larger than 16 KB":              append(drawn(32, 32), make([]byte, ledger.MaxLogo)...),
		"is not a PNG or JPEG picture. ":    []byte("GIF89a\x10\x00\x10\x00\x00\x00\x00;"),
		"has to be chosen again: browsers ": drawn(32, 32), // another field is invalid
	} {
		t.Run(name, func(t *testing.T) {
			form := fill(func(v url.Values) {
				if strings.Contains(name, "again") {
					v.Set("name", "")
				}
			})
			res := b.postParts(newPath, form, part{"logo", "x.png", string(file)})
			assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
			assert.Contains(t, res.body, "Logo "+strings.TrimSuffix(name, ". "))
		})
	}
}

// TestEdit verifies that narrowing takes effect at once, and that widening and renaming
// await a review and are shown as a difference.
func TestEdit(t *testing.T) {
	w, b := mine(t, nil)
	edit := minePath + "/edit"
	page := b.get(edit)
	form := page.form(t, edit)
	assert.Equal(t, "1", form.Get("revision"))
	for _, text := range []string{`value="The mine app"`, `value="` + callback + `"`, `value="BOOKING_WRITE" checked`, "waits for a review"} {
		assert.Contains(t, page.body, text)
	}
	for name, list := range profileOf("A better name", callback+"/new", "BOOKING_READ", "PROFILE_READ") {
		form[name] = list
	}
	form["redirect_uris"] = append(form["redirect_uris"], callback)
	res := b.post(edit, form)
	after := b.follow(res)
	client := w.View().Client("mine")
	assert.Equal(t, "The mine app", client.Name, "the name must not change before the review")
	assert.Equal(t, []string{"BOOKING_READ"}, client.Scopes, "removed scopes must be removed at once")
	assert.Equal(t, "A better name", client.Proposed.Name)
	for _, text := range []string{
		"waits for an administrator", "Changes that wait for review", "<del><b>Before:</b> <bdi>The mine app</bdi></del>",
		"<ins><b>After:</b> <bdi>A better name</bdi></ins>", "<ins><b>Added:</b> " + callback + "/new</ins>", "<ins><b>Added:</b> PROFILE_READ</ins>",
	} {
		assert.Contains(t, after.body, text)
	}

	state := w.index
	assert.Equal(t, res.Header.Get("Location"), b.post(edit, form).Header.Get("Location"), "the same form twice")
	assert.Equal(t, state, w.index)
	again := b.post(edit, with(form, "name", "Yet another"))
	assert.Equal(t, http.StatusConflict, again.StatusCode, "the page was out of date")
	assert.Contains(t, again.body, "Something changed while the page was open")
	assert.Contains(t, again.body, `value="Yet another"`)
	assert.Equal(t, "2", again.form(t, edit).Get("revision"), "the redisplayed form must have the new revision")
	assert.Contains(t, b.get(edit).body, `value="A better name"`, "the edit must start from the proposed revision")

	w.must(&ledger.ReviewClient{Actor: ledger.Actor{Operator: true}, ID: "mine", Verdict: ledger.Reject, Reason: "Say who <you> are", Revision: 2})
	assert.Contains(t, b.get(minePath).body, "<b>Why:</b> <bdi>Say who &lt;you&gt; are</bdi>")
}

// TestGoingBack verifies that a browser may keep the response to a form with problems,
// for the back button, only if it can't contain a secret, and that signing out removes
// it.
func TestGoingBack(t *testing.T) {
	w, root := administration(t)
	b := w.signedIn()
	for name, test := range map[string]struct {
		who          *browser
		page, action string
		pairs        []string
		kept         bool
	}{
		"register":   {b, newPath, newPath, nil, true},
		"edit":       {b, "/developer/clients/calendar/edit", "/developer/clients/calendar/edit", []string{"name", ""}, true},
		"a password": {b, "/account/password", "/account/password", nil, false},
		"a user":     {root, newUserPage, newUserPage, []string{"username", ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			page := test.who.get(test.page)
			assert.Equal(t, "no-store", page.Header.Get("Cache-Control"))
			res := test.who.post(test.action, with(page.form(t, test.action), test.pairs...))
			require.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
			assert.Equal(t, test.kept, res.Header.Get("Cache-Control") == "private, no-cache", res.Header.Get("Cache-Control"))
		})
	}
	out := b.post("/auth/sign-out", b.get("/").form(t, "/auth/sign-out"))
	assert.Equal(t, `"cache"`, out.Header.Get("Clear-Site-Data"))
}

// TestNothingToSave verifies that saving without changes is not reported as saved, and
// that a reviewer's note on an approval is not shown as a warning.
func TestNothingToSave(t *testing.T) {
	w, b := mine(t, nil)
	edit := minePath + "/edit"
	form := b.get(edit).form(t, edit)
	for name, list := range profileOf("The mine app", callback, w.clientRow("mine").Scopes...) {
		form[name] = list
	}
	form.Set("website", w.clientRow("mine").Website)
	for range 2 {
		after := b.done(b.post(edit, form)).body
		assert.Contains(t, after, "There was nothing to change.")
		assert.NotContains(t, after, "Saved")
	}
	assert.Contains(t, b.done(b.post(edit, with(form, "purpose", "It plans."))).body, "Saved.")

	w.must(&ledger.ReviewClient{Actor: operator, ID: "mine", Verdict: ledger.Approve, Reason: "Well done.", Revision: w.clientRow("mine").Revision})
	assert.Contains(t, b.get(minePath).body, `<p><b>What the last reviewer wrote:</b> <bdi>Well done.</bdi></p>`)
	w.must(&ledger.ReviewClient{Actor: operator, ID: "mine", Verdict: ledger.Suspend, Reason: "Spam.", Revision: w.clientRow("mine").Revision})
	assert.Contains(t, b.get(minePath).body, `<p><b>Why it was suspended:</b>`)
}

// TestEditInTwoTabs verifies that the second of two pages to be saved shows what it would
// undo, field by field.
func TestEditInTwoTabs(t *testing.T) {
	w, b := mine(t, nil)
	edit := minePath + "/edit"
	filled := func(pairs ...string) url.Values {
		form := b.get(edit).form(t, edit)
		for name, list := range profileOf("The mine app", callback, "BOOKING_READ", "BOOKING_WRITE") {
			form[name] = list
		}
		return with(form, pairs...)
	}
	first, second := filled("purpose", "What the first says."), filled("website", "https://second.example/")
	b.done(b.postParts(edit, first))
	res := b.postParts(edit, second, part{"logo", "me.jpg", string(photo(64, 64))})
	assert.Equal(t, http.StatusConflict, res.StatusCode)
	assert.Equal(t, "What the first says.", w.clientRow("mine").Proposed.Purpose, "the first change was lost")
	for _, text := range []string{
		"Something changed while the page was open", `value="https://second.example/"`, "What was saved meanwhile",
		"<del><b>Before:</b> <bdi>What the first says.</bdi></del>",
	} {
		assert.Contains(t, res.body, text)
	}
	assert.NotContains(t, res.body, "are filled in below", "the form has the user's input")
	assert.NotContains(t, res.body, `src="/logos/`, "the picture was not stored")
	assert.NotContains(t, b.get(edit).body, "What was saved meanwhile")
	assert.Equal(t, http.StatusSeeOther, b.postParts(edit, first).StatusCode, "the same form twice")
}

func TestEditOfARejectedClient(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	page := b.get("/developer/clients/refused")
	assert.Contains(t, page.body, "Not approved")
	const edit = "/developer/clients/refused/edit"
	form := b.get(edit).form(t, edit)
	for name, list := range profileOf("The refused app", callback, "BOOKING_READ") {
		form[name] = list
	}
	assert.Contains(t, b.follow(b.post(edit, form)).body, "reviews the application again")
	assert.Equal(t, ledger.Pending, w.View().Client("refused").State)
}

func TestEditOfALogo(t *testing.T) {
	w, b := mine(t, nil)
	w.withLogo("mine")
	edit := minePath + "/edit"
	send := func(pairs []string, files ...part) {
		t.Helper()
		form := with(b.get(edit).form(t, edit), pairs...)
		client := w.View().Client("mine")
		for name, list := range profileOf(client.Name, callback, client.Scopes...) {
			form[name] = list
		}
		form.Set("website", client.Website)
		require.Equal(t, http.StatusSeeOther, b.postParts(edit, form, files...).StatusCode)
	}
	assert.Contains(t, b.get(minePath).body, `src="`+logoAddress+`"`)
	send(nil)
	assert.Nil(t, w.View().Client("mine").Proposed, "the logo must stay if no picture is chosen")
	send(nil, part{"logo", "me.jpg", string(photo(64, 64))})
	assert.Equal(t, digestOf(photo(64, 64)), w.View().Client("mine").Proposed.Logo)
	assert.Contains(t, b.get(minePath).body, `alt="the proposed logo"`)
	send([]string{"no_logo", "yes"})
	assert.Empty(t, w.View().Client("mine").Proposed.Logo)
}

// TestLogo verifies that a logo is served with its own media type and can be cached.
func TestLogo(t *testing.T) {
	w := newEnv(t)
	w.withLogo("calendar")
	b := w.browser()
	res := b.get(logoAddress)
	assert.Equal(t, http.StatusOK, res.StatusCode)
	assert.Equal(t, string(drawn(32, 32)), res.body)
	assert.Equal(t, "image/png", res.Header.Get("Content-Type"))
	assert.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
	assert.Equal(t, "same-origin", res.Header.Get("Cross-Origin-Resource-Policy"))
	assert.Equal(t, "public, max-age=31536000, immutable", res.Header.Get("Cache-Control"))
	assert.Empty(t, res.Cookies())
	assert.Empty(t, b.send(http.MethodHead, logoAddress, nil, nil).body)
	ada := w.signedIn()
	assert.Contains(t, ada.get(at(good())).body, `src="`+logoAddress+`"`, "the consent page must show the logo")
	ada.allow()
	assert.Contains(t, ada.get("/connected-apps").body, `src="`+logoAddress+`"`)
	for _, path := range []string{"/logos/", "/logos/x", "/logos/" + strings.Repeat("0", 64), logoAddress + "0", logoAddress[:len(logoAddress)-2], "/logos/" + strings.Repeat("g", 64)} {
		none := b.get(path)
		assert.Equal(t, http.StatusNotFound, none.StatusCode, path)
		assert.Equal(t, "no-store", none.Header.Get("Cache-Control"))
	}
}

// TestLogoBeforeItsReview verifies that a picture that was not reviewed is visible to its
// owner and reviewers only, and is not stored in shared caches.
func TestLogoBeforeItsReview(t *testing.T) {
	w, root := administration(t)
	ada, bob, nobody := w.signedIn(), w.signedInAs("bob"), w.browser()
	w.withLogo("waiting")
	waits := func(address string) {
		t.Helper()
		for _, b := range []*browser{nobody, bob} {
			res := b.get(address)
			assert.Equal(t, http.StatusNotFound, res.StatusCode)
			assert.Equal(t, "no-store", res.Header.Get("Cache-Control"))
		}
		for _, b := range []*browser{ada, root} {
			res := b.get(address)
			assert.Equal(t, http.StatusOK, res.StatusCode)
			assert.Equal(t, "no-store", res.Header.Get("Cache-Control"))
			assert.Equal(t, "same-origin", res.Header.Get("Cross-Origin-Resource-Policy"))
			assert.Empty(t, b.send(http.MethodHead, address, nil, nil).body)
		}
	}
	waits(logoAddress)
	assert.Contains(t, root.get(waitingPage).body, `src="`+logoAddress+`"`)
	assert.Contains(t, ada.get("/developer/clients/waiting").body, `src="`+logoAddress+`"`)
	w.must(&ledger.OfferClient{Actor: ledger.Actor{Operator: true}, ID: "waiting", Username: "bob"})
	assert.NotContains(t, bob.get("/developer/offers/waiting").body, "/logos/", "the recipient of an offer is not the owner yet")

	root.done(root.press(waitingPage, waitingPage+"/review", "verdict", "approve"))
	assert.Equal(t, "public, max-age=31536000, immutable", nobody.get(logoAddress).Header.Get("Cache-Control"))
	assert.Contains(t, bob.get("/developer/offers/waiting").body, `src="`+logoAddress+`"`)

	// Another logo is proposed for a client in use.
	next := drawn(48, 48)
	address := "/logos/" + hex.EncodeToString(digestOf(next))
	ada = w.signedIn()
	p := w.clientRow("calendar").Profile
	p.Logo = digestOf(next)
	w.must(&ledger.EditClient{
		Actor: ledger.Actor{Session: credential.SessionDigest(ada.session())}, ID: "calendar", Revision: w.clientRow("calendar").Revision, Profile: p, Logo: next,
	})
	waits(address)
	assert.Contains(t, root.get(calendarPage).body, `src="`+address+`"`)
	assert.NotContains(t, bob.get(at(good())).body, "/logos/", "the consent page must not show it")
	w.must(&ledger.OfferClient{Actor: ledger.Actor{Operator: true}, ID: "calendar", Username: "bob"})
	offer := bob.get("/developer/offers/calendar").body
	assert.NotContains(t, offer, "/logos/")
	assert.Contains(t, offer, "<ins><b>After:</b> <bdi>a picture that nobody has reviewed</bdi></ins>")

	root.done(root.press(calendarPage, calendarPage+"/review", "verdict", "reject", "reason", "No."))
	waits(address)
	root.done(root.press(calendarPage+"/suspend", calendarPage+"/suspend"))
	assert.Equal(t, http.StatusOK, nobody.get(logoAddress).StatusCode, "the logo of the client waiting")
}

// TestLogoIsMadeAnew verifies that only the pixels of a picture are kept.
func TestLogoIsMadeAnew(t *testing.T) {
	const hidden = "<script>alert('hidden')</script>PK\x03\x04"
	chunk := func(kind string) string {
		body := kind + hidden
		return string(binary.BigEndian.AppendUint32(nil, uint32(len(hidden)))) + body +
			string(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(body))))
	}
	plain, jpg := string(drawn(32, 32)), string(photo(32, 32))
	for name, test := range map[string]struct{ file, kept string }{
		"a chunk of text":     {plain[:33] + chunk("tEXt") + plain[33:], plain},
		"an animation":        {plain[:33] + chunk("acTL") + plain[33:], plain},
		"after a PNG":         {plain + hidden, plain},
		"a comment of a JPEG": {jpg[:2] + "\xff\xfe\x00" + string(rune(len(hidden)+2)) + hidden + jpg[2:], jpg},
		"after a JPEG":        {jpg + hidden, jpg},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			b := w.signedIn()
			form := b.get(newPath).form(t, newPath)
			maps.Copy(form, profileOf("New", callback, "BOOKING_READ"))
			form.Set("type", "public")
			res := b.postParts(newPath, form, part{"logo", "x", test.file})
			require.Equal(t, http.StatusSeeOther, res.StatusCode, res.body)
			id := strings.TrimPrefix(strings.Split(res.Header.Get("Location"), "?")[0], "/developer/clients/")
			served := b.get("/logos/" + hex.EncodeToString(w.clientRow(id).Logo))
			require.Equal(t, http.StatusOK, served.StatusCode)
			assert.Equal(t, test.kept, served.body)
		})
	}
}

// TestLogoThatGrows covers a picture that fits as uploaded but not when it is encoded again.
func TestLogoThatGrows(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	noise := image.NewGray(image.Rect(0, 0, 256, 256))
	state := uint32(1)
	for i := range noise.Pix {
		state = state*1664525 + 1013904223
		noise.Pix[i] = byte(state >> 24)
	}
	var rough bytes.Buffer
	require.NoError(t, jpeg.Encode(&rough, noise, &jpeg.Options{Quality: 5}))
	require.Less(t, rough.Len(), ledger.MaxLogo)
	form := b.get(newPath).form(t, newPath)
	maps.Copy(form, profileOf("New", callback, "BOOKING_READ"))
	form.Set("type", "public")
	res := b.postParts(newPath, form, part{"logo", "x.jpg", rough.String()})
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.body, "Logo has too much detail for 16 KB")
}

func TestOwnClients(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	for i := range 60 {
		w.client(fmt.Sprintf("a-client-with-a-long-id-%02d", i), func(c *ledger.ImportClient) {
			c.Profile.Name = fmt.Sprintf("App %02d %s", i, strings.Repeat("&<long", 6))
		})
	}
	names := regexp.MustCompile(`<bdi>App (\d\d)`)
	var all []string
	next := "/developer"
	for range 5 {
		page := b.get(next)
		for _, m := range names.FindAllStringSubmatch(page.body, -1) {
			all = append(all, m[1])
		}
		m := regexp.MustCompile(`<a class="button small" href="([^"]*)" rel="next">`).FindStringSubmatch(page.body)
		if m == nil {
			assert.Contains(t, page.body, `<a class="button small" href="/developer">First</a>`)
			break
		}
		next = m[1]
	}
	assert.Len(t, all, 60)
	assert.IsIncreasing(t, all)
	found := b.get("/developer?q=app+17")
	assert.Len(t, names.FindAllString(found.body, -1), 1)
	assert.Contains(t, b.get("/developer?q=nothing+like+it").body, "None on this page.")
	w.user("u-bob", "bob", "Bob")
	assert.Contains(t, w.signedInAs("bob").get("/developer").body, "You have no applications yet")
}

func TestDelete(t *testing.T) {
	w, b := mine(t, func(c *ledger.ImportClient) { c.Profile.Name = "My  app" })
	path := minePath + "/delete"
	form := b.get(path).form(t, path)
	wrong := b.post(path, with(form, "name", "My ap"))
	assert.Equal(t, http.StatusUnprocessableEntity, wrong.StatusCode)
	assert.Contains(t, wrong.body, "Name of the application is not what you typed.")
	assert.Equal(t, ledger.Approved, w.View().Client("mine").State)

	w.must(&ledger.ReviewClient{Actor: ledger.Actor{Operator: true}, ID: "mine", Verdict: ledger.Suspend, Revision: 1})
	form.Set("name", " My app ")
	moved := b.post(path, form)
	assert.Equal(t, http.StatusConflict, moved.StatusCode)
	assert.Equal(t, ledger.Suspended, w.View().Client("mine").State)
	form = with(moved.form(t, path), "name", "My app")
	res := b.post(path, form)
	assert.Contains(t, b.follow(res).body, "The application was deleted.")
	assert.Equal(t, ledger.Deleted, w.View().Client("mine").State)
	assert.Equal(t, res.Header.Get("Location"), b.post(path, form).Header.Get("Location"), "the same form twice")
	assert.Equal(t, http.StatusNotFound, b.get(minePath).StatusCode)
	assert.NotContains(t, b.get("/developer").body, "My  app")
}

func TestTransfer(t *testing.T) {
	w, b := mine(t, nil)
	w.user("u-bob", "bob", "Bob")
	bob := w.signedInAs("bob")
	path, offer := minePath+"/transfer", "/developer/offers/mine"
	for name, says := range map[string]string{"": "Username is missing", "nobody": "There is no user of that name", "ADA": "Username owns it already"} {
		res := b.submit(path, path, "username", name)
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
		assert.Contains(t, res.body, says+".")
	}
	assert.Equal(t, http.StatusNotFound, bob.get(offer).StatusCode)
	res := b.submit(path, path, "username", "Bob")
	assert.Contains(t, b.follow(res).body, "The offer was made.")
	assert.Contains(t, b.get(path).body, "You offered this application to <b><bdi>bob</bdi></b>")

	assert.Contains(t, bob.get("/developer").body, `href="/developer/offers/mine">See the offer<span class="unseen"> of The mine app</span></a>`)
	assert.Contains(t, bob.get(offer).body, "<bdi>Ada Lovelace (ada)</bdi> offers you this application.")
	declined := bob.submit(offer, offer+"/decline")
	assert.Contains(t, bob.follow(declined).body, "You declined the application.")
	assert.NotContains(t, bob.get("/developer").body, "Offered to you")
	assert.NotContains(t, b.get(path).body, "You offered")

	b.submit(path, path, "username", "bob")
	old := bob.get(offer).form(t, offer+"/accept")
	form := b.get(path).form(t, path+"/withdraw")
	for range 2 {
		assert.Contains(t, b.follow(b.post(path+"/withdraw", form)).body, "The offer was withdrawn.")
	}
	assert.Equal(t, http.StatusNotFound, bob.post(offer+"/accept", old).StatusCode)

	b.submit(path, path, "username", "bob")
	w.withLogo("mine")
	moved := bob.post(offer+"/accept", old)
	assert.Equal(t, http.StatusConflict, moved.StatusCode, "the application changed after the page was shown")
	form = moved.form(t, offer+"/accept")
	for range 2 {
		assert.Contains(t, bob.follow(bob.post(offer+"/accept", form)).body, "The application is yours now.")
	}
	assert.Equal(t, http.StatusNotFound, b.get(minePath).StatusCode)
	assert.Equal(t, "u-bob", w.View().Client("mine").Owner)
	assert.Len(t, w.View().Client("mine").Secrets, 2, "secrets must stay")
}

// TestOffers verifies that offers of disabled owners are not shown, and that all others
// can be reached.
func TestOffers(t *testing.T) {
	w := newEnv(t)
	operator := ledger.Actor{Operator: true}
	w.user("u-bob", "bob", "Bob")
	w.user("u-mallory", "mallory", "Mallory")
	offer := func(id, owner string) {
		w.client(id, func(c *ledger.ImportClient) { c.Owner = owner })
		w.must(&ledger.OfferClient{Actor: operator, ID: id, Username: "bob"})
	}
	for i := range 60 {
		offer(fmt.Sprintf("junk-%02d", i), "u-mallory")
	}
	offer("wanted", "u-ada")
	w.user("u-bobby", "bobby", "Bobby")
	w.client("zed", nil)
	w.must(&ledger.OfferClient{Actor: operator, ID: "zed", Username: "bobby"})

	bob := w.signedInAs("bob")
	list := bob.get("/developer")
	assert.Equal(t, 10, strings.Count(list.body, `href="/developer/offers/`))
	assert.Contains(t, list.body, `<a href="/developer/offers">Show all`)
	seen, next := "", "/developer/offers"
	for next != "" {
		page := bob.get(next)
		require.Equal(t, http.StatusOK, page.StatusCode)
		seen += page.body
		_, rest, _ := strings.Cut(page.body, `href="/developer/offers?after=`)
		after, _, more := strings.Cut(rest, `" rel="next"`)
		if next = ""; more && !strings.Contains(after, "<") {
			next = "/developer/offers?after=" + after
		}
	}
	assert.Equal(t, 61, strings.Count(seen, `<a href="/developer/offers/`), "each offer once")
	assert.Contains(t, seen, `<a href="/developer/offers/wanted"><bdi>The wanted app</bdi></a></th><td data-name="Owner"><bdi>Ada Lovelace (ada)</bdi>`)
	back := bob.get("/developer/offers?before=wanted").body
	assert.Contains(t, back, "/developer/offers/junk-59")
	assert.NotContains(t, back, "/developer/offers/wanted")

	const junk = "/developer/offers/junk-00"
	form := bob.get(junk).form(t, junk+"/accept")
	w.must(&ledger.SetUserState{Actor: operator, User: "u-mallory", State: ledger.Disable})
	assert.Equal(t, http.StatusNotFound, bob.post(junk+"/accept", form).StatusCode)
	assert.Equal(t, http.StatusNotFound, bob.get(junk).StatusCode)
	assert.Equal(t, "u-mallory", w.View().Client("junk-00").Owner)
	list = bob.get("/developer")
	assert.Contains(t, list.body, "/developer/offers/wanted")
	assert.NotContains(t, list.body, "/developer/offers/junk")
	assert.NotContains(t, list.body, "Show all")
}

// TestTransferOfAPublicClient verifies that secrets are not mentioned for a public client.
func TestTransferOfAPublicClient(t *testing.T) {
	w, b := mine(t, func(c *ledger.ImportClient) { c.Type, c.Secrets = ledger.Public, nil })
	w.user("u-bob", "bob", "Bob")
	bob := w.signedInAs("bob")
	path, offer := minePath+"/transfer", "/developer/offers/mine"
	assert.NotContains(t, b.get(path).body, "secret")
	b.submit(path, path, "username", "bob")
	assert.NotContains(t, bob.get(offer).body, "Its secrets")
	after := bob.follow(bob.submit(offer, offer+"/accept")).body
	assert.Contains(t, after, "The application is yours now.")
	assert.NotContains(t, after, "its secrets")
}

// TestOffersTellNoNames verifies that making an offer reveals only whether a user name
// exists, and only for a limited number of names.
func TestOffersTellNoNames(t *testing.T) {
	w, b := mine(t, nil)
	w.user("u-bob", "bob", "Robert de Somewhere")
	w.user("u-gone", "gone", "Gone")
	w.must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-gone", State: ledger.Disable})
	path := minePath + "/transfer"
	bodies := map[string]bool{}
	for _, name := range []string{"gone", "none"} {
		res := b.submit(path, path, "username", name)
		bodies[strings.ReplaceAll(res.body, name, "")] = true
	}
	assert.Len(t, bodies, 1, "a disabled user must look like an unknown one")
	require.Equal(t, http.StatusSeeOther, b.submit(path, path, "username", "bob").StatusCode)
	for _, page := range []string{minePath, path} {
		assert.Contains(t, b.get(page).body, "<bdi>bob</bdi>")
		assert.NotContains(t, b.get(page).body, "Robert")
		assert.NotContains(t, b.get(page).body, "@example.com")
	}
	for range 7 {
		require.Equal(t, http.StatusUnprocessableEntity, b.submit(path, path, "username", "guess").StatusCode)
	}
	other := w.signedIn() // the same user
	for _, name := range []string{"guess", "bob"} {
		res := other.submit(path, path, "username", name)
		assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
		assert.Equal(t, "60", res.Header.Get("Retry-After"))
		assert.Contains(t, res.body, "You have made many offers.")
		assert.Contains(t, res.body, `value="`+name+`"`, "input must be kept")
	}
	w.advance(time.Minute)
	assert.Equal(t, http.StatusUnprocessableEntity, other.submit(path, path, "username", "guess").StatusCode)
}

// TestChangesAreBounded verifies that the number of forms of one user is limited, so that
// nobody displaces the events of others from the audit trail.
func TestChangesAreBounded(t *testing.T) {
	t.Parallel()
	w, b := mine(t, nil)
	edit := minePath + "/edit"
	before := w.index
	send := func(i int) answer {
		form := b.get(edit).form(t, edit)
		maps.Copy(form, profileOf(fmt.Sprint("Name ", i), callback, "BOOKING_READ"))
		return b.post(edit, form)
	}
	i := 0
	for send(i).StatusCode == http.StatusSeeOther && i < 1000 {
		i++
	}
	assert.Equal(t, 200, i)
	assert.LessOrEqual(t, w.index-before, uint64(200))
	res := send(i)
	assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
	assert.Equal(t, "20", res.Header.Get("Retry-After"))
	assert.Equal(t, http.StatusSeeOther, b.post("/auth/sign-out", b.get("/").form(t, "/auth/sign-out")).StatusCode, "signing out is not limited")
	w.advance(20 * time.Second)
	b = w.signedIn()
	assert.Equal(t, http.StatusSeeOther, send(i).StatusCode)
}

// TestLogoOfManyScans: a small picture may take long to decode, since each scan of a
// progressive JPEG covers all pixels.
func TestLogoOfManyScans(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	plain := photo(32, 32)
	scans := bytes.Repeat([]byte{0xff, 0xda, 0x00, 0x08, 0x01, 0x01, 0x00, 0x01, 0x3f, 0x00, 0x7f, 0xff}, 1000)
	file := slices.Concat(plain[:len(plain)-2], scans, plain[len(plain)-2:])
	require.Less(t, len(file), ledger.MaxLogo)
	form := b.get(newPath).form(t, newPath)
	maps.Copy(form, profileOf("New", callback, "BOOKING_READ"))
	form.Set("type", "public")
	res := b.postParts(newPath, form, part{"logo", "x.jpg", string(file)})
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.body, "has more layers than a picture needs")
	assert.Equal(t, http.StatusSeeOther, b.postParts(newPath, form, part{"logo", "x.jpg", string(plain)}).StatusCode)
}

// TestDeveloperOnALaggingNode verifies that a node uses a fresh view before it responds 404.
func TestDeveloperOnALaggingNode(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	w.lag()
	w.client("mine", nil)
	assert.Equal(t, http.StatusOK, b.get(minePath).StatusCode)
	w.noLeader = true
	assert.Equal(t, http.StatusServiceUnavailable, b.get(minePath).StatusCode)
	assert.Equal(t, http.StatusOK, b.get("/developer").StatusCode)
}
