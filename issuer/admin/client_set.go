package admin

import (
	"context"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A ClientEdit changes the fields that are present. An operator's edit takes effect at once.
type ClientEdit struct {
	ID           string    `json:"id"`
	Revision     uint64    `json:"revision,omitempty"` // the revision that the operator saw; 0 means the newest
	Name         *string   `json:"name,omitempty"`
	Purpose      *string   `json:"purpose,omitempty"`
	Website      *string   `json:"website,omitempty"`
	PrivacyURL   *string   `json:"privacy_url,omitempty"`
	TermsURL     *string   `json:"terms_url,omitempty"`
	RedirectURIs *[]string `json:"redirect_uris,omitempty"`
	Scopes       *[]string `json:"scopes,omitempty"`
	// Confirm selects the scopes of a legacy client although authorization requests still arrive
	// without scope.
	Confirm bool `json:"confirm,omitempty"`
}

// An EditedClient is the client after an edit.
type EditedClient struct {
	Client
	// Dropped reports that the edit replaced a pending proposed revision.
	Dropped bool `json:"dropped_proposal"`
	// Migrated reports that the client was a legacy client before this edit.
	Migrated bool `json:"migrated"`
}

func (c *call) setClient(ctx context.Context, q ClientEdit) (EditedClient, error) {
	old, err := c.freshClient(ctx, q.ID)
	if err != nil {
		return EditedClient{}, err
	}
	cmd := &ledger.EditClient{Actor: c.actor, ID: old.ID, Revision: q.Revision, Profile: old.Profile, Confirm: q.Confirm}
	if cmd.Revision == 0 {
		cmd.Revision = old.Revision
	}
	set(&cmd.Profile.Name, q.Name)
	set(&cmd.Profile.Purpose, q.Purpose)
	set(&cmd.Profile.Website, q.Website)
	set(&cmd.Profile.PrivacyURL, q.PrivacyURL)
	set(&cmd.Profile.TermsURL, q.TermsURL)
	set(&cmd.Profile.RedirectURIs, q.RedirectURIs)
	set(&cmd.Profile.Scopes, q.Scopes)
	if err := checkScopes(clientSubject(q.ID), cmd.Profile.Scopes); err != nil {
		return EditedClient{}, err
	}
	if _, err := c.propose(ctx, clientSubject(q.ID), cmd); err != nil {
		return EditedClient{}, addDetails(err, old, c.Ledger.Now())
	}
	now, err := c.showClient(ctx, ClientRef{ID: q.ID})
	return EditedClient{
		Client:   now,
		Dropped:  old.Proposed != nil && !now.Proposed,
		Migrated: old.Legacy && now.Kind == "scoped",
	}, err
}
