package admin

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Forms about a resource server contain its identifier URI: its name, which is part of the
// address, may change.
var (
	newResourceForm = site.FormKind{
		Purpose: forNewResource, Action: parts.PathAdminNewResource, Page: parts.PathAdminNewResource, Revisited: true, Undone: "Nothing was registered.",
		Fields: append([]site.Field{site.TextField("id", "Identifier URI")}, resourceFields...),
	}
	editResourceForm = site.FormKind{
		Purpose: forEditResource, Action: pathAdminResource + "/edit", Page: pathAdminResource + "/edit", Revisited: true,
		Fields: append([]site.Field{site.BoundField("resource"), site.BoundField("expected_last")}, resourceFields...),
	}
	removeResourceForm = site.FormKind{
		Purpose: forRemoveResource, Action: pathAdminResource + "/remove", Page: pathAdminResource + "/remove", Undone: "Nothing was removed.",
		Fields: []site.Field{site.BoundField("resource"), site.BoundField("expected_last"), site.TextField("name", "Name of the resource server")},
	}
	// All scopes are meant if the form field named "only" is "no". Any other value, or none, means the
	// ticked ones, so that an incomplete form never shows more.
	resourceFields = []site.Field{
		site.TextField("name", "Username"), site.TextField("only", "Introspection answers").Chosen().Worded(onlyText),
		site.ListField("scopes", "The selection of scopes").Chosen().Worded(parts.ScopeText),
	}
)

func onlyText(only string) string {
	if only == "no" {
		return "All scopes"
	}
	return "Only the ticked scopes"
}

var resourceNotices = site.Notices{
	"registered":     "Registered. Generate a secret, so that it can introspect tokens and read revocations.",
	"saved":          "Saved.",
	"unchanged":      "There was nothing to change.",
	"removed":        "Removed. Its secrets are refused from now on.",
	"revoked":        "Revoked. The secret is refused from now on.",
	"secret-known":   parts.SecretKnown,
	"secret-revoked": parts.SecretRevoked,
}

type adminResourceBody struct {
	Server       *ledger.ResourceServer
	Scopes       []parts.ScopeGroup // none means every scope
	Active       []parts.SecretRow
	Revoked      []parts.SecretRow
	Add          *site.Form // nil if there are two active secrets, or if it is beside the notice
	Max          int
	Edit, Remove string
	Created      ui.Stamp
	Changed      ui.Stamp // Zero if it was never changed
	Events       string
}

// adminResource shows the page of one resource server.
func (w *Area) adminResource(c *site.Request, v site.Session) error {
	s, err := w.resourceAt(c, &v)
	if err != nil {
		return err
	}
	return w.showResource(c, v, s, w.newResourceSecretForm(&v, s))
}

// findResource returns what find finds on the view of a session, or on a fresh one.
func (w *Area) findResource(c *site.Request, v *site.Session, find func() *ledger.ResourceServer) (s *ledger.ResourceServer, err error) {
	there, err := w.ConfirmFresh(c, v, func() bool { s = find(); return s != nil })
	if err == nil && !there {
		err = site.ErrNotFound
	}
	return s, err
}

// resourceAt returns the resource server that the address of a page names.
func (w *Area) resourceAt(c *site.Request, v *site.Session) (*ledger.ResourceServer, error) {
	return w.findResource(c, v, func() *ledger.ResourceServer { return v.View.ResourceServerNamed(c.Param("server")) })
}

// resourceOf returns the resource server that a form is about.
func (w *Area) resourceOf(c *site.Request, v *site.Session, f *site.Form) (*ledger.ResourceServer, error) {
	return w.findResource(c, v, func() *ledger.ResourceServer { return v.View.ResourceServer(f.Get("resource")) })
}

// resourceFresh is resourceOf on a fresh view, for a page about a recent change.
func (w *Area) resourceFresh(c *site.Request, v *site.Session, f *site.Form) (s *ledger.ResourceServer, err error) {
	if v.View, err = w.Fresh(c.R.Context()); err != nil {
		return nil, err
	}
	return w.resourceOf(c, v, f)
}

// showResource shows the page with the form to add a secret, which shows its problems after a
// failed submission.
func (w *Area) showResource(c *site.Request, v site.Session, s *ledger.ResourceServer, add *site.Form) error {
	body := adminResourceBody{
		Server: s, Created: v.At(s.Created), Changed: v.At(s.Changed), Scopes: parts.ScopeGroups(s.Scopes, true), Add: add, Max: ledger.MaxActiveSecrets,
		Edit: parts.ResourcePath(s.Name) + "/edit", Remove: parts.ResourcePath(s.Name) + "/remove",
		Events: parts.PathAdminAudit + "?" + url.Values{"kind": {"resource_server"}}.Encode(),
	}
	if s.Changed == s.Created {
		body.Changed = ui.Stamp{Zero: true}
	}
	w.prover.RequireReauth(&v, add, "")
	if s.ActiveSecrets() >= ledger.MaxActiveSecrets {
		body.Add = nil
	}
	body.Active, body.Revoked = parts.SecretRows(&v, w.Ledger.Now(), s.Secrets, func(id string) *site.Form {
		return resourceForm(&v, &revokeResourceSecretForm, s, "secret", id)
	})
	page := ui.Page{
		Title: s.Name, Up: site.Up("Resource servers", parts.PathAdminResources), Actions: []ui.Action{{Title: "Edit", Path: body.Edit, About: "name and scopes"}}, Notice: resourceNotices.Text(c), Form: add,
	}
	if c.Notice() == "registered" && s.ActiveSecrets() == 0 && add.Reauth() == nil {
		page.Button, body.Add = &ui.NoticeButton{Form: add, Do: "Generate secret"}, nil
	}
	page.Body = body
	return w.showAdmin(c, v, "resource", page)
}

// resourceForm returns a form about a resource server, with values in addition to its name
// and identifier.
func resourceForm(v *site.Session, kind *site.FormKind, s *ledger.ResourceServer, pairs ...string) *site.Form {
	values := url.Values{"server": {s.Name}, "resource": {s.ID}}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return v.Form(kind, values)
}

func resourceUp(s *ledger.ResourceServer) *ui.Link {
	return site.Up(s.Name, parts.ResourcePath(s.Name))
}

// A resourceFormBody is the data of the pages that register and edit a resource server.
type resourceFormBody struct {
	Form   *site.Form
	About  ui.Card
	Scopes matrixCard
	ID     *ui.Copy // the identifier, which never changes; nil for a new one
	Path   string   // of the page to return to
}

func resourceBodyOf(f *site.Form, path string) resourceFormBody {
	return resourceFormBody{Form: f, Path: path, About: ui.Card{ID: "about", Title: "Resource server"}, Scopes: matrixCard{
		Card:   ui.Card{ID: "its-scopes", Title: "Scopes"},
		Group:  f.Group("scopes", "Scopes", "A token’s other scopes are left out."),
		Matrix: parts.UserScopeMatrix(f.Values["scopes"]),
	}}
}

func (w *Area) newResourcePage(c *site.Request, v site.Session) error {
	return w.showNewResource(c, v, v.Form(&newResourceForm, url.Values{"only": {"no"}}))
}

func (w *Area) showNewResource(c *site.Request, v site.Session, f *site.Form) error {
	return w.showAdmin(c, v, "resource_form", ui.Page{
		Title: "Register a resource server", Up: site.Up("Resource servers", parts.PathAdminResources), Form: f,
		Lead: "An API needs a registration only to introspect access tokens or to read which were revoked.",
		Body: resourceBodyOf(f, parts.PathAdminResources),
	})
}

// addResource registers a resource server without a secret, which its page generates.
func (w *Area) addResource(c *site.Request, v site.Session, f *site.Form) error {
	cmd := resourceIn(f, f.Trimmed("id"))
	switch note := oauth.CheckResource(cmd.ID); {
	case cmd.ID == "":
		f.AddProblem("id", "is missing")
	case note != "" && (!strings.HasPrefix(strings.ToLower(cmd.ID), "https:") || strings.ContainsAny(cmd.ID, "?#")):
		// In one sentence, since a URI often has more than one of these faults.
		f.AddSentence("id", "Identifier URI must be https, without a query or fragment, such as https://api.example.com/v2.")
	case note != "":
		f.AddProblem("id", note)
	}
	if f.Failed() {
		return w.showNewResource(c, v, f)
	}
	cmd.Actor, cmd.New = v.Actor(), true
	refused, err := w.Propose(c, &v, "register a resource server", cmd)
	switch {
	case err != nil:
		return err
	case refused != nil:
		if v.View, err = w.Fresh(c.R.Context()); err != nil {
			return err
		}
		if s := v.View.ResourceServer(cmd.ID); refused.Cause != ledger.AlreadyExists || s == nil || !isDeclared(s, cmd) {
			return w.showNewResource(c, v, f.Refused(refused))
		}
		// The same form was sent twice.
	}
	return c.RedirectNotice(parts.ResourcePath(cmd.Name), resourceNotices, "registered")
}

// resourceIn returns the command of a form that registers or edits the resource server with an
// identifier. It makes the checks of the ledger too, so that all problems show at once.
func resourceIn(f *site.Form, id string) *ledger.PutResourceServer {
	cmd := &ledger.PutResourceServer{ID: id, Name: f.Trimmed("name")}
	if cmd.Name == "" {
		f.AddProblem("name", "is missing")
	} else if note := ledger.CheckResourceName(cmd.Name); note != "" {
		f.AddProblem("name", note)
	}
	if f.Get("only") == "no" {
		return cmd
	}
	set, err := scope.Of(f.Filled("scopes")...)
	cmd.Scopes = set.Names()
	switch {
	case err != nil:
		f.AddProblem("scopes", "has one that does not exist")
	case len(cmd.Scopes) == 0:
		f.AddSentence("scopes", "Tick at least one scope, or choose all scopes.")
	}
	return cmd
}

// isDeclared reports whether a resource server is what a command makes of it.
func isDeclared(s *ledger.ResourceServer, cmd *ledger.PutResourceServer) bool {
	return s.Name == cmd.Name && slices.Equal(s.Scopes, cmd.Scopes)
}

func (w *Area) editResourcePage(c *site.Request, v site.Session) error {
	s, err := w.resourceAt(c, &v)
	if err != nil {
		return err
	}
	f := resourceForm(&v, &editResourceForm, s, "expected_last", expectedLast(s.Last), "name", s.Name, "only", "no")
	if len(s.Scopes) > 0 {
		f.Values["only"], f.Values["scopes"] = []string{"yes"}, s.Scopes
	}
	return w.showEditResource(c, v, s, f)
}

func (w *Area) showEditResource(c *site.Request, v site.Session, s *ledger.ResourceServer, f *site.Form) error {
	body := resourceBodyOf(f, parts.ResourcePath(s.Name))
	body.ID = &ui.Copy{ID: "identifier", Label: "identifier URI", Value: s.ID}
	return w.showAdmin(c, v, "resource_form", ui.Page{Title: "Edit " + s.Name, Up: resourceUp(s), Form: f, Body: body})
}

func (w *Area) editResource(c *site.Request, v site.Session, f *site.Form) error {
	seen, ok := parseExpectedLast(f.Get("expected_last"))
	if !ok {
		return site.ErrUnreadable
	}
	s, err := w.resourceOf(c, &v, f)
	if err != nil {
		return err
	}
	cmd := resourceIn(f, s.ID)
	if f.Failed() {
		return w.showEditResource(c, v, s, f)
	}
	cmd.Actor, cmd.ExpectedLast = v.Actor(), seen
	refused, err := w.Propose(c, &v, "edit a resource server", cmd)
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
		f.Values.Set("expected_last", expectedLast(s.Last))
		f.Values.Set("server", s.Name)
		return w.showEditResource(c, v, s, f.Refused(refused))
	case refused == nil && s.Last == seen:
		return c.RedirectNotice(parts.ResourcePath(s.Name), resourceNotices, "unchanged")
	}
	return c.RedirectNotice(parts.ResourcePath(s.Name), resourceNotices, "saved")
}

type removeResourceBody struct {
	Name, Path string
	Secrets    int
	Grants     int // that get no more tokens
	Form       *site.Form
}

func (w *Area) removeResourcePage(c *site.Request, v site.Session) error {
	s, err := w.resourceAt(c, &v)
	if err != nil {
		return err
	}
	return w.showRemoveResource(c, v, s, resourceForm(&v, &removeResourceForm, s, "expected_last", expectedLast(s.Last)))
}

func (w *Area) showRemoveResource(c *site.Request, v site.Session, s *ledger.ResourceServer, f *site.Form) error {
	return w.showAdmin(c, v, "resource_remove", ui.Page{
		Title: "Remove " + s.Name + "?", Up: resourceUp(s), Form: f,
		Body: removeResourceBody{Name: s.Name, Path: parts.ResourcePath(s.Name), Secrets: s.ActiveSecrets(), Grants: v.View.GrantsFor(s), Form: f},
	})
}

// removeResource also succeeds if the resource server is removed already.
func (w *Area) removeResource(c *site.Request, v site.Session, f *site.Form) error {
	seen, ok := parseExpectedLast(f.Get("expected_last"))
	if !ok {
		return site.ErrUnreadable
	}
	s, err := w.resourceOf(c, &v, f)
	switch {
	case err == site.ErrNotFound:
		return c.RedirectNoticeOf(parts.PathAdminResources, resourceNotices, "removed", f.Get("server"))
	case err != nil:
		return err
	case !strings.EqualFold(f.Trimmed("name"), s.Name):
		f.AddSentence("name", "This isn’t the name. Type “"+s.Name+"”.")
		return w.showRemoveResource(c, v, s, f)
	}
	refused, err := w.Propose(c, &v, "remove a resource server", &ledger.RemoveResourceServer{Actor: v.Actor(), ID: s.ID, ExpectedLast: seen})
	switch {
	case c.Cause == ledger.NotFound: // this node lags
		return c.RedirectNoticeOf(parts.PathAdminResources, resourceNotices, "removed", f.Get("server"))
	case err != nil:
		return err
	case refused != nil:
		if s, err = w.resourceFresh(c, &v, f); err != nil {
			return err
		}
		f.Values.Set("expected_last", expectedLast(s.Last))
		return w.showRemoveResource(c, v, s, f.Refused(refused))
	}
	return c.RedirectNoticeOf(parts.PathAdminResources, resourceNotices, "removed", f.Get("server"))
}
