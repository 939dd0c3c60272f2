package developer

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var editForm = site.FormKind{
	Purpose: "edit client", Action: pathClient + "/edit", Page: pathClient + "/edit", Revisited: true,
	Fields: append([]site.Field{
		site.BoundField("revision"), site.BoundField("from"),
		site.TextField("removed", "The removal").Chosen(), // the scopes and redirect URIs that the user agreed to remove
	}, profileFields...),
}

type editBody struct {
	Profile  profileForm
	Failed   bool // only the problems stand above the form
	Lead     string
	Rejected *ui.Callout // why the application, or the changes in the form, were rejected
	Waiting  bool        // the form is filled in with a proposed revision
	Review   ui.Callout  // about it
	Again    *ui.Callout // offers to start from rejected changes; nil if there are none, or the form has them

	// Undoes is what saving the form would undo: changes that others, or another page of
	// the same user, saved while it was open.
	Undoes []ui.Difference
}

// editPage shows the profile that the owner last wanted: a proposed revision, or a
// refused one if requested, is the starting point.
func (w *Area) editPage(c *site.Request, v site.Session, client *ledger.Client) error {
	from := ""
	if client.Refused != nil && c.R.URL.Query().Get("from") == parts.FromRefused {
		from = parts.FromRefused
	}
	p := basis(client, from)
	values := url.Values{
		"id": {client.ID}, "revision": {strconv.FormatUint(client.Revision, 10)}, "from": {from},
		"name": {p.Name}, "purpose": {p.Purpose}, "website": {p.Website},
		"privacy_url": {p.PrivacyURL}, "terms_url": {p.TermsURL},
		"redirect_uris": p.RedirectURIs, "scopes": p.Scopes,
	}
	return w.showEdit(c, v, client, v.Form(&editForm, values))
}

func (w *Area) showEdit(c *site.Request, v site.Session, client *ledger.Client, f *site.Form) error {
	return w.showEditBody(c, v, client, f, nil)
}

func (w *Area) showEditBody(c *site.Request, v site.Session, client *ledger.Client, f *site.Form, undoes []ui.Difference) error {
	path, from := parts.ClientPath(client.ID), f.Get("from")
	body := editBody{
		Profile: w.showProfile(f, &v, client, basis(client, from).Logo), Failed: f.Failed(),
		Lead:    "The reviewer sees the application as you save it.",
		Waiting: client.Proposed != nil && undoes == nil, Undoes: undoes,
		Review: ui.Callout{Tone: ui.Info, Text: "Your changes in review are filled in below.", Action: &ui.Action{Title: "See them", Path: path + "/scopes#proposed", Small: true}},
	}
	because := func(title, reason string) *ui.Callout {
		return &ui.Callout{Tone: ui.Warn, Title: title + ending(reason), Quote: reason}
	}
	switch r := client.Refused; {
	case client.State == ledger.Rejected:
		body.Rejected, body.Lead, body.Profile.Do = because("Rejected", client.Reason), "Change what the reviewer asks for. Saving sends the application to review again.", "Resubmit for review"
	case r != nil && from == parts.FromRefused:
		body.Rejected, body.Lead, body.Profile.Do = because("Your changes were rejected", r.Reason), "They are filled in below. Change what the reviewer asks for, and resubmit them.", "Resubmit for review"
	case client.Reviewed():
		body.Lead = "Changes are reviewed first. Removed scopes and redirect URIs end at once."
		if r != nil {
			body.Again = &ui.Callout{
				Tone: ui.Info, Title: "Your last changes were rejected.", Text: "They aren’t filled in below. Saving something else dismisses them.",
				Action: &ui.Action{Title: "Start from them", Path: path + "/edit?from=" + parts.FromRefused, Small: true},
			}
		}
	}
	return w.Show(c, v, "edit", ui.Page{Title: "Edit " + client.Name, Up: upTo(client), Form: f, Body: body})
}

func (w *Area) edit(c *site.Request, v site.Session, f *site.Form, client *ledger.Client) error {
	revision, err := strconv.ParseUint(f.Get("revision"), 10, 64)
	if err != nil {
		return site.ErrUnreadable
	}
	if f.Get("preview") != "" {
		return w.showEdit(c, v, client, f)
	}
	p, picture := profileIn(f, v.View, client.Type, client, basis(client, f.Get("from")).Logo)
	if f.Failed() {
		return w.showEdit(c, v, client, f)
	}
	// An edit of an older revision is refused below, or was sent twice.
	if client.Reviewed() && client.Revision <= revision {
		if r := removalOf(client, p); len(r.Names) > 0 && strings.Join(r.Names, " ") != f.Get("removed") {
			return w.askRemoval(c, v, client, f, r)
		}
	}
	return w.proposeEdit(c, v, client, f, &ledger.EditClient{
		Actor: v.Actor(), ID: client.ID, Revision: revision, Profile: p, Logo: picture,
	})
}

// proposeEdit has an edit decided, and shows the result.
func (w *Area) proposeEdit(c *site.Request, v site.Session, client *ledger.Client, f *site.Form, command *ledger.EditClient) error {
	refused, err := w.Propose(c, &v, "edit a client", command)
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
			f.Values.Set("revision", strconv.FormatUint(now.Revision, 10))
			return w.showEditBody(c, v, now, f.Refused(refused), undone(now, command, refused))
		}
		// The same form was sent twice.
	}
	done := "saved"
	switch {
	case refused == nil && now.Revision == command.Revision:
		return c.RedirectNotice(parts.ClientPath(client.ID, "scopes"), clientNotices, "unchanged")
	case client.State == ledger.Rejected:
		return c.RedirectNotice(parts.ClientPath(client.ID), clientNotices, "again")
	case now.Proposed != nil:
		done = "proposed"
	}
	return c.RedirectNoticeOf(parts.ClientPath(client.ID, "scopes"), clientNotices, done, nameRemoved(strings.Fields(f.Get("removed"))))
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
	return parts.Differences(&is, &then)
}

// isPlanned reports whether a client has, or has proposed, a profile.
func isPlanned(client *ledger.Client, p ledger.Profile) bool {
	is := planned(client)
	return len(ledger.Differences(&is, &p)) == 0
}
