package web

import (
	"net/url"
	"strconv"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var editForm = formKind{
	purpose: "edit client", action: pathClient + "/edit", page: pathClient + "/edit", revisited: true,
	fields: append([]field{boundField("revision"), boundField("from")}, profileFields...),
}

// fromRefused, in an edit form and in the address of its page, marks an edit that started
// from a refused revision.
const fromRefused = "refused"

type editBody struct {
	Form    *form
	Profile profileForm
	Path    string
	Live    bool // changes that widen access or rename await a review
	Waiting bool // the form is filled in with a proposed revision
	Refused *refusedChanges
	Again   bool // the form is filled in with Refused

	// Undoes is what saving the form would undo: changes that others, or another page of
	// the same user, saved while it was open.
	Undoes []ui.Difference
}

// editPage shows the profile that the owner last wanted: a proposed revision, or a
// refused one if requested, is the starting point.
func (w *Web) editPage(c *request, v session, client *ledger.Client) error {
	from := ""
	if client.Refused != nil && c.r.URL.Query().Get("from") == fromRefused {
		from = fromRefused
	}
	p := basis(client, from)
	values := url.Values{
		"id": {client.ID}, "revision": {strconv.FormatUint(client.Revision, 10)}, "from": {from},
		"name": {p.Name}, "purpose": {p.Purpose}, "website": {p.Website},
		"privacy_url": {p.PrivacyURL}, "terms_url": {p.TermsURL},
		"redirect_uris": p.RedirectURIs, "scopes": p.Scopes,
	}
	return w.showEdit(c, v, client, v.form(&editForm, values))
}

func (w *Web) showEdit(c *request, v session, client *ledger.Client, f *form) error {
	return w.showEditBody(c, v, client, f, nil)
}

func (w *Web) showEditBody(c *request, v session, client *ledger.Client, f *form, undoes []ui.Difference) error {
	body := editBody{
		Form: f, Profile: showProfile(f, basis(client, f.get("from")).Logo, client.Legacy), Path: clientPath(client.ID),
		Live:    client.State == ledger.Approved || client.State == ledger.Suspended,
		Waiting: client.Proposed != nil && undoes == nil, Refused: refusedOf(client), Again: f.get("from") == fromRefused,
		Undoes: undoes,
	}
	return w.show(c, v, "developer_edit", ui.Page{Title: "Edit " + client.Name, Up: upTo(client), Form: f, Body: body})
}

func (w *Web) edit(c *request, v session, f *form, client *ledger.Client) error {
	revision, err := strconv.ParseUint(f.get("revision"), 10, 64)
	if err != nil {
		return errUnreadable
	}
	p, picture := f.profile(v.view, client.Type, client, basis(client, f.get("from")).Logo)
	if f.Failed() {
		return w.showEdit(c, v, client, f)
	}
	return w.proposeEdit(c, v, client, f, &ledger.EditClient{
		Actor: v.actor(), ID: client.ID, Revision: revision, Profile: p, Logo: picture,
	})
}

// proposeEdit has an edit decided, and shows the result.
func (w *Web) proposeEdit(c *request, v session, client *ledger.Client, f *form, command *ledger.EditClient) error {
	refused, err := w.propose(c, &v, "edit a client", command)
	if err != nil {
		return err
	}
	now, err := w.ownedFresh(c, &v)
	if err != nil {
		return err
	}
	if refused != nil {
		if refused.Cause != ledger.Conflict || !isPlanned(now, command.Profile) {
			// The input is shown again, for the current state of the client. Saving it would
			// overwrite what was saved meanwhile, so that is shown.
			f.values.Set("revision", strconv.FormatUint(now.Revision, 10))
			return w.showEditBody(c, v, now, f.refused(refused), undone(now, command, refused))
		}
		// The same form was sent twice.
	}
	switch {
	case refused == nil && now.Revision == command.Revision:
		return c.redirectNotice(clientPath(client.ID), clientNotices, "unchanged")
	case client.State == ledger.Rejected:
		return c.redirectNotice(clientPath(client.ID), clientNotices, "again")
	case now.Proposed != nil:
		return c.redirectNotice(clientPath(client.ID), clientNotices, "proposed")
	}
	return c.redirectNotice(clientPath(client.ID), clientNotices, "saved")
}

// undone returns what an edit that was refused because of a concurrent change would undo.
// It ignores a picture that was sent, which has to be chosen again.
func undone(now *ledger.Client, edit *ledger.EditClient, r *ledger.Refusal) []ui.Difference {
	if r.Cause != ledger.Conflict {
		return nil
	}
	is, then := planned(now), edit.Profile
	if edit.Logo != nil {
		then.Logo = is.Logo
	}
	return differences(&is, &then)
}

// isPlanned reports whether a client has, or has proposed, a profile.
func isPlanned(client *ledger.Client, p ledger.Profile) bool {
	is := planned(client)
	return len(ledger.Differences(&is, &p)) == 0
}
