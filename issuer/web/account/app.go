package account

import (
	"net/url"
	"slices"

	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

type appBody struct {
	connection
	Website     string
	WebsiteHost string
	Purpose     string
	Groups      []parts.Permissions
	Lifetimes   lifetimes
}

// connectedApp shows what one application may do, if the user has allowed it.
func (w *Area) connectedApp(c *site.Request, v site.Session) error {
	var one connection
	there, err := w.ConfirmFresh(c, &v, func() bool {
		list := w.connections(&v)
		i := slices.IndexFunc(list, func(one connection) bool { return one.ClientID == c.Param("id") })
		if i >= 0 {
			one = list[i]
		}
		return i >= 0
	})
	switch {
	case err != nil:
		return err
	case !there:
		return site.ErrNotFound
	}
	c.Client = one.ClientID
	one.Form = v.Form(&disconnectForm, url.Values{"client": {one.ClientID}})
	client := v.View.Client(one.ClientID)
	body := appBody{
		connection: one, Website: client.Website, WebsiteHost: parts.HostOf(client.Website), Purpose: client.Purpose,
		Groups: parts.PermissionsOf(one.scopes.String(), scope.Set{}), Lifetimes: lifetimesOf(&v),
	}
	if l := &body.Lifetimes; one.Agent != "" {
		l.Idle, l.Absolute = l.AgentIdle, l.AgentAbsolute
	}
	return w.Show(c, v, "app", ui.Page{
		Title: one.Name, Picture: one.Picture, Up: site.Up("Connected apps", parts.PathApps), Body: body,
	})
}
