package admin

import (
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A ClientRef names a client.
type ClientRef struct {
	ID string `json:"id"`
	// Revision is the revision that the operator saw, for a deletion; 0 matches any.
	Revision uint64 `json:"revision,omitempty"`
	// Usage adds Client.Usage to what is shown, which walks all users.
	Usage bool `json:"usage,omitempty"`
}

// A ClientFilter selects clients of the list. Empty fields match all but deleted ones.
type ClientFilter struct {
	State string `json:"state,omitempty"`
	Owner string `json:"owner,omitempty"` // a user's name or id
}

// A ClientList is ordered by id.
type ClientList struct {
	Clients []ClientSummary `json:"clients"`
}

// A ClientSummary is one line of the list.
type ClientSummary struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Type     string    `json:"type"`
	State    string    `json:"state"`
	Kind     string    `json:"kind"`  // "scoped" or "legacy"
	Owner    string    `json:"owner"` // user name
	Proposed bool      `json:"has_proposal"`
	Revision uint64    `json:"revision"`
	Created  time.Time `json:"created_at"`

	// ManagedBy is the name under which the files are applied that the client came from.
	ManagedBy string `json:"managed_by,omitempty"`
	// Document is the client_id if it is not ID: a document's URL, or what a registration
	// returned.
	Document string `json:"document,omitempty"`
}

// A Client has everything that is known of a client.
type Client struct {
	ClientSummary
	Reason       string       `json:"reason,omitempty"` // of the last review
	OwnerID      string       `json:"owner_id"`
	Purpose      string       `json:"purpose,omitempty"`
	Website      string       `json:"website,omitempty"`
	PrivacyURL   string       `json:"privacy_url,omitempty"`
	TermsURL     string       `json:"terms_url,omitempty"`
	RedirectURIs []string     `json:"redirect_uris"`
	Scopes       []string     `json:"scopes"`
	Changed      time.Time    `json:"changed_at"`
	Secrets      []Secret     `json:"secrets"`
	Difference   []Difference `json:"proposal,omitempty"` // what the pending revision would change

	// Traffic counts the authorization requests of the last 30 days, and Asked has their
	// scopes, for clients that are or were legacy.
	Traffic     *Traffic `json:"traffic,omitempty"`
	AskedScopes []string `json:"asked_scopes,omitempty"`

	Usage *Usage `json:"usage,omitempty"` // if ClientRef.Usage asked for it

	Queue *QueuePlace `json:"queue,omitempty"` // of client.show, while the client awaits a review
}

// A QueuePlace is the place of a client in the queue of reviews, the longest waiting first.
type QueuePlace struct {
	Since    time.Time `json:"since"`
	Position int       `json:"position"` // from 1; 0 if it is behind 12,000 others
	Waiting  int       `json:"waiting"`  // clients in the queue, 12,000 at most
}

// A Secret is a secret of a client or a resource server, without its text.
type Secret struct {
	ID      string    `json:"id"`
	Tail    string    `json:"tail,omitempty"`
	Name    string    `json:"name,omitempty"`
	State   string    `json:"state"` // "active", "revoked", or "void" if its key leaked and was dropped
	Created time.Time `json:"created_at"`
	Used    time.Time `json:"last_used_at,omitzero"`
	Revoked time.Time `json:"revoked_at,omitzero"`
	Ends    time.Time `json:"ends_at,omitzero"` // when it is to be revoked
	// Imported reports that only a hash is known that another system made, until the first use.
	Imported bool `json:"imported,omitempty"`
}

// A Difference is one change by a proposed revision: for a list, one member that is added
// or removed; for a text, the old and the new one.
type Difference struct {
	Field   string `json:"field"`
	Removed string `json:"removed,omitempty"`
	Added   string `json:"added,omitempty"`
}

// Traffic counts the authorizations of the last 30 days.
type Traffic struct {
	WithoutScope uint32 `json:"without_scope"`
	WithScope    uint32 `json:"with_scope"`
}

// documentOf returns the client_id of a client with metadata of its own, or "".
func documentOf(c *ledger.Client) string {
	if c.Document == nil {
		return ""
	}
	return c.Document.ClientID
}

func summaryOf(v ledger.View, c *ledger.Client) ClientSummary {
	kind := "scoped"
	if c.Legacy {
		kind = "legacy"
	}
	return ClientSummary{
		ID: c.ID, Name: c.Name, Type: string(c.Type), State: string(c.State), Kind: kind,
		Owner: userName(v, c.Owner), Proposed: c.Proposed != nil, Revision: c.Revision, Created: stdTime(c.Created),
		ManagedBy: c.ManagedBy, Document: documentOf(c),
	}
}

func clientOf(v ledger.View, c *ledger.Client, now ledger.Time) Client {
	out := Client{
		ClientSummary: summaryOf(v, c),
		Reason:        c.Reason, OwnerID: c.Owner, Purpose: c.Purpose, Website: c.Website,
		PrivacyURL: c.PrivacyURL, TermsURL: c.TermsURL,
		RedirectURIs: notNil(c.RedirectURIs), Scopes: notNil(c.Scopes), Changed: stdTime(c.Changed),
		Secrets: secretsOf(v, c.Secrets),
	}
	if c.Proposed != nil {
		out.Difference = difference(&c.Profile, c.Proposed)
	}
	if c.WasLegacy || c.Legacy {
		without, with := c.RecentTraffic(now)
		out.Traffic = &Traffic{WithoutScope: without, WithScope: with}
		out.AskedScopes = c.RequestedScopes
	}
	return out
}

func secretsOf(v ledger.View, all ledger.Secrets) []Secret {
	list := make([]Secret, 0, len(all))
	for i := range all {
		s := &all[i]
		state := "revoked"
		switch {
		case v.KeyDropped(s):
			state = "void"
		case s.Active():
			state = "active"
		}
		list = append(list, Secret{
			ID: s.ID, Tail: s.Tail, Name: s.Name, State: state, Created: stdTime(s.Created), Used: stdTime(s.Used), Revoked: stdTime(s.Revoked),
			Ends: stdTime(s.Ends), Imported: s.Hash != "",
		})
	}
	return list
}

// difference returns what the proposal would change, one line for each change.
func difference(old, proposed *ledger.Profile) []Difference {
	var all []Difference
	for _, d := range ledger.Differences(old, proposed) {
		if d.Field == "logo" {
			all = append(all, Difference{Field: d.Field, Added: "another picture"})
			continue
		}
		if d.Before != d.After {
			all = append(all, Difference{Field: d.Field, Removed: d.Before, Added: d.After})
		}
		for _, s := range d.Removed {
			all = append(all, Difference{Field: d.Field, Removed: s})
		}
		for _, s := range d.Added {
			all = append(all, Difference{Field: d.Field, Added: s})
		}
	}
	return all
}

func notNil[E any](list []E) []E {
	if list == nil {
		return []E{}
	}
	return list
}

func clientSubject(id string) string { return strings.TrimSpace("client " + id) }
