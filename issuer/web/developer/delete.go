package developer

import (
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var deleteForm = site.FormKind{
	Purpose: "delete client", Action: pathClient + "/delete", Page: pathClient + "/delete", Single: true,
	Fields: []site.Field{site.BoundField("revision"), site.TextField("name", "Name of the application")},
}

type deleteBody struct {
	Lose   string // who loses access
	Path   string
	Failed bool
	Form   *site.Form
	Name   ui.Input // what is typed to confirm
}

func (w *Area) deletePage(c *site.Request, v site.Session, client *ledger.Client) error {
	return w.showDelete(c, v, client, parts.ClientForm(&v, &deleteForm, client, "revision", strconv.FormatUint(client.Revision, 10)))
}

func (w *Area) showDelete(c *site.Request, v site.Session, client *ledger.Client, f *site.Form) error {
	name := f.Input("name", "").Called("Type " + client.Name + " to confirm").As("off").AtMost(200)
	return w.Show(c, v, "delete", ui.Page{
		Title: "Delete " + client.Name + "?", Up: upToSettings(client), Form: f,
		Body: deleteBody{Lose: w.whoLoses(c, &v, client), Path: parts.ClientPath(client.ID), Failed: f.Failed(), Form: f, Name: name},
	})
}

// whoLoses returns who loses access if an application is deleted.
func (w *Area) whoLoses(c *site.Request, v *site.Session, client *ledger.Client) string {
	people, counted := w.people(c, v, client, w.Ledger.Now())
	switch {
	case !counted || people.Users == 0:
		return "Everybody who allowed it loses access"
	case people.Users == 1:
		return "1 person loses access"
	}
	return ui.Comma(people.Users) + " people lose access"
}

// deleteClient also succeeds if the client is deleted already.
func (w *Area) deleteClient(c *site.Request, v site.Session, f *site.Form) error {
	revision, err := strconv.ParseUint(f.Get("revision"), 10, 64)
	if err != nil {
		return site.ErrUnreadable
	}
	client := v.View.Client(f.Get("id"))
	if client == nil || client.Owner != v.User.ID || client.State != ledger.Deleted {
		if client, err = w.owned(c, &v); err != nil {
			return err
		}
		if !sameName(f.Get("name"), client.Name) {
			f.AddSentence("name", "That isn’t the name. Type "+client.Name+".")
			return w.showDelete(c, v, client, f)
		}
	}
	refused, err := w.Propose(c, &v, "delete a client", &ledger.DeleteClient{Actor: v.Actor(), ID: client.ID, Revision: revision})
	switch {
	case err != nil:
		return err
	case refused != nil:
		if client, err = w.ownedFresh(c, &v); err != nil {
			return err
		}
		f.Values.Set("revision", strconv.FormatUint(client.Revision, 10))
		return w.showDelete(c, v, client, f.Refused(refused))
	}
	c.Client = client.ID
	return c.RedirectNoticeOf(parts.PathDeveloper, developerNotices, "deleted", client.ID)
}

// sameName compares a typed name with a displayed one, in which browsers collapse spaces.
func sameName(typed, name string) bool {
	return strings.Join(strings.Fields(typed), " ") == strings.Join(strings.Fields(name), " ")
}
