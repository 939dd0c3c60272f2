package developer

import (
	"encoding/hex"
	"io"
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var newClientForm = site.FormKind{
	Purpose: "new client", Action: pathNewClient, Page: pathNewClient, Revisited: true, Undone: "The application isn’t registered yet.",
	Fields: append([]site.Field{site.BoundField("client"), site.TextField("type", "The type").Chosen().Worded(typeName)}, profileFields...),
}

func typeName(value string) string {
	if t := ledger.ClientType(value); t == ledger.Confidential || t == ledger.Public {
		return parts.TypeName(t)
	}
	return ""
}

// newClient shows an empty form. The client's id is generated here, so that sending the
// same form twice registers one application.
func (w *Area) newClient(c *site.Request, v site.Session) error {
	return w.showNewClient(c, v, v.Form(&newClientForm, url.Values{"client": {w.newClientID()}}))
}

// newClientID returns an id with a prefix like those of users and secrets. Prefixes that
// begin with mm are reserved for credentials and error ids.
func (w *Area) newClientID() string {
	var id [16]byte
	if _, err := io.ReadFull(w.Rand, id[:]); err != nil {
		panic("web: no random bytes: " + err.Error())
	}
	return "c_" + hex.EncodeToString(id[:])
}

func (w *Area) showNewClient(c *site.Request, v site.Session, f *site.Form) error {
	return w.Show(c, v, "new", ui.Page{
		Title: "Register an application", Up: site.Up("Applications", parts.PathDeveloper),
		Lead: "Register an application to get a client ID and connect users’ accounts. An administrator reviews it before anybody can use it.",
		Form: f, Body: w.showProfile(f, &v, nil, nil),
	})
}

func (w *Area) createClient(c *site.Request, v site.Session, f *site.Form) error {
	if f.Get("preview") != "" {
		return w.showNewClient(c, v, f)
	}
	id, kind := f.Get("client"), ledger.ClientType(f.Get("type"))
	if kind != ledger.Confidential && kind != ledger.Public {
		f.AddSentence("type", "Choose a type.")
		kind = ledger.Public // the least strict type for validating redirect URIs
	}
	p, picture := profileIn(f, v.View, kind, nil, nil)
	if f.Failed() {
		return w.showNewClient(c, v, f)
	}
	refused, err := w.Propose(c, &v, "register a client", &ledger.CreateClient{
		Actor: v.Actor(), ID: id, Owner: v.User.ID, Type: kind, Profile: p, Logo: picture,
	})
	if err != nil {
		return err
	}
	if refused != nil {
		if refused.Cause != ledger.AlreadyExists || !w.isOwn(c, &v, id) {
			return w.showNewClient(c, v, f.Refused(refused))
		}
		// The same form was sent twice.
	}
	c.Client = id
	return c.RedirectNotice(parts.ClientPath(id), clientNotices, "created")
}

// isOwn reports whether the session's user owns a client, on a fresh view.
func (w *Area) isOwn(c *site.Request, v *site.Session, id string) bool {
	view, err := w.Fresh(c.R.Context())
	if err != nil {
		return false
	}
	client := view.Client(id)
	return client != nil && client.Owner == v.User.ID
}
