package developer

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var clientNotices = site.Notices{
	"created":                           "The application was registered. An administrator of this service reviews it before anybody can use it.",
	"saved":                             "Saved.",
	"proposed":                          "Saved. What needs a review waits for an administrator; until then the application works as before.",
	"again":                             "Saved. An administrator reviews the application again.",
	"unchanged":                         "There was nothing to change.",
	"accepted":                          "The application is yours now. Its former owner may know its secrets: generate new ones, and revoke the old.",
	"accepted-" + string(ledger.Public): "The application is yours now.",
	"accepted-revoked":                  "The application is yours now, and all its secrets were revoked. Generate a new one: until it has one, the application gets no tokens.",
	"withdrawn":                         "The offer was withdrawn.",
	"offered":                           "The offer was made. The application stays yours until the other person accepts.",
	"refused-discarded":                 "The refused changes are gone. The application works as before.",
	"migrated":                          "The scopes were selected. From now on every authorization request must ask for scopes among them.",
	"secret-known":                      parts.SecretKnown,
	"secret-revoked":                    parts.SecretRevoked,
	"revoked":                           "The secret was revoked. No part of this service accepts it any more.",
}

type clientBody struct {
	ID             string
	Path           string
	State          ledger.ClientState
	StateText      string
	Reason         string
	ReasonTitle    string
	ReasonTone     string
	Type           string
	Created        ui.Stamp
	Website        string
	WebsiteHost    string
	Purpose        string
	URIs           []string
	Groups         []parts.ScopeGroup
	Legacy         bool
	WasLegacy      bool
	Public         bool
	Secrets        int // number of active secrets
	Proposed       []ui.Difference
	Refused        *parts.RefusedChanges
	DiscardRefused *site.Form
	OfferedTo      string // name of a user; "" if there is no offer
}

// ownClient shows the application's own page: its profile, its state, and the possible actions.
func (w *Area) ownClient(c *site.Request, v site.Session, client *ledger.Client) error {
	return w.showOwnClient(c, v, client, nil)
}

// showOwnClient shows the page with a refused form, or nil.
func (w *Area) showOwnClient(c *site.Request, v site.Session, client *ledger.Client, sent *site.Form) error {
	body := clientBody{
		ID: client.ID, Path: parts.ClientPath(client.ID), State: client.State, StateText: stateText(client),
		Reason: client.Reason, ReasonTitle: parts.ReasonTitle(client), ReasonTone: reasonTone(client), Type: parts.TypeName(client.Type), Created: v.At(client.Created),
		Website: client.Website, WebsiteHost: parts.HostOf(client.Website), Purpose: client.Purpose,
		URIs: client.RedirectURIs, Groups: parts.ScopeGroups(client.Scopes, true),
		Legacy: client.Legacy, WasLegacy: client.WasLegacy, Public: client.Public(), Secrets: client.ActiveSecrets(),
	}
	if client.Proposed != nil {
		body.Proposed = parts.Differences(&client.Profile, client.Proposed)
	}
	if body.Refused = parts.RefusedOf(&v, client); body.Refused != nil {
		body.DiscardRefused = parts.ClientAt(&v, &discardRefusedForm, client, nil)
		if client.State == ledger.Approved && client.Reason == body.Refused.Reason {
			body.Reason = "" // it is shown with the refused changes
		}
	}
	if offer := v.View.OfferOf(client); offer != nil {
		body.OfferedTo = recipientOf(v.View, offer)
	}
	p := w.pageOfClient(&v, client, "Overview", "")
	p.Notice, p.Form, p.Body = parts.NoticeAbout(clientNotices, c.Notice(), client), sent, body
	return w.Show(c, v, "client", p)
}

// stateText explains the state to the application's owner.
func stateText(client *ledger.Client) string {
	switch client.State {
	case ledger.Pending:
		text := "An administrator of this service has to review the application first. Until then nobody can use it. You can change it"
		if client.Public() {
			return text + "."
		}
		return text + ", and generate its secret."
	case ledger.Approved:
		return "Everybody who has an account here can allow it."
	case ledger.Rejected:
		return "Nobody can use it. Change what the reviewer names: it is then reviewed again."
	case ledger.Suspended:
		return "An administrator has stopped it for now. People can’t allow it, and it can get no access. When it is resumed, what people allowed works again."
	}
	return ""
}

func reasonTone(client *ledger.Client) string {
	switch client.State {
	case ledger.Rejected:
		return ui.Warn
	case ledger.Suspended:
		return ui.Bad
	}
	return ui.Info
}
