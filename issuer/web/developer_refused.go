package web

import (
	"strconv"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

var discardRefusedForm = formKind{
	purpose: "discard refused changes", action: pathClient + "/discard-refused", page: pathClient,
	fields: []field{boundField("revision")},
}

// refusedChanges are those that a reviewer turned down and that the owner has not
// answered yet.
type refusedChanges struct {
	Reason  string
	At      ledger.Time
	Changes []difference // against the application as it is
	Again   string       // the address of the edit form that begins with them
}

// refusedOf is nil where there are none.
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

// basis is the profile that an edit begins with.
func basis(client *ledger.Client, from string) ledger.Profile {
	if from == fromRefused && client.Refused != nil {
		return client.Refused.Profile
	}
	return planned(client)
}

// discardRefused leaves the application as it is, and drops the changes that were
// refused.
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
		// The same form, a second time.
	}
	return c.redirectNotice(clientPath(client.ID), clientNotices, "refused-discarded")
}
