package admin

import (
	"cmp"

	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const (
	pathAdminClient    = parts.PathAdminClients + "/:id"
	pathAdminUser      = parts.PathAdminUsers + "/:id"
	pathAdminEvents    = site.PathAdmin + "/audit.jsonl"
	pathAdminResource  = parts.PathAdminResources + "/:server" // by name, since a URI can't be part of a path
	pathAdminPublisher = site.PathAdminPublishers + "/:host"
)

// adminRowsPerPage is the number of rows on one page of a list of the administration.
const adminRowsPerPage = 25

// Routes returns the pages for administrators. Other users get 404.
func (w *Area) Routes() []site.Route {
	routes := []site.Route{
		w.PageFor(site.Administrators, site.PathAdmin, w.reviewQueue),
		w.PageFor(site.Administrators, parts.PathAdminClients, w.adminClients),
		w.PageFor(site.Administrators, pathAdminClient, w.adminClient),
		w.FormFor(site.Administrators, &reviewForm, w.review),
		w.PageFor(site.Administrators, suspendForm.Page, w.suspendPage),
		w.FormFor(site.Administrators, &suspendForm, w.suspend),
		w.FormFor(site.Administrators, &resumeForm, w.resume),
		w.PageFor(site.Administrators, transferForm.Page, w.adminTransferPage),
		w.FormFor(site.Administrators, &transferForm, w.transfer),
		w.PageFor(site.Administrators, parts.PathAdminUsers, w.adminUsers),
		w.PageFor(site.Administrators, newUserForm.Page, w.newUserPage),
		w.FormFor(site.Administrators, &newUserForm, w.addUser),
		w.PageFor(site.Administrators, pathAdminUser, w.adminUser),
		w.FormFor(site.Administrators, &userStateForm, w.setUserState),
		w.FormFor(site.Administrators, &disconnectUserForm, w.disconnectUser),
		w.PageFor(site.Administrators, editUserForm.Page, w.editUserPage),
		w.FormFor(site.Administrators, &editUserForm, w.editUser),
		w.PageFor(site.Administrators, userPasswordForm.Page, w.userPasswordPage),
		w.FormFor(site.Administrators, &userPasswordForm, w.setUserPassword),
		w.PageFor(site.Administrators, parts.PathAdminResources, w.adminResources),
		w.PageFor(site.Administrators, newResourceForm.Page, w.newResourcePage),
		w.FormFor(site.Administrators, &newResourceForm, w.addResource),
		w.PageFor(site.Administrators, pathAdminResource, w.adminResource),
		w.PageFor(site.Administrators, editResourceForm.Page, w.editResourcePage),
		w.FormFor(site.Administrators, &editResourceForm, w.editResource),
		w.FormFor(site.Administrators, &addResourceSecretForm, w.addResourceSecret),
		w.FormFor(site.Administrators, &revokeResourceSecretForm, w.revokeResourceSecret),
		w.PageFor(site.Administrators, removeResourceForm.Page, w.removeResourcePage),
		w.FormFor(site.Administrators, &removeResourceForm, w.removeResource),
		w.PageFor(site.Administrators, site.PathAdminPublishers, w.adminPublishers),
		w.PageFor(site.Administrators, newPublisherForm.Page, w.newPublisherPage),
		w.FormFor(site.Administrators, &newPublisherForm, w.addPublisher),
		w.PageFor(site.Administrators, pathAdminPublisher, w.adminPublisher),
		w.PageFor(site.Administrators, editPublisherForm.Page, w.editPublisherPage),
		w.FormFor(site.Administrators, &editPublisherForm, w.editPublisher),
		w.PageFor(site.Administrators, parts.PathAdminBranding, w.brandingPage),
		w.PageFor(site.Administrators, pathDraftStyle, w.draftStyle),
		w.FormFor(site.Administrators, &brandingForm, w.draftBrand),
		w.FormFor(site.Administrators, &publishBrandForm, w.publishBrand),
		w.FormFor(site.Administrators, &discardBrandForm, w.discardBrand),
		w.PageFor(site.Administrators, parts.PathAdminAudit, w.audit),
		w.PageFor(site.Administrators, pathAdminEvents, w.auditDownload),
	}
	for _, e := range publisherEnds {
		routes = append(routes, w.PageFor(site.Administrators, e.form.Page, w.endPublisherPage(e)), w.FormFor(site.Administrators, &e.form, w.endPublisher(e)))
	}
	return routes
}

// showAdmin is show for a page to which a proof of identity may return.
func (w *Area) showAdmin(c *site.Request, v site.Session, name string, p ui.Page) error {
	p.Notice = cmp.Or(p.Notice, authn.ReauthNotices.Text(c))
	return w.Show(c, v, name, p)
}

// choose marks the choice with a value.
func choose(chosen string, from ...ui.Option) []ui.Option {
	for i := range from {
		from[i].Chosen = from[i].Value == chosen
	}
	return from
}
