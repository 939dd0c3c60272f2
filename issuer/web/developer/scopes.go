package developer

import (
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

type scopesBody struct {
	ProposedCard ui.Card
	Proposed     []ui.Difference
	Edit         string // the page that edits what is proposed

	Refused *parts.RefusedChanges
	Discard *site.Form // what is proposed, or what was refused

	ProfileCard ui.Card
	Purpose     string
	Links       []ui.Link // their paths may be ""
	Type        string
	Registered  ui.Stamp

	URIsCard ui.Card
	URIs     []ui.Copy

	ScopesCard ui.Card
	Legacy     bool
	Access     string // what a legacy application may do
	Migration  string
	Areas      []parts.GrantedArea
}

// scopesPage shows what is reviewed of an application: as it is, as proposed and as refused.
func (w *Area) scopesPage(c *site.Request, v site.Session, client *ledger.Client) error {
	return w.showScopes(c, v, client, nil)
}

// showScopes shows the page with a refused form, or nil.
func (w *Area) showScopes(c *site.Request, v site.Session, client *ledger.Client, sent *site.Form) error {
	body := scopesBody{
		ProfileCard: ui.Card{ID: "details", Title: "Details"}, Purpose: client.Purpose,
		Links: []ui.Link{{Title: "Website", Path: client.Website}, {Title: "Privacy policy", Path: client.PrivacyURL}, {Title: "Terms", Path: client.TermsURL}},
		Type:  parts.TypeName(client.Type), Registered: v.Day(client.Created),
		URIsCard:   ui.Card{ID: "uris", Title: "Redirect URIs", Side: fmt.Sprintf("%d of %d", len(client.RedirectURIs), ledger.MaxRedirectURIs)},
		ScopesCard: ui.Card{ID: "scopes", Title: "Scopes", Side: fmt.Sprintf("%d of %d", len(client.Scopes), len(scope.Catalogue()))},
		Legacy:     client.Legacy, Migration: parts.ClientPath(client.ID, "migration"), Areas: parts.GrantedAreas(client.Scopes), Access: legacyAccess,
	}
	if client.Legacy {
		body.ScopesCard.Side = ""
	}
	for n, uri := range client.RedirectURIs {
		body.URIs = append(body.URIs, ui.Copy{ID: fmt.Sprintf("uri-%d", n), Label: fmt.Sprintf("redirect URI %d", n+1), Value: uri})
	}
	if client.Proposed != nil {
		body.Proposed = folded(parts.Differences(&client.Profile, client.Proposed))
		body.Edit = parts.ClientPath(client.ID, "edit")
		body.ProposedCard = ui.Card{ID: "proposed", Title: "Changes in review", Side: w.waiting(&v, client)}
	}
	if body.Refused = parts.RefusedOf(&v, client); body.Refused != nil {
		body.Refused.Changes = folded(body.Refused.Changes)
	}
	if body.Proposed != nil || body.Refused != nil {
		body.Discard = parts.ClientAt(&v, &discardForm, client, sent)
	}
	p := w.pageOfClient(&v, client, "Scopes & URIs", "scopes")
	p.Notice, p.Form, p.Body = parts.NoticeAbout(clientNotices, c.Notice(), client), sent, body
	if removed := c.NoticeOf(); removed != "" {
		p.Notice = removedNotice(c.Notice(), removed)
	}
	return w.Show(c, v, "scopes", p)
}

// folded counts what stays as it is in a difference, where that is more than a few lines: the page
// lists it below.
func folded(list []ui.Difference) []ui.Difference {
	const few = 4
	for i := range list {
		if kept := &list[i].Kept; len(*kept) > few {
			*kept = []string{ui.Comma(len(*kept)) + " stay as they are"}
		}
	}
	return list
}
