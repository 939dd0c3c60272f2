package web

import (
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var deleteForm = formKind{
	purpose: "delete client", action: pathClient + "/delete", page: pathClient + "/delete",
	fields: []field{boundField("revision"), textField("name", "Name of the application")},
}

type deleteBody struct {
	Name string
	Path string
	Form *form
}

func (w *Web) deletePage(c *request, v session, client *ledger.Client) error {
	return w.showDelete(c, v, client, v.clientForm(&deleteForm, client, "revision", strconv.FormatUint(client.Revision, 10)))
}

func (w *Web) showDelete(c *request, v session, client *ledger.Client, f *form) error {
	return w.show(c, v, "developer_delete", ui.Page{
		Title: "Delete " + client.Name + "?", Up: upTo(client), Form: f,
		Body: deleteBody{Name: client.Name, Path: clientPath(client.ID), Form: f},
	})
}

// deleteClient also succeeds if the client is deleted already.
func (w *Web) deleteClient(c *request, v session, f *form) error {
	revision, err := strconv.ParseUint(f.get("revision"), 10, 64)
	if err != nil {
		return errUnreadable
	}
	client := v.view.Client(f.get("id"))
	if client == nil || client.Owner != v.user.ID || client.State != ledger.Deleted {
		if client, err = w.owned(c, &v); err != nil {
			return err
		}
		if !sameName(f.get("name"), client.Name) {
			f.addProblem("name", "is not what you typed")
			return w.showDelete(c, v, client, f)
		}
	}
	refused, err := w.propose(c, &v, "delete a client", &ledger.DeleteClient{Actor: v.actor(), ID: client.ID, Revision: revision})
	switch {
	case err != nil:
		return err
	case refused != nil:
		if client, err = w.ownedFresh(c, &v); err != nil {
			return err
		}
		f.values.Set("revision", strconv.FormatUint(client.Revision, 10))
		return w.showDelete(c, v, client, f.refused(refused))
	}
	c.client = client.ID
	return c.redirectNotice(pathDeveloper, developerNotices, "deleted")
}

// sameName compares a typed name with a displayed one, in which browsers collapse spaces.
func sameName(typed, name string) bool {
	return strings.Join(strings.Fields(typed), " ") == strings.Join(strings.Fields(name), " ")
}
