package account

import (
	"slices"

	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

type appBody struct {
	connection
	Website        string
	WebsiteHost    string
	Privacy, Terms string
	Purpose        string
	Can            ui.Card // the box of Asks
	Lifetimes      lifetimes
	Danger         ui.Danger
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
	client := v.View.Client(one.ClientID)
	body := appBody{
		connection: one, Website: client.Website, WebsiteHost: parts.HostOf(client.Website), Purpose: client.Purpose,
		Lifetimes: lifetimesOf(&v),
		Privacy:   client.PrivacyURL, Terms: client.TermsURL,
	}
	body.Asks = parts.AsksOf(one.scopes.String(), scope.Set{})
	body.Can = ui.Card{ID: "permissions", Title: body.Asks.Title}
	switch {
	case one.Legacy:
		body.Can.Title = "Also allowed, one by one"
	case len(body.Asks.Tier.Texts) > 0: // which the sum leaves out
		body.Can.Title = "What it can do"
	}
	body.Danger.Lines = []ui.DangerLine{{
		Title: "Disconnect this app", Text: "It immediately gets no new access. You can allow it again at any time.", Confirm: one.disconnect(&v),
	}}
	if l := &body.Lifetimes; one.Agent != "" {
		l.Idle, l.Absolute = l.AgentIdle, l.AgentAbsolute
	}
	return w.Show(c, v, "app", ui.Page{
		Title: one.Name, Picture: one.Picture, Up: site.Up("Connected apps", parts.PathApps), Body: body,
	})
}
