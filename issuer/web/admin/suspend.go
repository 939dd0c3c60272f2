package admin

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var suspendForm = site.FormKind{
	Purpose: forSuspend, Action: pathAdminClient + "/suspend", Page: pathAdminClient + "/suspend", Undone: "The application wasn’t suspended.",
	Fields: []site.Field{site.BoundField("revision"), site.TextField("reason", "Note to the owner").AtMost(ledger.MaxReason)},
}

type suspendBody struct {
	Note   ui.Input
	People int    // number of connected users; 0 also if they are not counted yet
	Path   string // of the application's page
	Form   *site.Form
}

// suspendPage shows the form that suspends an application.
func (w *Area) suspendPage(c *site.Request, v site.Session) error {
	return w.showSuspend(c, v, nil)
}

// showSuspend shows the page with a refused form, or nil.
func (w *Area) showSuspend(c *site.Request, v site.Session, sent *site.Form) error {
	client, err := w.clientParam(c, &v)
	if err != nil {
		return err
	}
	path := parts.AdminClientPath(client.ID)
	switch {
	case client.State == ledger.Approved:
	case sent != nil:
		return w.showAdminClient(c, v, sent) // its state has changed since the form was shown
	default:
		return c.Redirect(path)
	}
	f := parts.ClientAt(&v, &suspendForm, client, sent)
	note := f.Input("reason", "Why, and what has to change. The owner reads it.")
	if client.Document != nil {
		note = f.Input("reason", "Other administrators read it.").Called("Reason")
	}
	people, _ := parts.PeopleOf(c.R.Context(), w.people, v.View, client.ID, w.Ledger.Now())
	return w.showAdmin(c, v, "suspend", ui.Page{
		Title: "Suspend " + client.Name + "?", Up: site.Up(client.Name, path), Form: sent,
		Body: suspendBody{Note: note.Optional().Text(3), People: people.Users, Path: path, Form: f},
	})
}

// suspend suspends an approved application.
func (w *Area) suspend(c *site.Request, v site.Session, f *site.Form) error {
	return w.proposeVerdict(c, v, f, ledger.Suspend, reasonOf(f), w.showSuspend)
}
