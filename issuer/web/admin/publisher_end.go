package admin

import (
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// A publisherEnd is one way to end what the clients of a publisher may do.
type publisherEnd struct {
	how  ledger.PublisherEnd
	form site.FormKind
}

// publisherEnds has every publisherEnd. Each has a page that asks first, since all users of the clients
// lose access at once.
var publisherEnds = []*publisherEnd{
	newPublisherEnd(ledger.EndGrants, forRevokePublisher),
	newPublisherEnd(ledger.EndReject, forRejectPublisher, site.TextField("reason", "Reason").AtMost(ledger.MaxReason)),
	newPublisherEnd(ledger.EndRemove, forRemovePublisher),
}

func newPublisherEnd(how ledger.PublisherEnd, p site.Purpose, fields ...site.Field) *publisherEnd {
	path := pathAdminPublisher + "/" + string(how)
	return &publisherEnd{how, site.FormKind{Purpose: p, Action: path, Page: path, Fields: append([]site.Field{site.BoundField("expected_last")}, fields...)}}
}

// redirect redirects to the page that confirms what was done. connected is whether anybody was
// connected to the publisher before.
func (e *publisherEnd) redirect(c *site.Request, host string, connected bool) error {
	word, path, of := "revoked", parts.PublisherPath(host), ""
	switch {
	case e.how == ledger.EndRemove:
		word, path, of = "removed", site.PathAdminPublishers, host
	case e.how == ledger.EndReject && host == ledger.LocalPublisher:
		word = "off"
	case e.how == ledger.EndReject:
		word = "rejected"
	}
	if !connected {
		word += "-none"
	}
	return c.RedirectNoticeOf(path, publisherNotices, word, of)
}

type endPublisherBody struct {
	How    ledger.PublisherEnd
	Agents ledger.Agents
	Name   string
	Path   string
	Local  bool
	People int // who lose access
	Form   *site.Form
}

func (w *Area) endPublisherPage(e *publisherEnd) func(*site.Request, site.Session) error {
	return func(c *site.Request, v site.Session) error { return w.showEndPublisher(c, v, e, nil) }
}

// showEndPublisher shows the question with a form that was refused, or nil.
func (w *Area) showEndPublisher(c *site.Request, v site.Session, e *publisherEnd, f *site.Form) error {
	p, err := w.publisherAt(c, &v)
	switch {
	case err != nil:
		return err
	case f == nil && (e.how == ledger.EndReject && p.State == ledger.PublisherRejected || v.View.Publisher(p.Host) == nil):
		return c.Redirect(parts.PublisherPath(p.Host)) // it has ended
	case f == nil:
		f = v.Form(&e.form, url.Values{"host": {p.Host}})
	}
	f.Values.Set("expected_last", expectedLast(p.Last))
	body := endPublisherBody{
		How: e.how, Agents: v.View.Settings().Agents, Name: titleOf(p.Host), Path: parts.PublisherPath(p.Host), Local: p.Host == ledger.LocalPublisher, Form: f,
	}
	body.People = v.View.GrantsOfPublisher(p.Host, w.Ledger.Now()).Users
	title := "Disconnect everybody from " + body.Name + "?"
	switch {
	case e.how == ledger.EndRemove:
		title = "Remove " + body.Name + "?"
	case e.how == ledger.EndReject && body.Local:
		title = "Turn off programs on users’ computers?"
	case e.how == ledger.EndReject:
		title = "Reject " + body.Name + "?"
	}
	return w.showAdmin(c, v, "publisher_end", ui.Page{Title: title, Up: publisherUp(p), Form: f, Body: body})
}

// endPublisher also succeeds if the same form was sent before.
func (w *Area) endPublisher(e *publisherEnd) func(*site.Request, site.Session, *site.Form) error {
	return func(c *site.Request, v site.Session, f *site.Form) error {
		seen, ok := parseExpectedLast(f.Get("expected_last"))
		if !ok {
			return site.ErrUnreadable
		}
		host := f.Get("host")
		p, err := w.publisherAt(c, &v)
		switch {
		case err == site.ErrNotFound && e.how == ledger.EndRemove:
			return e.redirect(c, host, false)
		case err != nil:
			return err
		}
		// Nobody can be connected to a publisher that is not approved.
		connected := p.State == ledger.PublisherApproved && v.View.GrantsOfPublisher(host, w.Ledger.Now()).Users > 0
		cmd := &ledger.EndPublisher{Actor: v.Actor(), Host: host, How: e.how, ExpectedLast: seen}
		if e.how == ledger.EndReject {
			cmd.Reason = reasonOf(f)
		}
		refused, err := w.Propose(c, &v, "end a publisher", cmd)
		switch {
		case c.Cause == ledger.NotFound && e.how == ledger.EndRemove: // this node may lag, and LocalPublisher is always found
			return e.redirect(c, host, connected)
		case err != nil:
			return err
		}
		if refused != nil {
			p, err := w.publisherFresh(c, &v)
			if err != nil {
				return err
			}
			if e.how != ledger.EndReject || p.State != ledger.PublisherRejected || p.Reason != cmd.Reason {
				return w.showEndPublisher(c, v, e, f.Refused(refused))
			}
		}
		return e.redirect(c, host, connected)
	}
}
