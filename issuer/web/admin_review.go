package web

import (
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var (
	reviewForm = formKind{
		purpose: forReview, action: pathAdminClient + "/review", page: pathAdminClient,
		fields: []field{boundField("revision"), textField("reason", "Note to the owner"), textField("verdict", "Decision").chosen()},
	}
	suspendForm = formKind{
		purpose: forSuspend, action: pathAdminClient + "/suspend", page: pathAdminClient + "/suspend",
		fields: []field{boundField("revision"), textField("reason", "Note to the owner")},
	}
	resumeForm = formKind{
		purpose: forResume, action: pathAdminClient + "/resume", page: pathAdminClient,
		fields: []field{boundField("revision")},
	}
)

// review approves or rejects a pending client or a proposed revision.
func (w *Web) review(c *request, v session, f *form) error {
	verdict := ledger.Verdict(f.get("verdict"))
	switch {
	case verdict != ledger.Approve && verdict != ledger.Reject:
		f.alert = "Please choose whether to approve or to reject."
	case verdict == ledger.Reject && reasonOf(f) == "" && hasDocument(&v, f):
		f.alert = "Please give a reason. Other administrators read it."
	case verdict == ledger.Reject && reasonOf(f) == "":
		f.addProblem("reason", "is missing: the owner must learn what to change")
	}
	if f.Failed() {
		return w.showAdminClient(c, v, f)
	}
	return w.proposeVerdict(c, v, f, verdict, reasonOf(f), w.showAdminClient)
}

// hasDocument reports whether the client that a form is about has a document, and so no owner.
func hasDocument(v *session, f *form) bool {
	client := v.view.Client(f.get("id"))
	return client != nil && client.Document != nil
}

// resume resumes a suspended application.
func (w *Web) resume(c *request, v session, f *form) error {
	return w.proposeVerdict(c, v, f, ledger.Resume, "", w.showAdminClient)
}

type suspendBody struct {
	Client *ledger.Client
	Path   string
	Form   *form
}

// suspendPage is a page of its own: what it asks for is felt at once, by all who
// use the application.
func (w *Web) suspendPage(c *request, v session) error { return w.showSuspend(c, v, nil) }

func (w *Web) showSuspend(c *request, v session, sent *form) error {
	client, err := w.clientParam(c, &v)
	switch {
	case err != nil:
		return err
	case client.State != ledger.Approved && sent == nil:
		return c.redirect(adminClientPath(client.ID)) // only an approved client can be suspended
	case client.State != ledger.Approved:
		return w.showAdminClient(c, v, sent)
	}
	path := adminClientPath(client.ID)
	return w.showAdmin(c, v, "admin_suspend", ui.Page{
		Title: "Suspend " + client.Name + "?", Up: up(client.Name, path),
		Form: sent, Body: suspendBody{Client: client, Path: path, Form: v.clientAt(&suspendForm, client, sent)},
	})
}

// suspend suspends an approved application.
func (w *Web) suspend(c *request, v session, f *form) error {
	return w.proposeVerdict(c, v, f, ledger.Suspend, reasonOf(f), w.showSuspend)
}

// reasonOf returns the reason without line breaks, which commands don't permit.
func reasonOf(f *form) string { return strings.Join(strings.Fields(f.get("reason")), " ") }

// proposeVerdict proposes a verdict on the revision that the page showed.
func (w *Web) proposeVerdict(c *request, v session, f *form, verdict ledger.Verdict, reason string, again func(*request, session, *form) error) error {
	id := f.get("id")
	revision, err := strconv.ParseUint(f.get("revision"), 10, 64)
	if err != nil {
		return errUnreadable // the form of a page always has a number
	}
	c.client = id
	refused, err := w.propose(c, &v, "review a client", &ledger.ReviewClient{
		Actor: v.actor(), ID: id, Verdict: verdict, Reason: reason, Revision: revision,
	})
	if err != nil {
		return err
	}
	if refused == nil {
		return c.redirectNotice(adminClientPath(id), adminClientNotices, string(verdict))
	}
	if v.view, err = w.fresh(c.r.Context()); err != nil {
		return err
	}
	if alreadyReviewed(&v, id, revision, verdict) {
		return c.redirectNotice(adminClientPath(id), adminClientNotices, string(verdict))
	}
	return again(c, v, f.refused(refused))
}

// alreadyReviewed reports whether this administrator has given this verdict on this
// revision: the same form was sent twice, which is not an error.
func alreadyReviewed(v *session, id string, revision uint64, verdict ledger.Verdict) bool {
	client := v.view.Client(id)
	if client == nil || client.Revision != revision+1 {
		return false
	}
	last := v.view.HistoryOf(id, 1)
	if len(last) == 0 || last[0].Kind != ledger.EventClientReviewed || last[0].Actor != v.user.ID {
		return false
	}
	decided, _ := last[0].Review()
	return decided == verdict
}
