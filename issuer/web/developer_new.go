package web

import (
	"encoding/hex"
	"io"
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

var newClientForm = formKind{
	purpose: "new client", action: pathNewClient, page: pathNewClient, revisited: true,
	fields: append([]field{boundField("client"), textField("type", "The type").chosen()}, profileFields...),
}

type newClientBody struct {
	Form    *form
	Profile profileForm
}

// newClient shows an empty form. The client's id is made here, so that the same
// form sent twice registers one application.
func (w *Web) newClient(c *request, v session) error {
	return w.showNewClient(c, v, v.form(&newClientForm, url.Values{"client": {w.newClientID()}}))
}

// newClientID begins as the ids of users and secrets do. What begins with mm is
// a credential, or is about one: nobody takes an authorization code for this.
func (w *Web) newClientID() string {
	var id [16]byte
	if _, err := io.ReadFull(w.config.Rand, id[:]); err != nil {
		panic("web: no random bytes: " + err.Error())
	}
	return "c_" + hex.EncodeToString(id[:])
}

func (w *Web) showNewClient(c *request, v session, f *form) error {
	return w.show(c, v, "developer_new", page{
		Title: "Register an application", Trail: []crumb{{"Developer settings", pathDeveloper}},
		Form: f, Body: newClientBody{f, showProfile(f, nil, false)},
	})
}

func (w *Web) createClient(c *request, v session, f *form) error {
	id, kind := f.get("client"), ledger.ClientType(f.get("type"))
	if kind != ledger.Confidential && kind != ledger.Public {
		f.addProblem("type", "is not chosen")
		kind = ledger.Public // which may have any redirection URI that there may be
	}
	p, picture := f.profile(v.view, kind, nil, nil)
	if f.failed() {
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
		// The same form, a second time.
	}
	c.client = id
	return c.redirectNotice(clientPath(id), clientNotices, "created")
}

// isOwn reports whether a client is the session's user's, now.
func (w *Web) isOwn(c *request, v *session, id string) bool {
	view, err := w.fresh(c.r.Context())
	if err != nil {
		return false
	}
	client := view.Client(id)
	return client != nil && client.Owner == v.user.ID
}
