package admin

import (
	"strconv"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var transferForm = site.FormKind{
	Purpose: forTransfer, Action: pathAdminClient + "/transfer", Page: pathAdminClient + "/transfer",
	Fields: []site.Field{site.BoundField("revision"), site.TextField("username", "Username"), site.OwnPasswordField()},
}

type adminTransferBody struct {
	Name         string
	Public       bool // the client has no secrets
	Owner        parts.Piece
	OwnerProblem string // why the owner can't manage it; "" if they can
	Path         string
	Form         *site.Form
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
func (w *Area) adminTransferPage(c *site.Request, v site.Session) error {
	return w.showAdminTransfer(c, v, nil)
}

func (w *Area) showAdminTransfer(c *site.Request, v site.Session, sent *site.Form) error {
	client, err := w.clientParam(c, &v)
	switch {
	case err != nil:
		return err
	case client.State == ledger.Deleted:
		return site.ErrNotFound
	}
	path, f := parts.AdminClientPath(client.ID), parts.ClientAt(&v, &transferForm, client, sent)
	w.prover.RequireReauth(&v, f, "")
	return w.showAdmin(c, v, "transfer", ui.Page{
		Title: "Transfer " + client.Name + "?", Up: site.Up(client.Name, path), Form: sent,
		Body: adminTransferBody{
			Name: client.Name, Public: client.Public(), Owner: parts.UserPiece(v.View, client.Owner), OwnerProblem: ownerProblem(v.View.User(client.Owner)),
			Path: path, Form: f,
		},
	})
}

// transfer transfers at once. It reports a disabled account to an administrator, which a
// developer, who must not learn names, is not told.
func (w *Area) transfer(c *site.Request, v site.Session, f *site.Form) error {
	revision, err := strconv.ParseUint(f.Get("revision"), 10, 64)
	if err != nil {
		return site.ErrUnreadable
	}
	id, name := f.Get("id"), f.Trimmed("username")
	switch candidate := v.View.UserByName(name); {
	case name == "":
		f.AddProblem("username", "is missing")
	case candidate != nil && candidate.Disabled:
		f.AddProblem("username", "is that of a disabled account")
	}
	if f.Failed() {
		return w.showAdminTransfer(c, v, f)
	}
	if ok, err := w.prover.Reauthenticate(c, &v, f, w.showAdminTransfer); !ok {
		return err
	}
	refused, err := w.Propose(c, &v, "transfer a client", &ledger.TransferClient{
		Actor: v.Actor(), ID: id, Username: name, Revision: revision,
	})
	switch {
	case err != nil:
		return err
	case refused == nil:
		c.Client = id
		return c.RedirectNotice(parts.AdminClientPath(id), adminClientNotices, "transfer")
	}
	if v.View, err = w.Fresh(c.R.Context()); err != nil {
		return err
	}
	return w.showAdminTransfer(c, v, f.Refused(refused))
}
