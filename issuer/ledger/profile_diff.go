package ledger

import (
	"encoding/hex"
	"slices"
)

// A Difference is a field in which two profiles differ.
type Difference struct {
	Field string // like Refusal.Field: name, purpose, website, privacy_url, terms_url, logo, redirect_uris or scopes

	// For a field with one value; for a logo, the digest in hexadecimal. "" means none.
	Before, After string
	// For a list, in the order that users chose. If only the order differs, all members
	// are in Kept.
	Added, Removed, Kept []string
}

// Differences returns the fields of after that somebody who knows before has to review, in
// the order in which pages show them.
func Differences(before, after *Profile) []Difference {
	var all []Difference
	text := func(field, a, b string) {
		if a != b {
			all = append(all, Difference{Field: field, Before: a, After: b})
		}
	}
	list := func(field string, a, b []string) {
		if !slices.Equal(a, b) {
			all = append(all, Difference{Field: field, Added: subtract(b, a), Removed: subtract(a, b), Kept: intersect(b, a)})
		}
	}
	text("name", before.Name, after.Name)
	text("purpose", before.Purpose, after.Purpose)
	text("website", before.Website, after.Website)
	text("privacy_url", before.PrivacyURL, after.PrivacyURL)
	text("terms_url", before.TermsURL, after.TermsURL)
	text("logo", hex.EncodeToString(before.Logo), hex.EncodeToString(after.Logo))
	list("redirect_uris", before.RedirectURIs, after.RedirectURIs)
	list("scopes", before.Scopes, after.Scopes)
	return all
}
