package ledger

import (
	"encoding/hex"
	"slices"
)

// A Difference is one field in which two profiles differ.
type Difference struct {
	Field string // as Refusal.Field: name, purpose, website, logo, redirect_uris or scopes

	// Of a field with one value; of a logo the digest in hexadecimal. "" is none.
	Before, After string
	// Of a list, in the order that people gave. A list that has the same members
	// in another order has only Kept.
	Added, Removed, Kept []string
}

// Differences says what somebody who knows before has to look at in after, in the
// order in which pages show the fields.
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
	text("logo", hex.EncodeToString(before.Logo), hex.EncodeToString(after.Logo))
	list("redirect_uris", before.RedirectURIs, after.RedirectURIs)
	list("scopes", before.Scopes, after.Scopes)
	return all
}
