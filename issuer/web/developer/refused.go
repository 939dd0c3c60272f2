package developer

import (
	"strconv"
	"strings"

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
		if notice = alreadyDiscarded(&v, client, revision); notice == "" {
			return w.showScopes(c, v, client, f.Refused(refused))
		}
	}
	return c.RedirectNotice(parts.ClientPath(client.ID, "scopes"), clientNotices, notice)
}

// alreadyDiscarded returns the notice of what the same form discarded when it was sent before;
// "" if it was not. No other event has a detail that begins like that.
func alreadyDiscarded(v *site.Session, client *ledger.Client, revision uint64) string {
	e := parts.OwnChange(v, client, revision)
	switch {
	case e == nil:
		return ""
	case strings.HasPrefix(e.Detail, ledger.EditDiscarded+";"):
		return "refused-discarded"
	case strings.HasPrefix(e.Detail, ledger.EditWithdrawn+";"):
		return "discarded"
	}
	return ""
}
