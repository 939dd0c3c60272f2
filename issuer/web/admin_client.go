package web

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// historyRows is how many events the page of an application tells; the audit
// page has the others.
const historyRows = 10

type adminClientBody struct {
	Client       *ledger.Client
	Owner        nameLink
	OwnerProblem string // why the owner can do nothing with it; "" where they can
	Secrets      int
	Website      string // its host
	Picture      picture
	Scopes       []scopeGroup

	Waits        bool
	Since        ledger.Time  // it waits for a review
	Changes      []difference // of the proposed revision
	NameWarnings []nameWarnings
	Refused      *refusedChanges

	Review *form // nil where there is nothing to decide
	Resume *form
	Stop   string // the address of the page that suspends

	Settings string // the address of the developer settings of it
	Transfer string // the address of the page that gives it to somebody else

	History []eventLine
	Older   string // where the rest of the history is
}

var adminClientNotices = notices{
	"approve":                           "It was approved. What was waiting counts from now on.",
	"reject":                            "It was rejected. The owner sees the reason.",
	"suspend":                           "The application was suspended. It gets no new access; what it got just before may keep working for up to 30 minutes.",
	"transfer":                          "The application has a new owner. The former one may know its secrets: ask the new owner to generate others and to revoke those.",
	"transfer-" + string(ledger.Public): "The application has a new owner.",
	"resume":                            "The application may be used again. What it was allowed before it was suspended works as before.",
}

// adminClient is the page of one application.
func (w *Web) adminClient(c *request, v session) error { return w.showAdminClient(c, v, nil) }

// clientParam is the client that the address names.
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

// showAdminClient shows it with a form that was sent and not taken, or nil.
func (w *Web) showAdminClient(c *request, v session, sent *form) error {
	client, err := w.clientParam(c, &v)
	if err != nil {
		return err
	}
	body := &adminClientBody{
		Client: client, Owner: linkUser(v.view, client.Owner), Secrets: client.ActiveSecrets(),
		Website: hostOf(client.Website), Picture: pictureOf(&client.Profile), Scopes: scopeGroups(client.Scopes, true),
		Waits: client.AwaitsReview(), Since: client.WaitingSince(), NameWarnings: nameWarningsOf(v.view, client)[client.ID],
	}
	if client.State != ledger.Deleted {
		body.Settings, body.Transfer = clientPath(client.ID), adminClientPath(client.ID)+"/transfer"
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
	return w.showAdmin(c, v, "admin_client", page{
		Title: client.Name, Trail: []crumb{{"Applications", pathAdminClients}},
		Notice: clientNotice(c, client), Form: sent, Body: body, Rows: len(body.History), Truncate: tell,
	})
}

// clientNotice is what was done, as long as it is still so: the address may be gone
// back to.
func clientNotice(c *request, client *ledger.Client) string {
	word := c.notice()
	if word != "transfer" && (word == "suspend") != (client.State == ledger.Suspended) {
		return ""
	}
	return noticeAbout(adminClientNotices, word, client)
}

// clientAt is a form about a client as it is now: the one that was sent, if it
// is of this kind, or an empty one.
func (v *session) clientAt(kind *formKind, client *ledger.Client, sent *form) *form {
	f := sent
	if f == nil || f.kind != kind {
		f = v.form(kind, url.Values{"id": {client.ID}})
	}
	f.values.Set("revision", strconv.FormatUint(client.Revision, 10))
	return f
}

// withScopeTexts says of scopes that change what each of them allows: a reviewer is
// asked whether the application needs that.
func withScopeTexts(list []difference) []difference {
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
