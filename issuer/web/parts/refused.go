package parts

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// FromRefused, in an edit form and in the address of its page, marks an edit that started
// from a refused revision.
const FromRefused = "refused"

// RefusedChanges are the changes of a refused revision that the owner has neither edited
// nor discarded.
type RefusedChanges struct {
	Reason  string
	At      ui.Stamp
	Changes []ui.Difference // relative to the application in its current state
	Again   string          // the edit form that starts from them
}

// RefusedOf returns nil if there are none.
func RefusedOf(v *site.Session, client *ledger.Client) *RefusedChanges {
	r := client.Refused
	if r == nil {
		return nil
	}
	return &RefusedChanges{
		Reason: r.Reason, At: v.At(r.At), Changes: Differences(&client.Profile, &r.Profile),
		Again: ClientPath(client.ID, "edit") + "?from=" + FromRefused,
	}
}
