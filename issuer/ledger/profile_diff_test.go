package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func TestDifferences(t *testing.T) {
	before := ledger.Profile{
		Name: "App", Purpose: "To test.", Website: "https://app.example",
		RedirectURIs: []string{"https://app.example/1", "https://app.example/2"}, Scopes: []string{"PROFILE_READ", "BOOKING_READ"}, Logo: []byte{1, 2},
	}
	tests := map[string]struct {
		edit func(*ledger.Profile)
		want []ledger.Difference
	}{
		"nothing": {func(*ledger.Profile) {}, nil},
		"name":    {func(p *ledger.Profile) { p.Name = "Bpp" }, []ledger.Difference{{Field: "name", Before: "App", After: "Bpp"}}},
		"purpose": {func(p *ledger.Profile) { p.Purpose = "" }, []ledger.Difference{{Field: "purpose", Before: "To test."}}},
		"website": {func(p *ledger.Profile) { p.Website = "https://a" }, []ledger.Difference{{Field: "website", Before: "https://app.example", After: "https://a"}}},
		"privacy": {func(p *ledger.Profile) { p.PrivacyURL = "https://p" }, []ledger.Difference{{Field: "privacy_url", After: "https://p"}}},
		"terms":   {func(p *ledger.Profile) { p.TermsURL = "https://t" }, []ledger.Difference{{Field: "terms_url", After: "https://t"}}},
		"a logo":  {func(p *ledger.Profile) { p.Logo = []byte{0xff} }, []ledger.Difference{{Field: "logo", Before: "0102", After: "ff"}}},
		"no logo": {func(p *ledger.Profile) { p.Logo = nil }, []ledger.Difference{{Field: "logo", Before: "0102"}}},
		"redirect URIs": {
			func(p *ledger.Profile) {
				p.RedirectURIs = []string{"https://app.example/3", "https://app.example/2"}
			},
			[]ledger.Difference{{
				Field: "redirect_uris",
				Added: []string{"https://app.example/3"}, Removed: []string{"https://app.example/1"}, Kept: []string{"https://app.example/2"},
			}},
		},
		"their order": {
			func(p *ledger.Profile) {
				p.RedirectURIs = []string{"https://app.example/2", "https://app.example/1"}
			},
			[]ledger.Difference{{Field: "redirect_uris", Kept: []string{"https://app.example/2", "https://app.example/1"}}},
		},
		"two fields, in order": {
			func(p *ledger.Profile) { p.Scopes, p.Name = nil, "" },
			[]ledger.Difference{{Field: "name", Before: "App"}, {Field: "scopes", Removed: []string{"PROFILE_READ", "BOOKING_READ"}}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			after := before
			test.edit(&after)
			require.Equal(t, test.want, ledger.Differences(&before, &after))
		})
	}
}
