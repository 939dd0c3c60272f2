package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// Paths of the developer settings.
const (
	pathDeveloper = "/developer"
	pathNewClient = pathDeveloper + "/new"
	pathClient    = pathDeveloper + "/clients/:id"
	pathOffers    = pathDeveloper + "/offers"
	pathOffer     = pathOffers + "/:id"
)

// developerRoutes returns the developer settings (service document, section 2.1).
func (w *Web) developerRoutes() []route {
	return []route{
		w.pageFor(users, pathDeveloper, w.ownClients),
		w.pageFor(users, pathNewClient, w.newClient),
		w.formFor(users, &newClientForm, w.createClient),
		w.clientPage(pathClient, w.ownClient),
		w.clientPage(editForm.page, w.editPage),
		w.clientForm(&editForm, w.edit),
		w.clientForm(&discardRefusedForm, w.discardRefused),
		w.clientPage(pathSecrets, w.secretsPage),
		w.clientForm(&addSecretForm, w.addSecret),
		w.clientForm(&revokeSecretForm, w.revokeSecret),
		w.clientPage(pathClient+"/connect", w.connectPage),
		w.pageFor(users, pathClient+"/errors", w.errorsPage),
		w.pageFor(users, pathClient+"/users", w.usersPage),
		w.clientPage(migrateForm.page, w.migrationPage),
		w.clientForm(&migrateForm, w.migrate),
		w.clientPage(offerForm.page, w.transferPage),
		w.clientForm(&offerForm, w.offer),
		w.clientForm(&withdrawForm, w.withdraw),
		w.clientPage(deleteForm.page, w.deletePage),
		w.formFor(users, &deleteForm, w.deleteClient),
		w.pageFor(users, pathOffers, w.offersPage),
		w.pageFor(users, pathOffer, w.offerPage),
		w.formFor(users, &acceptForm, w.accept),
		w.formFor(users, &declineForm, w.decline),
		{method: http.MethodGet, path: pathLogos + ":digest", serve: w.logo},
	}
}

// clientPage returns the route of a page about a client that the path names, for its owner.
func (w *Web) clientPage(path string, h func(*request, session, *ledger.Client) error) route {
	return w.pageFor(users, path, func(c *request, v session) error {
		client, err := w.owned(c, &v)
		if err != nil {
			return err
		}
		return h(c, v, client)
	})
}

// clientForm returns the route of a form about such a client.
func (w *Web) clientForm(kind *formKind, h func(*request, session, *form, *ledger.Client) error) route {
	return w.formFor(users, kind, func(c *request, v session, f *form) error {
		client, err := w.owned(c, &v)
		if err != nil {
			return err
		}
		return h(c, v, f, client)
	})
}

// owned returns the client that the path names. A client of somebody else is reported as
// not found.
func (w *Web) owned(c *request, v *session) (*ledger.Client, error) {
	var client *ledger.Client
	there, err := w.confirmFresh(c, v, func() bool {
		client = v.view.Client(c.param("id"))
		return client != nil && client.State != ledger.Deleted && client.Owner == v.user.ID
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("look up the client: %w", err)
	case !there:
		return nil, errNotFound
	}
	c.client = client.ID
	return client, nil
}

// ownedOrAdmin is owned, but also permits administrators. They help the owner, but learn
// less about the client's users.
func (w *Web) ownedOrAdmin(c *request, v *session) (client *ledger.Client, err error) {
	there, err := w.confirmFresh(c, v, func() bool {
		client = v.view.Client(c.param("id"))
		return client != nil && client.State != ledger.Deleted && (client.Owner == v.user.ID || v.user.Admin)
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("look up the client: %w", err)
	case !there:
		return nil, errNotFound
	}
	c.client = client.ID
	return client, nil
}

// ownedFresh is owned on a fresh view, for a page about a recent change.
func (w *Web) ownedFresh(c *request, v *session) (*ledger.Client, error) {
	fresh, err := w.fresh(c.r.Context())
	if err != nil {
		return nil, fmt.Errorf("look again: %w", err)
	}
	v.view = fresh
	if w.lookupSession(c, v); v.user == nil {
		return nil, c.signInFirst()
	}
	return w.owned(c, v)
}

// clientPath returns the path of a client's page, or of one below it.
func clientPath(id string, below ...string) string {
	return strings.Join(append([]string{pathDeveloper, "clients", url.PathEscape(id)}, below...), "/")
}

// clientForm returns a form about a client, with values in addition to its id.
func (v *session) clientForm(kind *formKind, client *ledger.Client, pairs ...string) *form {
	values := url.Values{"id": {client.ID}}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return v.form(kind, values)
}

// upTo returns the link from a page below a client's to the client.
func upTo(client *ledger.Client) *ui.Link { return up(client.Name, clientPath(client.ID)) }

// pageOfClient returns a page of a client with the head that its pages share. below is the
// last part of its path, "" for the overview. An administrator who doesn't own the client has
// no tabs.
func (w *Web) pageOfClient(v *session, client *ledger.Client, title, below string) ui.Page {
	p := ui.Page{
		Title: title, Name: client.Name, Picture: pictureOf(&client.Profile),
		Copy: &ui.Copy{ID: "client-id", Label: "client ID", Value: client.ClientID()},
	}
	if client.Owner != v.user.ID {
		p.Up = up(client.Name, adminClientPath(client.ID))
		return p
	}
	p.Up = up("Applications", pathDeveloper)
	p.Pills = clientPills(client)
	p.Actions = []ui.Action{{Title: "Edit", Path: clientPath(client.ID, "edit")}}
	for _, tab := range []ui.Tab{
		{Title: "Overview", Path: ""},
		{Title: "Credentials", Path: "secrets"},
		{Title: "Connect", Path: "connect"},
		{Title: "Users", Path: "users"},
		{Title: "Errors", Path: "errors"},
	} {
		if tab.Path == "secrets" && client.Public() {
			continue
		}
		tab.Here, tab.Path = tab.Path == below, strings.TrimSuffix(clientPath(client.ID, tab.Path), "/")
		p.Tabs = append(p.Tabs, tab)
	}
	return p
}

// clientPills returns the state of a client.
func clientPills(client *ledger.Client) []ui.Pill {
	pills := []ui.Pill{statePill(client.State)}
	if client.Legacy {
		pills = append(pills, legacyPill)
	}
	return pills
}

var legacyPill = ui.Pill{Text: "Legacy", Tone: ui.Info}

// planned returns the profile that the owner last wanted: the proposed revision if there is one.
func planned(client *ledger.Client) ledger.Profile {
	if client.Proposed != nil {
		return *client.Proposed
	}
	return client.Profile
}
