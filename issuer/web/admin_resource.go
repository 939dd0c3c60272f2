package web

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Forms about a resource server contain its identifier URI: its name, which is part of the
// address, may change.
var (
	newResourceForm = formKind{
		purpose: forNewResource, action: pathAdminNewResource, page: pathAdminNewResource, revisited: true,
		fields: append([]field{textField("id", "Identifier URI")}, resourceFields...),
	}
	editResourceForm = formKind{
		purpose: forEditResource, action: pathAdminResource + "/edit", page: pathAdminResource + "/edit", revisited: true,
		fields: append([]field{boundField("resource"), boundField("expected_last")}, resourceFields...),
	}
	removeResourceForm = formKind{
		purpose: forRemoveResource, action: pathAdminResource + "/remove", page: pathAdminResource + "/remove",
		fields: []field{boundField("resource"), boundField("expected_last"), textField("name", "Name of the resource server")},
	}
	resourceFields = []field{textField("name", "Name"), listField("scopes", "The selection of scopes").chosen()}
)

var resourceNotices = notices{
	"registered":     "The resource server was registered. Generate a secret, so that it can introspect tokens and read revocations.",
	"saved":          "Saved.",
	"unchanged":      "There was nothing to change.",
	"removed":        "The resource server was removed. No part of this service accepts its secrets any more.",
	"revoked":        "The secret was revoked. No part of this service accepts it any more.",
	"secret-known":   clientNotices["secret-known"],
	"secret-revoked": clientNotices["secret-revoked"],
}

type adminResourceBody struct {
	Server       *ledger.ResourceServer
	Scopes       []scopeGroup // none means every scope
	Active       []secretRow
	Revoked      []secretRow
	Add          *form // nil if there are two active secrets
	Max          int
	Edit, Remove string
	Events       string
}

// adminResource shows the page of one resource server.
func (w *Web) adminResource(c *request, v session) error {
	s, err := w.resourceAt(c, &v)
	if err != nil {
		return err
	}
	return w.showResource(c, v, s, w.newResourceSecretForm(&v, s))
}

// findResource returns what find finds on the view of a session, or on a fresh one.
func (w *Web) findResource(c *request, v *session, find func() *ledger.ResourceServer) (s *ledger.ResourceServer, err error) {
	there, err := w.confirmFresh(c, v, func() bool { s = find(); return s != nil })
	if err == nil && !there {
		err = errNotFound
	}
	return s, err
}

// resourceAt returns the resource server that the address of a page names.
func (w *Web) resourceAt(c *request, v *session) (*ledger.ResourceServer, error) {
	return w.findResource(c, v, func() *ledger.ResourceServer { return v.view.ResourceServerNamed(c.param("server")) })
}

// resourceOf returns the resource server that a form is about.
func (w *Web) resourceOf(c *request, v *session, f *form) (*ledger.ResourceServer, error) {
	return w.findResource(c, v, func() *ledger.ResourceServer { return v.view.ResourceServer(f.get("resource")) })
}

// resourceFresh is resourceOf on a fresh view, for a page about a recent change.
func (w *Web) resourceFresh(c *request, v *session, f *form) (s *ledger.ResourceServer, err error) {
	if v.view, err = w.fresh(c.r.Context()); err != nil {
		return nil, err
	}
	return w.resourceOf(c, v, f)
}

// showResource shows the page with the form to add a secret, which shows its problems after a
// failed submission.
func (w *Web) showResource(c *request, v session, s *ledger.ResourceServer, add *form) error {
	body := adminResourceBody{
		Server: s, Scopes: scopeGroups(s.Scopes, true), Add: add, Max: ledger.MaxActiveSecrets,
		Edit: resourcePath(s.Name) + "/edit", Remove: resourcePath(s.Name) + "/remove",
		Events: pathAdminAudit + "?" + url.Values{"kind": {"resource_server"}}.Encode(),
	}
	w.requireReauth(&v, add, "")
	if s.ActiveSecrets() >= ledger.MaxActiveSecrets {
		body.Add = nil
	}
	body.Active, body.Revoked = w.secretRows(s.Secrets, func(id string) *form {
		return v.resourceForm(&revokeResourceSecretForm, s, "secret", id)
	})
	return w.showAdmin(c, v, "admin_resource", ui.Page{
		Title: s.Name, Up: up("Resource servers", pathAdminResources), Actions: []ui.Action{{Title: "Edit", Path: body.Edit, About: "name and scopes"}}, Notice: resourceNotices.text(c), Form: add, Body: body,
	})
}

// resourceForm returns a form about a resource server, with values in addition to its name
// and identifier.
func (v *session) resourceForm(kind *formKind, s *ledger.ResourceServer, pairs ...string) *form {
	values := url.Values{"server": {s.Name}, "resource": {s.ID}}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return v.form(kind, values)
}

func resourceUp(s *ledger.ResourceServer) *ui.Link {
	return up(s.Name, resourcePath(s.Name))
}

// A resourceFormBody is the data of the pages that register and edit a resource server.
type resourceFormBody struct {
	Form   *form
	Scopes []scopeGroup
	ID     string // the identifier, which never changes; "" for a new one
	Path   string // of the page to return to
}

func (w *Web) newResourcePage(c *request, v session) error {
	return w.showNewResource(c, v, v.form(&newResourceForm, nil))
}

func (w *Web) showNewResource(c *request, v session, f *form) error {
	return w.showAdmin(c, v, "admin_resource_form", ui.Page{
		Title: "Register a resource server", Up: up("Resource servers", pathAdminResources), Form: f,
		Body: resourceFormBody{Form: f, Scopes: scopeGroups(f.values["scopes"], false), Path: pathAdminResources},
	})
}

// addResource registers a resource server without a secret, which its page generates.
func (w *Web) addResource(c *request, v session, f *form) error {
	cmd := f.resource(f.trimmed("id"))
	if cmd.ID == "" {
		f.addProblem("id", "is missing")
	}
	if f.Failed() {
		return w.showNewResource(c, v, f)
	}
	cmd.Actor, cmd.New = v.actor(), true
	refused, err := w.propose(c, &v, "register a resource server", cmd)
	switch {
	case err != nil:
		return err
	case refused != nil:
		if v.view, err = w.fresh(c.r.Context()); err != nil {
			return err
		}
		if s := v.view.ResourceServer(cmd.ID); refused.Cause != ledger.AlreadyExists || s == nil || !isDeclared(s, cmd) {
			return w.showNewResource(c, v, f.refused(refused))
		}
		// The same form was sent twice.
	}
	return c.redirectNotice(resourcePath(cmd.Name), resourceNotices, "registered")
}

// resource returns the command of a form that registers or edits the resource server with an
// identifier.
func (f *form) resource(id string) *ledger.PutResourceServer {
	cmd := &ledger.PutResourceServer{ID: id, Name: f.trimmed("name")}
	if cmd.Name == "" {
		f.addProblem("name", "is missing")
	}
	set, err := scope.Of(f.filled("scopes")...)
	if err != nil {
		f.addProblem("scopes", "has one that does not exist")
	}
	cmd.Scopes = set.Names()
	return cmd
}

// isDeclared reports whether a resource server is what a command makes of it.
func isDeclared(s *ledger.ResourceServer, cmd *ledger.PutResourceServer) bool {
	return s.Name == cmd.Name && slices.Equal(s.Scopes, cmd.Scopes)
}

func (w *Web) editResourcePage(c *request, v session) error {
	s, err := w.resourceAt(c, &v)
	if err != nil {
		return err
	}
	f := v.resourceForm(&editResourceForm, s, "expected_last", expectedLast(s.Last), "name", s.Name)
	f.values["scopes"] = s.Scopes
	return w.showEditResource(c, v, s, f)
}

func (w *Web) showEditResource(c *request, v session, s *ledger.ResourceServer, f *form) error {
	return w.showAdmin(c, v, "admin_resource_form", ui.Page{
		Title: "Edit " + s.Name, Up: resourceUp(s), Form: f,
		Body: resourceFormBody{Form: f, Scopes: scopeGroups(f.values["scopes"], false), ID: s.ID, Path: resourcePath(s.Name)},
	})
}

func (w *Web) editResource(c *request, v session, f *form) error {
	seen, ok := parseExpectedLast(f.get("expected_last"))
	if !ok {
		return errUnreadable
	}
	s, err := w.resourceOf(c, &v, f)
	if err != nil {
		return err
	}
	cmd := f.resource(s.ID)
	if f.Failed() {
		return w.showEditResource(c, v, s, f)
	}
	cmd.Actor, cmd.ExpectedLast = v.actor(), seen
	refused, err := w.propose(c, &v, "edit a resource server", cmd)
	if err != nil {
		return err
	}
	if s, err = w.resourceFresh(c, &v, f); err != nil {
		return err
	}
	switch {
	case refused != nil && (refused.Cause != ledger.Conflict || !isDeclared(s, cmd)):
		// The input is shown again, for the current state. What it would undo is what the
		// page of the resource server shows.
		f.values.Set("expected_last", expectedLast(s.Last))
		f.values.Set("server", s.Name)
		return w.showEditResource(c, v, s, f.refused(refused))
	case refused == nil && s.Last == seen:
		return c.redirectNotice(resourcePath(s.Name), resourceNotices, "unchanged")
	}
	return c.redirectNotice(resourcePath(s.Name), resourceNotices, "saved")
}

type removeResourceBody struct {
	Name, Path string
	Secrets    int
	Grants     int // that get no more tokens
	Form       *form
}

func (w *Web) removeResourcePage(c *request, v session) error {
	s, err := w.resourceAt(c, &v)
	if err != nil {
		return err
	}
	return w.showRemoveResource(c, v, s, v.resourceForm(&removeResourceForm, s, "expected_last", expectedLast(s.Last)))
}

func (w *Web) showRemoveResource(c *request, v session, s *ledger.ResourceServer, f *form) error {
	return w.showAdmin(c, v, "admin_resource_remove", ui.Page{
		Title: "Remove " + s.Name, Up: resourceUp(s), Form: f,
		Body: removeResourceBody{Name: s.Name, Path: resourcePath(s.Name), Secrets: s.ActiveSecrets(), Grants: v.view.GrantsFor(s), Form: f},
	})
}

// removeResource also succeeds if the resource server is removed already.
func (w *Web) removeResource(c *request, v session, f *form) error {
	seen, ok := parseExpectedLast(f.get("expected_last"))
	if !ok {
		return errUnreadable
	}
	s, err := w.resourceOf(c, &v, f)
	switch {
	case err == errNotFound:
		return c.redirectNotice(pathAdminResources, resourceNotices, "removed")
	case err != nil:
		return err
	case !strings.EqualFold(f.trimmed("name"), s.Name):
		f.addProblem("name", "is not what you typed")
		return w.showRemoveResource(c, v, s, f)
	}
	refused, err := w.propose(c, &v, "remove a resource server", &ledger.RemoveResourceServer{Actor: v.actor(), ID: s.ID, ExpectedLast: seen})
	switch {
	case err != nil:
		return err
	case refused != nil:
		if s, err = w.resourceFresh(c, &v, f); err != nil {
			return err
		}
		f.values.Set("expected_last", expectedLast(s.Last))
		return w.showRemoveResource(c, v, s, f.refused(refused))
	}
	return c.redirectNotice(pathAdminResources, resourceNotices, "removed")
}
