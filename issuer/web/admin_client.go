package web

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// historyRows is the number of events on the page of an application; the audit page has
// the others.
const historyRows = 10

type adminClientBody struct {
	Client       *ledger.Client
	Owner        nameLink
	OwnerProblem string // why the owner can't manage it; "" if they can
	Secrets      int
	Website      string // host of the website
	Scopes       []scopeGroup

	Waits        bool
	Since        ledger.Time     // when it began to wait for a review
	Changes      []ui.Difference // by the proposed revision
	NameWarnings []nameWarnings
	Refused      *refusedChanges

	Review *form // nil if there is nothing to review
	Resume *form
	Stop   string // the page that suspends it

	Settings string // its page in the developer settings
	Transfer string // the page that transfers it; "" if it has a document, which nobody can transfer

	History []eventLine
	Older   string // the page with the rest of the history
}

var adminClientNotices = notices{
	"approve":                           "It was approved. What was waiting counts from now on.",
	"reject":                            "It was rejected. The owner sees the reason.",
	"suspend":                           "The application was suspended. It gets no new access; what it got just before may keep working for up to 30 minutes.",
	"transfer":                          "The application has a new owner. The former one may know its secrets: ask the new owner to generate others and to revoke those.",
	"transfer-" + string(ledger.Public): "The application has a new owner.",
	"resume":                            "The application may be used again. What users allowed it before it was suspended is valid again.",
}

// adminClient shows the page of one application.
func (w *Web) adminClient(c *request, v session) error { return w.showAdminClient(c, v, nil) }

// clientParam returns the client that the path names.
func (w *Web) clientParam(c *request, v *session) (client *ledger.Client, err error) {
	there, err := w.confirmFresh(c, v, func() bool {
		client = v.view.Client(c.param("id"))
		return client != nil
	})
	switch {
	case err != nil:
		return nil, err
	case !there:
		return nil, errNotFound
	}
	c.client = client.ID
	return client, nil
}

// showAdminClient shows the page with a refused form, or nil.
func (w *Web) showAdminClient(c *request, v session, sent *form) error {
	client, err := w.clientParam(c, &v)
	if err != nil {
		return err
	}
	body := &adminClientBody{
		Client: client, Owner: linkOwner(v.view, client), Secrets: client.ActiveSecrets(),
		Website: hostOf(client.Website), Scopes: scopeGroups(client.Scopes, true),
		Waits: client.AwaitsReview(), Since: client.WaitingSince(), NameWarnings: nameWarningsOf(v.view, client)[client.ID],
	}
	if client.State != ledger.Deleted {
		body.Settings = clientPath(client.ID)
	}
	if client.State != ledger.Deleted && client.Document == nil {
		body.Transfer = adminClientPath(client.ID) + "/transfer"
		body.OwnerProblem = ownerProblem(v.view.User(client.Owner))
	}
	if client.Proposed != nil {
		body.Changes = withScopeTexts(differences(&client.Profile, client.Proposed))
	}
	if body.Refused = refusedOf(client); body.Refused != nil {
		body.Refused.Changes = withScopeTexts(body.Refused.Changes)
	}
	if body.Waits {
		body.Review = v.clientAt(&reviewForm, client, sent)
	}
	switch client.State {
	case ledger.Approved:
		body.Stop = adminClientPath(client.ID) + "/suspend"
	case ledger.Suspended:
		body.Resume = v.clientAt(&resumeForm, client, sent)
	}
	events := v.view.HistoryOf(client.ID, historyRows+1)
	tell := func(n int) {
		body.History = eventLines(v.view, events[:n])
		if len(events) > n {
			body.Older = pathAdminAudit + "?" + url.Values{"client": {client.ID}, "kind": {"client"}}.Encode()
		}
	}
	tell(min(len(events), historyRows))
	return w.showAdmin(c, v, "admin_client", ui.Page{
		Title: client.Name, Up: up("Applications", pathAdminClients), Picture: pictureOf(&client.Profile), Pills: clientPills(client),
		Copy:   &ui.Copy{ID: "client-id", Label: "client ID", Value: client.ClientID()},
		Notice: clientNotice(c, client), Form: sent, Body: body, Rows: len(body.History), Truncate: tell,
	})
}

// clientNotice returns the notice of what was done if it is still true: the user may have
// gone back to the address.
func clientNotice(c *request, client *ledger.Client) string {
	word := c.notice()
	if word != "transfer" && (word == "suspend") != (client.State == ledger.Suspended) {
		return ""
	}
	if word == string(ledger.Reject) && client.Document != nil {
		return "It was rejected."
	}
	return noticeAbout(adminClientNotices, word, client)
}

// clientAt returns a form about a client in its current state: the sent form if it is of
// this kind, or an empty one.
func (v *session) clientAt(kind *formKind, client *ledger.Client, sent *form) *form {
	f := sent
	if f == nil || f.kind != kind {
		f = v.form(kind, url.Values{"id": {client.ID}})
	}
	f.values.Set("revision", strconv.FormatUint(client.Revision, 10))
	return f
}

// withScopeTexts adds the texts of scopes to differences, since a reviewer decides whether the
// application needs them.
func withScopeTexts(list []ui.Difference) []ui.Difference {
	for i := range list {
		if list[i].Title == fieldTitles["scopes"] {
			list[i].Removed, list[i].Added = scopeTexts(list[i].Removed), scopeTexts(list[i].Added)
		}
	}
	return list
}

func scopeTexts(names []string) (words []string) {
	for _, s := range scope.Catalogue() {
		if slices.Contains(names, s.Name) {
			words = append(words, s.Name+": "+s.Allows)
		}
	}
	return words
}
