package web

import (
	"cmp"
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// Paths of the administration.
const (
	pathAdmin        = "/admin"
	pathAdminClients = pathAdmin + "/clients"
	pathAdminClient  = pathAdminClients + "/:id"
	pathAdminUsers   = pathAdmin + "/users"
	pathAdminUser    = pathAdminUsers + "/:id"
	pathAdminNewUser = pathAdmin + "/new-user"
	pathAdminAudit   = pathAdmin + "/audit"
	pathAdminEvents  = pathAdmin + "/audit.jsonl"

	pathAdminResources   = pathAdmin + "/resource-servers"
	pathAdminResource    = pathAdminResources + "/:server" // by name, since a URI can't be part of a path
	pathAdminNewResource = pathAdmin + "/new-resource-server"

	pathAdminPublishers   = pathAdmin + "/publishers"
	pathAdminPublisher    = pathAdminPublishers + "/:host"
	pathAdminNewPublisher = pathAdmin + "/new-publisher"
)

// adminRowsPerPage is the number of rows on one page of a list of the administration.
const adminRowsPerPage = 25

// adminRoutes returns the pages for administrators. Other users get 404.
func (w *Web) adminRoutes() []route {
	routes := []route{
		w.pageFor(administrators, pathAdmin, w.reviewQueue),
		w.pageFor(administrators, pathAdminClients, w.adminClients),
		w.pageFor(administrators, pathAdminClient, w.adminClient),
		w.formFor(administrators, &reviewForm, w.review),
		w.pageFor(administrators, suspendForm.page, w.suspendPage),
		w.formFor(administrators, &suspendForm, w.suspend),
		w.formFor(administrators, &resumeForm, w.resume),
		w.pageFor(administrators, transferForm.page, w.adminTransferPage),
		w.formFor(administrators, &transferForm, w.transfer),
		w.pageFor(administrators, pathAdminUsers, w.adminUsers),
		w.pageFor(administrators, newUserForm.page, w.newUserPage),
		w.formFor(administrators, &newUserForm, w.addUser),
		w.pageFor(administrators, pathAdminUser, w.adminUser),
		w.formFor(administrators, &userStateForm, w.setUserState),
		w.pageFor(administrators, editUserForm.page, w.editUserPage),
		w.formFor(administrators, &editUserForm, w.editUser),
		w.pageFor(administrators, userPasswordForm.page, w.userPasswordPage),
		w.formFor(administrators, &userPasswordForm, w.setUserPassword),
		w.pageFor(administrators, pathAdminResources, w.adminResources),
		w.pageFor(administrators, newResourceForm.page, w.newResourcePage),
		w.formFor(administrators, &newResourceForm, w.addResource),
		w.pageFor(administrators, pathAdminResource, w.adminResource),
		w.pageFor(administrators, editResourceForm.page, w.editResourcePage),
		w.formFor(administrators, &editResourceForm, w.editResource),
		w.formFor(administrators, &addResourceSecretForm, w.addResourceSecret),
		w.formFor(administrators, &revokeResourceSecretForm, w.revokeResourceSecret),
		w.pageFor(administrators, removeResourceForm.page, w.removeResourcePage),
		w.formFor(administrators, &removeResourceForm, w.removeResource),
		w.pageFor(administrators, pathAdminPublishers, w.adminPublishers),
		w.pageFor(administrators, newPublisherForm.page, w.newPublisherPage),
		w.formFor(administrators, &newPublisherForm, w.addPublisher),
		w.pageFor(administrators, pathAdminPublisher, w.adminPublisher),
		w.pageFor(administrators, editPublisherForm.page, w.editPublisherPage),
		w.formFor(administrators, &editPublisherForm, w.editPublisher),
		w.pageFor(administrators, pathAdminAudit, w.audit),
		w.pageFor(administrators, pathAdminEvents, w.auditDownload),
	}
	for _, e := range publisherEnds {
		routes = append(routes, w.pageFor(administrators, e.form.page, w.endPublisherPage(e)), w.formFor(administrators, &e.form, w.endPublisher(e)))
	}
	return routes
}

// showAdmin is show for a page to which a proof of identity may return.
func (w *Web) showAdmin(c *request, v session, name string, p ui.Page) error {
	p.Notice = cmp.Or(p.Notice, reauthNotices.text(c))
	return w.show(c, v, name, p)
}

// choose marks the choice with a value.
func choose(chosen string, from ...ui.Option) []ui.Option {
	for i := range from {
		from[i].Chosen = from[i].Value == chosen
	}
	return from
}

// A nameLink is the name of a user or client for display, with a link if it exists.
type nameLink struct{ Text, Path string }

func linkUser(v ledger.View, id string) nameLink {
	u := v.User(id)
	switch {
	case id == "":
		return nameLink{}
	case u == nil:
		return nameLink{Text: id}
	case u.Deleted:
		return nameLink{Text: id, Path: adminUserPath(id)}
	}
	return nameLink{Text: u.Username, Path: adminUserPath(id)}
}

func linkClient(v ledger.View, id string) nameLink {
	client := v.Client(id)
	switch {
	case id == "":
		return nameLink{}
	case client == nil:
		return nameLink{Text: id}
	}
	return nameLink{Text: client.Name, Path: adminClientPath(id)}
}

func adminClientPath(id string) string { return pathAdminClients + "/" + url.PathEscape(id) }
func resourcePath(name string) string  { return pathAdminResources + "/" + url.PathEscape(name) }
func adminUserPath(id string) string   { return pathAdminUsers + "/" + url.PathEscape(id) }
