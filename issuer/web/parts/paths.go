package parts

import (
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// PathApps lists the connected apps.
const PathApps = "/connected-apps"

// PathPassword is the page that changes the user's own password.
const PathPassword = "/account/password"

const (
	// PathAdminClients lists all applications.
	PathAdminClients = site.PathAdmin + "/clients"
	// PathAdminUsers lists the users.
	PathAdminUsers = site.PathAdmin + "/users"
	// PathAdminNewUser is the page that adds a user.
	PathAdminNewUser = site.PathAdmin + "/new-user"
	// PathAdminBranding is the page that changes how the service shows itself.
	PathAdminBranding = site.PathAdmin + "/branding"
	// PathAdminAudit lists the events of the audit trail.
	PathAdminAudit = site.PathAdmin + "/audit"
	// PathAdminResources lists the resource servers.
	PathAdminResources = site.PathAdmin + "/resource-servers"
	// PathAdminNewResource is the page that registers a resource server.
	PathAdminNewResource = site.PathAdmin + "/new-resource-server"
)

// AdminClientPath returns the path of the administrators' page of a client.
func AdminClientPath(id string) string { return PathAdminClients + "/" + url.PathEscape(id) }

// AdminUserPath returns the path of the administrators' page of a user.
func AdminUserPath(id string) string { return PathAdminUsers + "/" + url.PathEscape(id) }

// ResourcePath returns the path of the page of a resource server.
func ResourcePath(name string) string { return PathAdminResources + "/" + url.PathEscape(name) }

// PublisherPath returns the path of the page of a publisher.
func PublisherPath(host string) string { return site.PathAdminPublishers + "/" + url.PathEscape(host) }

// EditUserPath returns the path of the page that edits a user's profile.
func EditUserPath(id string) string { return AdminUserPath(id) + "/edit" }

// PathDeveloper lists the applications of a user.
const PathDeveloper = "/developer"

// ClientPath returns the path of a client's page, or of one below it.
func ClientPath(id string, below ...string) string {
	return strings.Join(append([]string{PathDeveloper, "clients", url.PathEscape(id)}, below...), "/")
}
