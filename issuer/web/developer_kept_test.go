package web_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// What older rules let in goes on and may stay in an edit. Nothing of the kind is
// added.
func TestFieldsOfOlderRules(t *testing.T) {
	w := newWorld(t)
	const uri, website, edit = "https://app.example.com/cb?state=mine", "https://café.example.com/", "/developer/clients/aged/edit"
	w.longAgo(&ledger.ImportClient{
		ID: "aged", Owner: "u-ada", Type: ledger.Public, State: ledger.Approved,
		Profile: ledger.Profile{Name: "Calen\u00addar", Website: website, RedirectURIs: []string{uri}, Scopes: []string{"BOOKING_READ"}},
	})
	ada := w.signedIn()
	consent := ada.get(at(with(good(), "client_id", "aged", "redirect_uri", uri, "scope", "BOOKING_READ")))
	assert.Equal(t, http.StatusSeeOther, ada.decide(consent, "allow").StatusCode)

	form := ada.get(edit).form(t, edit)
	form["name"], form["website"] = []string{"Calen\u00addar"}, []string{website}
	form["redirect_uris"], form["scopes"] = []string{uri, "https://x.example'/cb"}, []string{"BOOKING_READ"}
	res := ada.post(edit, form)
	require.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, res.body)
	assert.Contains(t, res.body, "has a host with other than letters")
	form["redirect_uris"] = []string{uri, callback + "?code=1"}
	res = ada.post(edit, form)
	assert.Contains(t, res.body, "has the parameter code in its query, which the answer adds")
	assert.NotContains(t, res.body, "has the parameter state")
	assert.NotContains(t, res.body, "nobody sees")

	form["redirect_uris"] = []string{uri, callback}
	require.Equal(t, http.StatusSeeOther, ada.post(edit, form).StatusCode)
	assert.Equal(t, []string{uri, callback}, w.View().Client("aged").Proposed.RedirectURIs)
}
