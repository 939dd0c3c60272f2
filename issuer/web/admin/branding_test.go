package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

const brandingPath = "/admin/branding"

// TestBranding goes from the form by the draft, which nobody else sees, to what all pages show.
func TestBranding(t *testing.T) {
	w := NewEnv(t)
	w.Must(&ledger.PutUser{ID: "u-root", Username: "root", Password: PasswordHash(), Admin: true})
	root := w.SignedInAs("root")
	page := root.Get(brandingPath)
	require.Equal(t, http.StatusOK, page.StatusCode)
	assert.Contains(t, page.Text, "As published")
	for _, used := range []string{"Mintmark", "#0b6b50", "Ask an administrator of Mintmark."} {
		assert.Contains(t, page.Text, `placeholder="`+used+`"`)
	}
	assert.NotContains(t, page.Text, ">Publish<")
	form := With(page.Form(t, brandingPath), "service_name", "Zeta & Co", "accent", "#4338CA", "forgot_password", "Ask\r\nRita.", "privacy_url", "https://zeta.example/privacy")
	res := root.Post(brandingPath, form)
	require.Equal(t, http.StatusSeeOther, res.StatusCode, res.Text)
	require.Equal(t, http.StatusSeeOther, root.Post(brandingPath, form).StatusCode, "the same form again")
	s := w.View().Settings()
	assert.Equal(t, ledger.Brand{Name: "Zeta & Co", Accent: "#4338ca", Forgot: "Ask Rita.", PrivacyURL: "https://zeta.example/privacy"}, s.Draft)
	assert.Zero(t, s.Brand)

	page = root.Get(brandingPath)
	for _, text := range []string{"Preview of the draft", "Draft not published", "Zeta &amp; Co", "Ask Rita.", `<link rel="stylesheet" href="/admin/branding/draft.css">`, "Least contrast"} {
		assert.Contains(t, page.Text, text)
	}
	style := root.Get("/admin/branding/draft.css")
	assert.Equal(t, "text/css; charset=utf-8", style.Header.Get("Content-Type"))
	assert.Contains(t, style.Text, ":is(.card,.top){--accent:#4338ca;")
	assert.Contains(t, style.Text, ".swatch{background:#4338ca}")
	in := w.Browser().Get("/auth/sign-in").Text
	assert.NotContains(t, in, "Zeta")
	assert.NotContains(t, in, "brand-")

	// What everybody sees needs a recent sign-in.
	w.Advance(16 * time.Minute)
	stale := root.Get(brandingPath)
	assert.Contains(t, stale.Text, "Your password")
	res = root.Post(brandingPath+"/publish", stale.Form(t, brandingPath+"/publish"))
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Zero(t, w.View().Settings().Brand)
	publish := With(stale.Form(t, brandingPath+"/publish"), "own_password", Password)
	require.Equal(t, http.StatusSeeOther, root.Post(brandingPath+"/publish", publish).StatusCode)
	require.Equal(t, http.StatusSeeOther, root.Post(brandingPath+"/publish", publish).StatusCode, "the same form again")
	assert.Equal(t, s.Draft, w.View().Settings().Brand)
	assert.False(t, w.View().Settings().HasDraft)
	for _, b := range []*Browser{w.Browser(), root} {
		text := b.Get("/auth/sign-in").Text
		if b == root {
			text = b.Get("/").Text
		}
		assert.Contains(t, text, "Zeta &amp; Co</title>")
		assert.Regexp(t, `<link rel="stylesheet" href="/assets/style-[0-9a-f]+\.css">\n<link rel="stylesheet" href="/assets/brand-[0-9a-f]{16}\.css">`, text)
	}
}

// TestBrandingAsset: the stylesheet of the accent is immutable, and one of another accent is not
// kept.
func TestBrandingAsset(t *testing.T) {
	w := NewEnv(t)
	b := w.Browser()
	assert.Equal(t, http.StatusNotFound, b.Get("/assets/brand-0123456789abcdef.css").StatusCode)
	s := *w.View().Settings()
	s.Brand.Accent = "#4338ca"
	w.Must(&ledger.Configure{Settings: s})
	old := b.Get("/assets/brand-0123456789abcdef.css")
	assert.Equal(t, "no-cache", old.Header.Get("Cache-Control"))
	assert.Contains(t, old.Text, "#4338ca")
}

// TestBrandingRefusals shows problems at their fields, and what changed meanwhile.
func TestBrandingRefusals(t *testing.T) {
	w := NewEnv(t)
	w.Must(&ledger.PutUser{ID: "u-root", Username: "root", Password: PasswordHash(), Admin: true})
	root := w.SignedInAs("root")
	page := root.Get(brandingPath)
	res := root.Post(brandingPath, With(page.Form(t, brandingPath), "accent", "#ffcc00"))
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.Text, "Accent color #ffcc00 is too light for white text (1.5:1, needs 4.5:1). The closest that works is #907300.")
	assert.Contains(t, res.Text, `<button class="small" name="readable_accent" value="#907300">`)
	assert.False(t, w.View().Settings().HasDraft)
	assert.NotContains(t, root.Post(brandingPath, With(page.Form(t, brandingPath), "accent", "yellow")).Text, "readable_accent")

	s := *w.View().Settings()
	s.Brand.Name = "Meanwhile"
	w.Must(&ledger.Configure{Settings: s})
	res = root.Post(brandingPath, With(page.Form(t, brandingPath), "service_name", "Zeta"))
	assert.Equal(t, http.StatusConflict, res.StatusCode)
	assert.Contains(t, res.Text, `value="Zeta"`)
	res.StatusCode = http.StatusOK
	require.Equal(t, http.StatusSeeOther, root.Post(brandingPath, res.Form(t, brandingPath)).StatusCode, "for the current state")

	page = root.Get(brandingPath)
	discard := page.Form(t, brandingPath+"/discard")
	require.Equal(t, http.StatusSeeOther, root.Post(brandingPath+"/discard", discard).StatusCode)
	assert.False(t, w.View().Settings().HasDraft)
	assert.Equal(t, "Meanwhile", w.View().Settings().Brand.Name)
	assert.Contains(t, root.Get(root.Post(brandingPath+"/discard", discard).Header.Get("Location")).Text, "There is no draft any more")
	assert.Equal(t, http.StatusForbidden, root.Post(brandingPath, url.Values{}).StatusCode)
}

// TestBrandingReadableAccent verifies that the offered color replaces the one that it was offered for,
// and no other.
func TestBrandingReadableAccent(t *testing.T) {
	w := NewEnv(t)
	w.Must(&ledger.PutUser{ID: "u-root", Username: "root", Password: PasswordHash(), Admin: true})
	root := w.SignedInAs("root")
	for accent, want := range map[string]string{"#FFCC00": "#907300", "#4338ca": "#4338ca", "yellow": "", "#ffee00": ""} {
		form := With(root.Get(brandingPath).Form(t, brandingPath), "service_name", "Zeta", "accent", accent, "readable_accent", "#907300")
		res := root.Post(brandingPath, form)
		if want == "" {
			assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, accent)
			continue
		}
		require.Equal(t, http.StatusSeeOther, res.StatusCode, accent)
		assert.True(t, strings.HasSuffix(res.Header.Get("Location"), "#preview"))
		assert.Equal(t, ledger.Brand{Name: "Zeta", Accent: want}, w.View().Settings().Draft)
	}
}

// TestBrandingLogo: the logo of a draft is for administrators, until it is published.
func TestBrandingLogo(t *testing.T) {
	w := NewEnv(t)
	w.Must(&ledger.PutUser{ID: "u-root", Username: "root", Password: PasswordHash(), Admin: true})
	root := w.SignedInAs("root")
	picture := Drawn(32, 32)
	b := ledger.Brand{Logo: [32]byte(DigestOf(picture))}
	w.Must(&ledger.SetBrand{Actor: Operator, Step: ledger.BrandDraft, Brand: b, Logo: picture, ExpectedLast: w.View().Settings().Last})
	page := root.Get(brandingPath)
	assert.Contains(t, page.Text, `src="/logos/`)
	form := page.Form(t, brandingPath)
	form.Set("service_name", "Zeta")
	require.Equal(t, http.StatusSeeOther, root.Post(brandingPath, form).StatusCode)
	assert.Equal(t, b.Logo, w.View().Settings().Draft.Logo, "it stays unless it is removed")
	form = root.Get(brandingPath).Form(t, brandingPath)
	form.Set("no_logo", "yes")
	require.Equal(t, http.StatusSeeOther, root.Post(brandingPath, form).StatusCode)
	assert.Zero(t, w.View().Settings().Draft.Logo)
}
