package admin

import (
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

var (
	reviewForm = site.FormKind{
		Purpose: forReview, Action: pathAdminClient + "/review", Page: pathAdminClient,
		Fields: []site.Field{site.BoundField("revision"), site.TextField("reason", "Note to the owner").AtMost(ledger.MaxReason), site.TextField("verdict", "Decision").Chosen()},
	}
	resumeForm = site.FormKind{
		Purpose: forResume, Action: pathAdminClient + "/resume", Page: pathAdminClient,
		Fields: []site.Field{site.BoundField("revision")},
	}
)

// review approves or rejects a pending client or a proposed revision.
func (w *Area) review(c *site.Request, v site.Session, f *site.Form) error {
	verdict := ledger.Verdict(f.Get("verdict"))
	next := verdict == approveNext
	if next {
		verdict = ledger.Approve
	}
	switch {
	case verdict != ledger.Approve && verdict != ledger.Reject:
		f.SetAlert("Please choose whether to approve or to reject.", 0)
	case verdict == ledger.Reject && reasonOf(f) == "" && hasDocument(&v, f):
		f.SetAlert("Please give a reason. Other administrators read it.", 0)
	case verdict == ledger.Reject && reasonOf(f) == "":
		f.AddProblem("reason", "is missing: the owner must learn what to change")
	}
	if f.Failed() {
		return w.showAdminClient(c, v, f)
	}
	if !next {
		return w.proposeVerdict(c, v, f, verdict, reasonOf(f), w.showAdminClient)
	}
	following := followingReview(v.View, f.Get("id"))
	return w.proposeVerdictThen(c, v, f, verdict, reasonOf(f), w.showAdminClient, func(id string) error {
		if following == "" {
			return c.RedirectNoticeOf(site.PathAdmin, queueNotices, string(verdict), id)
		}
		return c.RedirectNoticeOf(parts.AdminClientPath(following), adminClientNotices, string(verdict), id)
	})
}

// approveNext approves, and goes on to the next client of the queue.
const approveNext ledger.Verdict = "approve-next"

// followingReview returns the client that follows another one in the queue, or else the one that
// waits longest; "" if no other waits.
func followingReview(v ledger.View, id string) string {
	for _, after := range []string{id, ""} {
		waiting, _ := v.ReviewQueue(ledger.QueueQuery{After: after, Limit: 2})
		for _, client := range waiting {
			if client.ID != id {
				return client.ID
			}
		}
	}
	return ""
}

// hasDocument reports whether the client that a form is about has a document, and so no owner.
func hasDocument(v *site.Session, f *site.Form) bool {
	client := v.View.Client(f.Get("id"))
	return client != nil && client.Document != nil
}

// resume resumes a suspended application.
func (w *Area) resume(c *site.Request, v site.Session, f *site.Form) error {
	return w.proposeVerdict(c, v, f, ledger.Resume, "", w.showAdminClient)
}

// reasonOf returns the reason without line breaks, which commands don't permit.
func reasonOf(f *site.Form) string {
	return strings.Join(strings.Fields(f.Get("reason")), " ")
}

// proposeVerdict proposes a verdict on the revision that the page showed, and returns to the
// page of the client.
func (w *Area) proposeVerdict(c *site.Request, v site.Session, f *site.Form, verdict ledger.Verdict, reason string, again func(*site.Request, site.Session, *site.Form) error) error {
	return w.proposeVerdictThen(c, v, f, verdict, reason, again, func(id string) error {
		return c.RedirectNotice(parts.AdminClientPath(id), adminClientNotices, string(verdict))
	})
}

func (w *Area) proposeVerdictThen(c *site.Request, v site.Session, f *site.Form, verdict ledger.Verdict, reason string, again func(*site.Request, site.Session, *site.Form) error, then func(id string) error) error {
	id := f.Get("id")
	revision, err := strconv.ParseUint(f.Get("revision"), 10, 64)
	if err != nil {
		return site.ErrUnreadable // the form of a page always has a number
	}
	c.Client = id
	refused, err := w.Propose(c, &v, "review a client", &ledger.ReviewClient{
		Actor: v.Actor(), ID: id, Verdict: verdict, Reason: reason, Revision: revision,
	})
	if err != nil {
		return err
	}
	if refused == nil {
		return then(id)
	}
	if v.View, err = w.Fresh(c.R.Context()); err != nil {
		return err
	}
	if alreadyReviewed(&v, id, revision, verdict) {
		return then(id)
	}
	return again(c, v, f.Refused(refused))
}

// alreadyReviewed reports whether this administrator has given this verdict on this
// revision: the same form was sent twice, which is not an error.
func alreadyReviewed(v *site.Session, id string, revision uint64, verdict ledger.Verdict) bool {
	e := parts.OwnChange(v, v.View.Client(id), revision)
	if e == nil || e.Kind != ledger.EventClientReviewed {
		return false
	}
	decided, _ := e.Review()
	return decided == verdict
}
