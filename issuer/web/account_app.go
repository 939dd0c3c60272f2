package web

import (
	"net/url"
	"slices"

	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

type appBody struct {
	connection
	Website     string
	WebsiteHost string
	Purpose     string
	Groups      []permissions
	Lifetimes   lifetimes
}

// connectedApp shows what one application may do, if the user has allowed it.
func (w *Web) connectedApp(c *request, v session) error {
	var one connection
	there, err := w.confirmFresh(c, &v, func() bool {
		list := w.connections(&v)
		i := slices.IndexFunc(list, func(one connection) bool { return one.ClientID == c.param("id") })
		if i >= 0 {
			one = list[i]
		}
		return i >= 0
	})
	switch {
	case err != nil:
		return err
	case !there:
		return errNotFound
	}
	c.client = one.ClientID
	one.Form = v.form(&disconnectForm, url.Values{"client": {one.ClientID}})
	client := v.view.Client(one.ClientID)
	body := appBody{
		connection: one, Website: client.Website, WebsiteHost: hostOf(client.Website), Purpose: client.Purpose,
		Groups: permissionsOf(one.scopes.String()), Lifetimes: lifetimesOf(&v),
	}
	if l := &body.Lifetimes; one.Agent != "" {
		l.Idle, l.Absolute = l.AgentIdle, l.AgentAbsolute
	}
	return w.show(c, v, "account_app", ui.Page{
		Title: one.Name, Picture: one.Picture, Up: up("Connected apps", pathApps), Body: body,
	})
}

// hostOf returns the host of a website for display.
func hostOf(website string) string {
	u, err := url.Parse(website)
	if err != nil {
		return ""
	}
	return u.Host
}
