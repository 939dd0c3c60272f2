package web

import (
	"cmp"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var clientNotices = notices{
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
	"secret-known":                      "That secret was generated already, and is shown only once. If you did not keep it, generate another and revoke that one.",
	"secret-revoked":                    "That secret was generated, and has been revoked since. It is not shown again.",
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
	Created        ledger.Time
	Website        string
	WebsiteHost    string
	Purpose        string
	URIs           []string
	Groups         []scopeGroup
	Legacy         bool
	WasLegacy      bool
	Public         bool
	Secrets        int // number of active secrets
	Proposed       []ui.Difference
	Refused        *refusedChanges
	DiscardRefused *form
	OfferedTo      string // name of a user; "" if there is no offer
}

// ownClient shows the application's own page: its profile, its state, and the possible actions.
func (w *Web) ownClient(c *request, v session, client *ledger.Client) error {
	return w.showOwnClient(c, v, client, nil)
}

// showOwnClient shows the page with a refused form, or nil.
func (w *Web) showOwnClient(c *request, v session, client *ledger.Client, sent *form) error {
	body := clientBody{
		ID: client.ID, Path: clientPath(client.ID), State: client.State, StateText: stateText(client),
		Reason: client.Reason, ReasonTitle: reasonTitle(client), ReasonTone: reasonTone(client), Type: typeName(client.Type), Created: client.Created,
		Website: client.Website, WebsiteHost: hostOf(client.Website), Purpose: client.Purpose,
		URIs: client.RedirectURIs, Groups: scopeGroups(client.Scopes, true),
		Legacy: client.Legacy, WasLegacy: client.WasLegacy, Public: client.Public(), Secrets: client.ActiveSecrets(),
	}
	if client.Proposed != nil {
		body.Proposed = differences(&client.Profile, client.Proposed)
	}
	if body.Refused = refusedOf(client); body.Refused != nil {
		body.DiscardRefused = v.clientAt(&discardRefusedForm, client, nil)
		if client.State == ledger.Approved && client.Reason == body.Refused.Reason {
			body.Reason = "" // it is shown with the refused changes
		}
	}
	if offer := v.view.OfferOf(client); offer != nil {
		body.OfferedTo = recipientOf(v.view, offer)
	}
	p := w.pageOfClient(&v, client, "Overview", "")
	p.Notice, p.Form, p.Body = noticeAbout(clientNotices, c.notice(), client), sent, body
	return w.show(c, v, "developer_client", p)
}

// noticeAbout returns the notice for a word, in the variant for the client's type if
// there is one: a public client has no secrets to mention.
func noticeAbout(n notices, word string, client *ledger.Client) string {
	return cmp.Or(n[word+"-"+string(client.Type)], n[word])
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

// reasonTitle returns the heading of a reviewer's reason.
func reasonTitle(client *ledger.Client) string {
	switch {
	case client.Reason == "":
		return ""
	case client.State == ledger.Rejected:
		return "Why it was not approved"
	case client.State == ledger.Suspended:
		return "Why it was suspended"
	}
	return "What the last reviewer wrote"
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

func typeName(t ledger.ClientType) string {
	if t == ledger.Public {
		return "Public: it can’t keep a secret"
	}
	return "Confidential: it keeps a secret on a server"
}

// nameOf returns the name of another user for display.
func nameOf(u *ledger.User) string {
	if u == nil || u.Deleted {
		return "somebody who no longer has an account"
	}
	p := personOf(u)
	if p.Username != "" {
		return p.Name + " (" + p.Username + ")"
	}
	return p.Name
}
