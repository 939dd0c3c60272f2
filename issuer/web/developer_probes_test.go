package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestDeveloperProbesStayText verifies that texts of developers, reviewers and addresses
// are escaped on every page.
func TestDeveloperProbesStayText(t *testing.T) {
	const probe = `"'><script>alert(1)</script><img src=x onerror=alert(1)>{{.}}<!--`
	const address = "https://x.example/?'onmouseover='alert(1)&javascript:alert(1)"
	w, b := mine(t, func(c *ledger.ImportClient) {
		c.Profile.Name, c.Profile.Purpose = probe, probe
		c.Profile.Website, c.Profile.RedirectURIs = address, []string{address, callback}
		c.Legacy, c.Profile.Scopes = true, nil
	})
	w.user("u-bob", "bob", probe)
	bob := w.signedInAs("bob")
	edit := minePath + "/edit"
	form := b.get(edit).form(t, edit)
	for name, list := range profileOf(probe+"2", address+"2") {
		form[name] = list
	}
	form.Set("purpose", probe+"2")
	require.Equal(t, http.StatusSeeOther, b.post(edit, form).StatusCode)
	w.must(&ledger.ReviewClient{Actor: ledger.Actor{Operator: true}, ID: "mine", Verdict: ledger.Suspend, Reason: probe, Revision: 2})
	require.Equal(t, http.StatusSeeOther, b.submit(minePath+"/transfer", minePath+"/transfer", "username", "bob").StatusCode)

	query := "?" + url.Values{
		"q": {probe}, "after": {probe}, "done": {probe}, "error_id": {probe}, "scopes": {probe, "BOOKING_READ"},
	}.Encode()
	request := at(with(good(), "client_id", "mine", "redirect_uri", address+probe))
	pages := map[string]answer{"the error page": b.get(request), "the offer": bob.get("/developer/offers/mine" + query), "bob's": bob.get("/developer")}
	for _, path := range []string{
		"/developer", newPath, minePath, edit, minePath + "/secrets", minePath + "/connect", minePath + "/errors",
		minePath + "/users", minePath + "/migration", minePath + "/transfer", minePath + "/delete",
	} {
		pages[path] = b.get(path + query)
	}
	bad := with(form, "name", probe, "website", probe, "type", probe, "scopes", probe, "redirect_uris", probe, "revision", "3")
	pages["an edit"] = b.post(edit, with(bad, "token", b.get(edit).form(t, edit).Get("token")))
	created := b.get(newPath).form(t, newPath)
	pages["a registration"] = b.post(newPath, with(bad, "token", created.Get("token"), "client", created.Get("client")))
	pages["a transfer"] = b.submit(minePath+"/transfer", minePath+"/transfer", "username", probe)
	pages["a deletion"] = b.submit(minePath+"/delete", minePath+"/delete", "name", probe+"!")
	for name, page := range pages {
		assert.Contains(t, []int{200, 403, 422}, page.StatusCode, name)
		for _, s := range []string{"<script", "<img src=x", "onerror=alert(1)>", "'onmouseover='alert", `href="javascript`, "<!--"} {
			assert.NotContains(t, strings.ReplaceAll(withoutScript(page.body), "&#39;", "’"), s, name)
		}
	}
}
