package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Pages stay light for an application that has as much of everything as it may
// have, with addresses as long as they are in life; the browser of these tests
// weighs each.
func TestDeveloperPagesAreLight(t *testing.T) {
	var uris, all []string
	for i := range ledger.MaxRedirectURIs {
		uris = append(uris, fmt.Sprintf("https://www.some-application.example.com/integrations/scheduling/%d/oauth/callback", i))
	}
	for _, s := range scope.Catalogue() {
		all = append(all, s.Name)
	}
	w, b := mine(t, func(c *ledger.ImportClient) {
		c.Profile.Name, c.Profile.Purpose = strings.Repeat("N", 80), strings.Repeat("P", 500)
		c.Profile.RedirectURIs, c.Profile.Scopes = uris, all
	})
	edit := minePath + "/edit"
	form := b.get(edit).form(t, edit)
	for name, list := range profileOf(strings.Repeat("M", 80), callback, all...) {
		form[name] = list
	}
	form["redirect_uris"] = append(form["redirect_uris"], uris[:9]...)
	form.Set("purpose", strings.Repeat("Q", 500))
	require.Equal(t, http.StatusSeeOther, b.post(edit, form).StatusCode)
	require.NotNil(t, w.View().Client("mine").Proposed)
	for _, path := range []string{"", "/edit", "/secrets", "/connect", "/errors", "/users", "/transfer", "/delete"} {
		page := b.get(minePath + path)
		assert.Equal(t, http.StatusOK, page.StatusCode, path)
		t.Log(path, len(page.body))
	}
	for i := range 60 {
		w.client(fmt.Sprintf("mmc_%032d", i), func(c *ledger.ImportClient) { c.Profile.Name = fmt.Sprintf("%02d%s", i, strings.Repeat("x", 78)) })
	}
	t.Log(len(b.get("/developer").body))
}

// Pages are made in less than 10 ms where there are 10,000 clients. The limit is
// wider, for machines that do other things and for the race detector: a page
// that walked the table would take longer than that.
func TestDeveloperIsFast(t *testing.T) {
	w := newWorld(t)
	w.user("u-bob", "bob", "Bob")
	for i := range 10_000 {
		w.client(fmt.Sprintf("c-%05d", i), func(c *ledger.ImportClient) {
			c.Profile.Name = fmt.Sprintf("Application %d", i)
			if i%20 != 0 {
				c.Owner = "u-bob"
			}
		})
	}
	b := w.signedIn()
	for _, path := range []string{"/developer", "/developer?q=99", "/developer/clients/c-00020", "/developer/clients/c-00020/edit"} {
		best := time.Hour
		for range 10 {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			require.NoError(t, err)
			began := time.Now()
			b.serve(r)
			best = min(best, time.Since(began))
		}
		t.Log(path, best)
		assert.Less(t, best, 50*time.Millisecond, path)
	}
}
