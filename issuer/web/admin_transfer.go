package web

import (
	"strconv"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var transferForm = formKind{
	purpose: forTransfer, action: pathAdminClient + "/transfer", page: pathAdminClient + "/transfer",
	fields: []field{boundField("revision"), textField("username", "Username"), ownPasswordField()},
}

type adminTransferBody struct {
	Name         string
	Public       bool // the client has no secrets
	Owner        nameLink
	OwnerProblem string // why the owner can't manage it; "" if they can
	Path         string
	Form         *form
}

// ownerProblem returns why a user can't manage what they own, or "".
func ownerProblem(u *ledger.User) string {
	switch {
	case u == nil || u.Deleted:
		return "The owner no longer has an account."
	case u.Disabled:
		return "The owner's account is disabled."
	}
	return ""
}

// adminTransferPage shows the form that transfers an application without its owner's consent.
func (w *Web) adminTransferPage(c *request, v session) error { return w.showAdminTransfer(c, v, nil) }

func (w *Web) showAdminTransfer(c *request, v session, sent *form) error {
	client, err := w.clientParam(c, &v)
	switch {
	case err != nil:
		return err
	case client.State == ledger.Deleted:
		return errNotFound
	}
	path, f := adminClientPath(client.ID), v.clientAt(&transferForm, client, sent)
	w.requireReauth(&v, f, "")
	return w.showAdmin(c, v, "admin_transfer", ui.Page{
		Title: "Transfer " + client.Name, Up: up(client.Name, path), Form: sent,
		Body: adminTransferBody{
			Name: client.Name, Public: client.Public(), Owner: linkUser(v.view, client.Owner), OwnerProblem: ownerProblem(v.view.User(client.Owner)),
			Path: path, Form: f,
		},
	})
}

// transfer transfers at once. It reports a disabled account to an administrator, which a
// developer, who must not learn names, is not told.
func (w *Web) transfer(c *request, v session, f *form) error {
	revision, err := strconv.ParseUint(f.get("revision"), 10, 64)
	if err != nil {
		return errUnreadable
	}
	id, name := f.get("id"), f.trimmed("username")
	switch candidate := v.view.UserByName(name); {
	case name == "":
		f.addProblem("username", "is missing")
	case candidate != nil && candidate.Disabled:
		f.addProblem("username", "is that of a disabled account")
	}
	if f.Failed() {
		return w.showAdminTransfer(c, v, f)
	}
	if ok, err := w.reauthenticate(c, &v, f, w.showAdminTransfer); !ok {
		return err
	}
	refused, err := w.propose(c, &v, "transfer a client", &ledger.TransferClient{
		Actor: v.actor(), ID: id, Username: name, Revision: revision,
	})
	switch {
	case err != nil:
		return err
	case refused == nil:
		c.client = id
		return c.redirectNotice(adminClientPath(id), adminClientNotices, "transfer")
	}
	if v.view, err = w.fresh(c.r.Context()); err != nil {
		return err
	}
	return w.showAdminTransfer(c, v, f.refused(refused))
}
