package developer

import (
	"strconv"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

var discardForm = site.FormKind{
	Purpose: "discard changes", Action: pathClient + "/discard", Page: pathClient + "/scopes",
	Fields: []site.Field{site.BoundField("revision")},
}

// basis returns the profile that an edit starts from.
func basis(client *ledger.Client, from string) ledger.Profile {
	if from == parts.FromRefused && client.Refused != nil {
		return client.Refused.Profile
	}
	return planned(client)
}

// discard discards the changes that wait for a review, or that were rejected, and leaves the
// application unchanged.
func (w *Area) discard(c *site.Request, v site.Session, f *site.Form, client *ledger.Client) error {
	revision, err := strconv.ParseUint(f.Get("revision"), 10, 64)
	if err != nil {
		return site.ErrUnreadable
	}
	if client.Revision != revision {
		// This node has not heard of what the page showed, and would not leave the
		// application as it is.
		if client, err = w.ownedFresh(c, &v); err != nil {
			return err
		}
	}
	notice := "refused-discarded"
	if client.Proposed != nil {
		notice = "discarded"
	}
	refused, err := w.Propose(c, &v, "discard changes", &ledger.EditClient{
		Actor: v.Actor(), ID: client.ID, Revision: revision, Profile: client.Profile,
	})
	switch {
	case err != nil:
		return err
	case refused != nil:
		if client, err = w.ownedFresh(c, &v); err != nil {
			return err
		}
		if client.Refused != nil || client.Proposed != nil {
			return w.showScopes(c, v, client, f.Refused(refused))
		}
		// The same form was sent twice.
	}
	return c.RedirectNotice(parts.ClientPath(client.ID, "scopes"), clientNotices, notice)
}
