package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A person is told everything at once, in the order of the page.
func TestProfileFaults(t *testing.T) {
	fields := func(p ledger.Profile, of ledger.ClientType, least int) (list []string) {
		for _, r := range ledger.ProfileFaults(&p, of, least) {
			assert.Equal(t, ledger.BadField == r.Cause, r.Cause != ledger.TooManyURIs)
			list = append(list, r.Field+" "+r.Note)
		}
		return list
	}
	good := ledger.Profile{Name: "x", RedirectURIs: []string{"https://a.example/"}, Scopes: []string{"BOOKING_READ,PROFILE_READ"}}
	assert.Empty(t, fields(good, ledger.Confidential, 2), "commas separate scopes too")
	assert.Equal(t, []string{
		"name is empty", "purpose holds a control character", "website must begin with https:// or http://",
		"redirect_uris[0] is not an absolute URI", "redirect_uris[2] is there twice", "scopes names a scope that does not exist",
	}, fields(ledger.Profile{
		Purpose: "a\nb", Website: "x", RedirectURIs: []string{"x", "https://a.example/", "https://a.example/"}, Scopes: []string{"X"},
	}, ledger.Confidential, 1))
	assert.Equal(t, []string{"redirect_uris needs at least one", "scopes needs at least one"}, fields(ledger.Profile{Name: "x"}, ledger.Public, 1))
	assert.Empty(t, fields(ledger.Profile{Name: "x", RedirectURIs: []string{"com.example.app:/cb"}}, ledger.Public, 0))
	assert.Len(t, fields(ledger.Profile{Name: "x", RedirectURIs: make([]string, 11)}, ledger.Public, 0), 12)
}
