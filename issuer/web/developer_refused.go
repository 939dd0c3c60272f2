package web

import (
	"strconv"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var discardRefusedForm = formKind{
	purpose: "discard refused changes", action: pathClient + "/discard-refused", page: pathClient,
	fields: []field{boundField("revision")},
}

// refusedChanges are the changes of a refused revision that the owner has neither edited
// nor discarded.
type refusedChanges struct {
	Reason  string
	At      ledger.Time
	Changes []ui.Difference // relative to the application in its current state
	Again   string          // the edit form that starts from them
}

// refusedOf returns nil if there are none.
func refusedOf(client *ledger.Client) *refusedChanges {
	r := client.Refused
	if r == nil {
		return nil
	}
	return &refusedChanges{
		Reason: r.Reason, At: r.At, Changes: differences(&client.Profile, &r.Profile),
		Again: clientPath(client.ID, "edit") + "?from=" + fromRefused,
	}
}

// basis returns the profile that an edit starts from.
func basis(client *ledger.Client, from string) ledger.Profile {
	if from == fromRefused && client.Refused != nil {
		return client.Refused.Profile
	}
	return planned(client)
}

// discardRefused discards the refused changes and leaves the application unchanged.
// application.
func (w *Web) discardRefused(c *request, v session, f *form, client *ledger.Client) error {
	revision, err := strconv.ParseUint(f.get("revision"), 10, 64)
	if err != nil {
		return errUnreadable
	}
	if client.Revision != revision {
		// This node has not heard of what the page showed, and would not leave the
		// application as it is.
		if client, err = w.ownedFresh(c, &v); err != nil {
			return err
		}
	}
	refused, err := w.propose(c, &v, "discard refused changes", &ledger.EditClient{
		Actor: v.actor(), ID: client.ID, Revision: revision, Profile: client.Profile,
	})
	switch {
	case err != nil:
		return err
	case refused != nil:
		if client, err = w.ownedFresh(c, &v); err != nil {
			return err
		}
		if client.Refused != nil || client.Proposed != nil {
			return w.showOwnClient(c, v, client, f.refused(refused))
		}
		// The same form was sent twice.
	}
	return c.redirectNotice(clientPath(client.ID), clientNotices, "refused-discarded")
}
