package web

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var fieldTitles = map[string]string{
	"name": "Name", "purpose": "Purpose", "website": "Website", "privacy_url": "Privacy policy", "terms_url": "Terms", "logo": "Logo",
	"redirect_uris": "Redirect URIs", "scopes": "Scopes",
}

// differences returns the fields of after that somebody who knows before has to review.
func differences(before, after *ledger.Profile) []ui.Difference {
	var list []ui.Difference
	for _, d := range ledger.Differences(before, after) {
		one := ui.Difference{
			Title: fieldTitles[d.Field], Before: d.Before, After: d.After,
			Removed: d.Removed, Added: d.Added, Kept: d.Kept,
		}
		if d.Field == "logo" {
			one.Logo, one.Before, one.After = true, logoPath(before.Logo), logoPath(after.Logo)
		}
		list = append(list, one)
	}
	return list
}

// hideLogos replaces the pictures with texts, for a user who may not see the proposed logo.
func hideLogos(d *ui.Difference) {
	if !d.Logo {
		return
	}
	d.Logo = false
	if d.Before != "" {
		d.Before = "another picture"
	}
	if d.After != "" {
		d.After = "a picture that nobody has reviewed"
	}
}
