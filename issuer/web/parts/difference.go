package parts

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// FieldTitles are the titles of the fields of a profile, by their names in the ledger.
var FieldTitles = map[string]string{
	"name": "Name", "purpose": "Purpose", "website": "Website", "privacy_url": "Privacy policy", "terms_url": "Terms", "logo": "Logo",
	"redirect_uris": "Redirect URIs", "scopes": "Scopes",
}

// Differences returns the fields of after that somebody who knows before has to review.
func Differences(before, after *ledger.Profile) []ui.Difference {
	var list []ui.Difference
	for _, d := range ledger.Differences(before, after) {
		one := ui.Difference{
			Title: FieldTitles[d.Field], Before: d.Before, After: d.After,
			Removed: d.Removed, Added: d.Added, Kept: d.Kept,
		}
		switch d.Field {
		case "scopes":
			one.Powerful = powerfulOf(d.Added)
		case "logo":
			one.Logo, one.Before, one.After = true, site.LogoPath(before.Logo), site.LogoPath(after.Logo)
		}
		list = append(list, one)
	}
	return list
}

// HideLogos replaces the pictures with texts, for a user who may not see the proposed logo.
func HideLogos(d *ui.Difference) {
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
