package developer_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// previewed returns the part of a page that previews the consent page.
func previewed(page Answer) string {
	_, text, _ := strings.Cut(page.Text, `<aside id="preview"`)
	text, _, _ = strings.Cut(text, "</aside>")
	return text
}

// TestPreview verifies that the preview shows what the form has, and that its button changes
// nothing and keeps the input, valid or not.
func TestPreview(t *testing.T) {
	w, b := Mine(t, nil)
	edit := MinePath + "/edit"
	state := w.Index
	for page, about := range map[string]url.Values{NewPath: {"type": {"public"}}, edit: {}} {
		form := b.Get(page).Form(t, page)
		assert.NotContains(t, form, "preview")
		for _, fields := range []url.Values{ProfileOf("Zeta <Planner>", Callback, "BOOKING_READ"), about, {
			"purpose": {"Plans meetings."}, "website": {"https://zeta.example.com/about"}, "preview": {"Preview"},
		}} {
			for name, list := range fields {
				form[name] = list
			}
		}
		res := b.PostParts(page, form, Part{Name: "logo", File: "logo.png", Content: string(Drawn(64, 64))})
		assert.Equal(t, http.StatusOK, res.StatusCode)
		assert.Equal(t, "private, no-cache", res.Header.Get("Cache-Control"), "the back button must show the page")
		for _, text := range []string{
			`<bdi id="preview-name">Zeta &lt;Planner&gt;</bdi> wants access`, "Plans meetings.", "Ada Lovelace", "zeta.example.com",
			"You’ll be returned to <b>app.example.com</b>",
		} {
			assert.Contains(t, previewed(res), text)
		}
		assert.Contains(t, res.Text, `value="BOOKING_READ" checked`)
		assert.Contains(t, res.Text, "Choose it again before you submit")
		assert.NotContains(t, res.Text, `role="alert"`)

		form["redirect_uris"] = []string{Callback, "", ""} // browsers send the empty inputs too
		shown, _, _ := strings.Cut(b.Post(page, form).Text, "<summary>More redirect URIs")
		assert.Equal(t, 1, strings.Count(shown, `name="redirect_uris"`))
		form.Set("redirect_uris", "javascript:alert(1)")
		form.Set("website", "x")
		res = b.Post(page, form)
		assert.Equal(t, http.StatusOK, res.StatusCode)
		assert.NotContains(t, previewed(res), "alert(1)")
		form.Del("preview")
		assert.Equal(t, http.StatusUnprocessableEntity, b.Post(page, form).StatusCode)
	}
	assert.Equal(t, state, w.Index)
	assert.Contains(t, previewed(b.Get(NewPath)), "Press Preview to see the scopes that you choose.")
}
