package web

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// historyShow is how many events the page of an application tells; the audit
// page has the others.
const historyShow = 10

type adminClientBody struct {
	Client  *ledger.Client
	Owner   named
	Gone    string // why the owner can do nothing with it; "" where they can
	Secrets int
	Website string // its host
	Picture picture
	Scopes  []scopeGroup

	Waits   bool
	Since   ledger.Time  // it waits for a review
	Changes []difference // of the proposed revision
	Doubts  []nameDoubts
	Refused *refusedChanges

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
func (w *Web) adminClient(c *call, v visit) error { return w.showAdminClient(c, v, nil) }

// aClient is the client that the address names.
func (w *Web) aClient(c *call, v *visit) (client *ledger.Client, err error) {
	there, err := w.sure(c, v, func() bool {
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
func (w *Web) showAdminClient(c *call, v visit, sent *form) error {
	client, err := w.aClient(c, &v)
	if err != nil {
		return err
	}
	body := &adminClientBody{
		Client: client, Owner: namedUser(v.view, client.Owner), Secrets: client.ActiveSecrets(),
		Website: hostOf(client.Website), Picture: pictureOf(&client.Profile), Scopes: scopeGroups(client.Scopes, true),
		Waits: client.AwaitsReview(), Since: client.WaitingSince(), Doubts: doubtsOf(v.view, client)[client.ID],
	}
	if client.State != ledger.Deleted {
		body.Settings, body.Transfer = clientPath(client.ID), adminClientPath(client.ID)+"/transfer"
		body.Gone = goneOwner(v.view.User(client.Owner))
	}
	if client.Proposed != nil {
		body.Changes = inWords(differences(&client.Profile, client.Proposed))
	}
	if body.Refused = refusedOf(client); body.Refused != nil {
		body.Refused.Changes = inWords(body.Refused.Changes)
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
	events := v.view.HistoryOf(client.ID, historyShow+1)
	tell := func(n int) {
		body.History = eventLines(v.view, events[:n])
		if len(events) > n {
			body.Older = pathAdminAudit + "?" + url.Values{"client": {client.ID}, "kind": {"client"}}.Encode()
		}
	}
	tell(min(len(events), historyShow))
	return w.showAdmin(c, v, "admin_client", page{
		Title: client.Name, Trail: []crumb{{"Applications", pathAdminClients}},
		Said: saidOf(c, client), Form: sent, Body: body, Rows: len(body.History), Cut: tell,
	})
}

// saidOf is what was done, as long as it is still so: the address may be gone
// back to.
func saidOf(c *call, client *ledger.Client) string {
	word := c.said()
	if word != "transfer" && (word == "suspend") != (client.State == ledger.Suspended) {
		return ""
	}
	return noticeAbout(adminClientNotices, word, client)
}

// clientAt is a form about a client as it is now: the one that was sent, if it
// is of this kind, or an empty one.
func (v *visit) clientAt(kind *formKind, client *ledger.Client, sent *form) *form {
	f := sent
	if f == nil || f.kind != kind {
		f = v.form(kind, url.Values{"id": {client.ID}})
	}
	f.values.Set("revision", strconv.FormatUint(client.Revision, 10))
	return f
}

// inWords says of scopes that change what each of them allows: a reviewer is
// asked whether the application needs that.
func inWords(list []difference) []difference {
	for i := range list {
		if list[i].Title == fieldTitles["scopes"] {
			list[i].Removed, list[i].Added = allowing(list[i].Removed), allowing(list[i].Added)
		}
	}
	return list
}

func allowing(names []string) (words []string) {
	for _, s := range scope.Catalogue() {
		if slices.Contains(names, s.Name) {
			words = append(words, s.Name+": "+s.Allows)
		}
	}
	return words
}
