package web

import (
	"encoding/hex"
	"io"
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var newClientForm = formKind{
	purpose: "new client", action: pathNewClient, page: pathNewClient, revisited: true,
	fields: append([]field{boundField("client"), textField("type", "The type").chosen()}, profileFields...),
}

type newClientBody struct {
	Form    *form
	Profile profileForm
}

// newClient shows an empty form. The client's id is generated here, so that sending the
// same form twice registers one application.
func (w *Web) newClient(c *request, v session) error {
	return w.showNewClient(c, v, v.form(&newClientForm, url.Values{"client": {w.newClientID()}}))
}

// newClientID returns an id with a prefix like those of users and secrets. Prefixes that
// begin with mm are reserved for credentials and error ids.
func (w *Web) newClientID() string {
	var id [16]byte
	if _, err := io.ReadFull(w.config.Rand, id[:]); err != nil {
		panic("web: no random bytes: " + err.Error())
	}
	return "c_" + hex.EncodeToString(id[:])
}

func (w *Web) showNewClient(c *request, v session, f *form) error {
	return w.show(c, v, "developer_new", ui.Page{
		Title: "Register an application", Up: up("Applications", pathDeveloper),
		Form: f, Body: newClientBody{f, showProfile(f, nil, false)},
	})
}

func (w *Web) createClient(c *request, v session, f *form) error {
	id, kind := f.get("client"), ledger.ClientType(f.get("type"))
	if kind != ledger.Confidential && kind != ledger.Public {
		f.addProblem("type", "is not chosen")
		kind = ledger.Public // the least strict type for validating redirect URIs
	}
	p, picture := f.profile(v.view, kind, nil, nil)
	if f.Failed() {
		return w.showNewClient(c, v, f)
	}
	refused, err := w.propose(c, &v, "register a client", &ledger.CreateClient{
		Actor: v.actor(), ID: id, Owner: v.user.ID, Type: kind, Profile: p, Logo: picture,
	})
	if err != nil {
		return err
	}
	if refused != nil {
		if refused.Cause != ledger.AlreadyExists || !w.isOwn(c, &v, id) {
			return w.showNewClient(c, v, f.refused(refused))
		}
		// The same form was sent twice.
	}
	c.client = id
	return c.redirectNotice(clientPath(id), clientNotices, "created")
}

// isOwn reports whether the session's user owns a client, on a fresh view.
func (w *Web) isOwn(c *request, v *session, id string) bool {
	view, err := w.fresh(c.r.Context())
	if err != nil {
		return false
	}
	client := view.Client(id)
	return client != nil && client.Owner == v.user.ID
}
