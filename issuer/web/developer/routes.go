package developer

import (
	"fmt"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

const (
	pathNewClient = parts.PathDeveloper + "/new"
	pathClient    = parts.PathDeveloper + "/clients/:id"
	pathOffers    = parts.PathDeveloper + "/offers"
	pathOffer     = pathOffers + "/:id"
)

// Routes returns the developer settings (service document, section 2.1).
func (w *Area) Routes() []site.Route {
	return []site.Route{
		w.PageFor(site.Users, parts.PathDeveloper, w.ownClients),
		w.PageFor(site.Users, pathNewClient, w.newClient),
		w.FormFor(site.Users, &newClientForm, w.createClient),
		w.clientPage(pathClient, w.overviewPage),
		w.clientPage(pathClient+"/scopes", w.scopesPage),
		w.clientPage(pathClient+"/settings", w.settingsPage),
		w.clientPage(pathClient+"/history", w.historyPage),
		w.clientPage(editForm.Page, w.editPage),
		w.clientForm(&editForm, w.edit),
		w.clientForm(&discardForm, w.discard),
		w.clientPage(pathSecrets, w.secretsPage),
		w.clientForm(&addSecretForm, w.addSecret),
		w.clientForm(&setSecretForm, w.setSecret),
		w.clientForm(&revokeSecretForm, w.revokeSecret),
		w.clientPage(decodeForm.Page, w.connectPage),
		w.clientForm(&decodeForm, w.decode),
		w.PageFor(site.Users, pathClient+"/errors", w.errorsPage),
		w.PageFor(site.Users, pathClient+"/users", w.usersPage),
		w.clientPage(migrateForm.Page, w.migrationPage),
		w.clientForm(&keepDraftForm, w.keepDraft),
		w.clientForm(&migrateForm, w.migrate),
		w.clientPage(offerForm.Page, w.transferPage),
		w.clientForm(&offerForm, w.offer),
		w.clientForm(&withdrawForm, w.withdraw),
		w.clientPage(deleteForm.Page, w.deletePage),
		w.FormFor(site.Users, &deleteForm, w.deleteClient),
		w.PageFor(site.Users, pathOffers, w.offersPage),
		w.PageFor(site.Users, pathOffer, w.offerPage),
		w.FormFor(site.Users, &acceptForm, w.accept),
		w.FormFor(site.Users, &declineForm, w.decline),
		{Method: http.MethodGet, Path: site.PathLogo, Serve: w.logo},
	}
}

// clientPage returns the route of a page about a client that the path names, for its owner.
func (w *Area) clientPage(path string, h func(*site.Request, site.Session, *ledger.Client) error) site.Route {
	return w.PageFor(site.Users, path, func(c *site.Request, v site.Session) error {
		client, err := w.owned(c, &v)
		if err != nil {
			return err
		}
		return h(c, v, client)
	})
}

// clientForm returns the route of a form about such a client.
func (w *Area) clientForm(kind *site.FormKind, h func(*site.Request, site.Session, *site.Form, *ledger.Client) error) site.Route {
	return w.FormFor(site.Users, kind, func(c *site.Request, v site.Session, f *site.Form) error {
		client, err := w.owned(c, &v)
		if err != nil {
			return err
		}
		return h(c, v, f, client)
	})
}

// owned returns the client that the path names. A client of somebody else is reported as
// not found.
func (w *Area) owned(c *site.Request, v *site.Session) (*ledger.Client, error) {
	var client *ledger.Client
	there, err := w.ConfirmFresh(c, v, func() bool {
		client = v.View.Client(c.Param("id"))
		return client != nil && client.State != ledger.Deleted && client.Owner == v.User.ID
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("look up the client: %w", err)
	case !there:
		return nil, site.ErrNotFound
	}
	c.Client = client.ID
	return client, nil
}

// ownedOrAdmin is owned, but also permits administrators. They help the owner, but learn
// less about the client's users.
func (w *Area) ownedOrAdmin(c *site.Request, v *site.Session) (client *ledger.Client, err error) {
	there, err := w.ConfirmFresh(c, v, func() bool {
		client = v.View.Client(c.Param("id"))
		return client != nil && client.State != ledger.Deleted && (client.Owner == v.User.ID || v.User.Admin)
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("look up the client: %w", err)
	case !there:
		return nil, site.ErrNotFound
	}
	c.Client = client.ID
	return client, nil
}

// ownedFresh is owned on a fresh view, for a page about a recent change.
func (w *Area) ownedFresh(c *site.Request, v *site.Session) (*ledger.Client, error) {
	fresh, err := w.Fresh(c.R.Context())
	if err != nil {
		return nil, fmt.Errorf("look again: %w", err)
	}
	v.View = fresh
	if w.LookupSession(c, v); v.User == nil {
		return nil, c.SignInFirst()
	}
	return w.owned(c, v)
}

// planned returns the profile that the owner last wanted: the proposed revision if there is one.
func planned(client *ledger.Client) ledger.Profile {
	if client.Proposed != nil {
		return *client.Proposed
	}
	return client.Profile
}
