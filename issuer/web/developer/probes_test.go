package developer_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestDeveloperProbesStayText verifies that texts of developers, reviewers and addresses
// are escaped on every page.
func TestDeveloperProbesStayText(t *testing.T) {
	const probe = `"'><script>alert(1)</script><img src=x onerror=alert(1)>{{.}}<!--`
	const address = "https://x.example/?'onmouseover='alert(1)&javascript:alert(1)"
	w, b := Mine(t, func(c *ledger.ImportClient) {
		c.Profile.Name, c.Profile.Purpose = probe, probe
		c.Profile.Website, c.Profile.RedirectURIs = address, []string{address, Callback}
		c.Legacy, c.Profile.Scopes = true, nil
	})
	w.User("u-bob", "bob", probe)
	bob := w.SignedInAs("bob")
	edit := MinePath + "/edit"
	form := b.Get(edit).Form(t, edit)
	for name, list := range ProfileOf(probe+"2", address+"2") {
		form[name] = list
	}
	form.Set("purpose", probe+"2")
	require.Equal(t, http.StatusSeeOther, b.Post(edit, form).StatusCode)
	w.Must(&ledger.ReviewClient{Actor: ledger.Actor{Operator: true}, ID: "mine", Verdict: ledger.Suspend, Reason: probe, Revision: 2})
	require.Equal(t, http.StatusSeeOther, b.Submit(MinePath+"/transfer", MinePath+"/transfer", "username", "bob").StatusCode)

	query := "?" + url.Values{
		"q": {probe}, "after": {probe}, "done": {probe}, "error_id": {probe}, "scopes": {probe, "BOOKING_READ"},
	}.Encode()
	request := At(With(Good(), "client_id", "mine", "redirect_uri", address+probe))
	pages := map[string]Answer{"the error page": b.Get(request), "the offer": bob.Get("/developer/offers/mine" + query), "bob's": bob.Get("/developer")}
	for _, path := range []string{
		"/developer", NewPath, MinePath, edit, MinePath + "/secrets", MinePath + "/connect", MinePath + "/errors",
		MinePath + "/users", MinePath + "/migration", MinePath + "/transfer", MinePath + "/delete",
	} {
		pages[path] = b.Get(path + query)
	}
	bad := With(form, "name", probe, "website", probe, "type", probe, "scopes", probe, "redirect_uris", probe, "revision", "3")
	pages["an edit"] = b.Post(edit, With(bad, "token", b.Get(edit).Form(t, edit).Get("token")))
	created := b.Get(NewPath).Form(t, NewPath)
	pages["a registration"] = b.Post(NewPath, With(bad, "token", created.Get("token"), "client", created.Get("client")))
	pages["a transfer"] = b.Submit(MinePath+"/transfer", MinePath+"/transfer", "username", probe)
	pages["a deletion"] = b.Submit(MinePath+"/delete", MinePath+"/delete", "name", probe+"!")
	for name, page := range pages {
		assert.Contains(t, []int{200, 403, 422}, page.StatusCode, name)
		for _, s := range []string{"<script", "<img src=x", "onerror=alert(1)>", `href="javascript`, "<!--"} {
			assert.NotContains(t, WithoutScript(page.Text), s, name)
		}
		assert.NotRegexp(t, `<[^<>]*'onmouseover='alert`, page.Text, "%s: code may have quotes, but no tag", name)
	}
}
