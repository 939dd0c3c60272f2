package account

import (
	"net/http"
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
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
	Can            ui.Card       // the box of Asks
	Ends           ui.Stamp      // however much it is used
	Idle           time.Duration // after which it ends without use
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
		return notConnected(&v, c.Param("id"))
	}
	c.Client = one.ClientID
	client := v.View.Client(one.ClientID)
	body := appBody{
		connection: one, Website: client.Website, WebsiteHost: parts.HostOf(client.Website), Purpose: client.Purpose,
		Privacy: client.PrivacyURL, Terms: client.TermsURL, Ends: v.Day(one.ends),
	}
	body.Idle, _ = lifetimesOf(&v).of(&one)
	body.Asks = parts.AsksOf(one.scopes.String(), scope.Set{})
	body.Can = ui.Card{ID: "permissions", Title: body.Asks.Title}
	switch {
	case one.Legacy:
		body.Can.Title = "Also allowed, one by one"
	case len(body.Asks.Tier.Texts) > 0: // which the sum leaves out
		body.Can.Title = "What it can do"
	}
	var pills []ui.Pill
	if client.Reviewed() && client.Document == nil && client.State == ledger.Approved {
		pills = append(pills, ui.Pill{Text: "Reviewed by " + w.Brand().Name, Tone: ui.Good})
	}
	return w.Show(c, v, "app", ui.Page{
		Title: one.Name, Picture: one.Picture, Pills: pills, Up: site.Up("Connected apps", parts.PathApps), Body: body,
		Actions: []ui.Action{{Confirm: one.disconnect(&v)}},
	})
}

// disconnectText says what the end of a connection means.
func disconnectText(v *site.Session, state ledger.ClientState) string {
	text := "It" + endOfAccess(v) + " It keeps what it has copied."
	if state == ledger.Suspended {
		return text + " It can ask you again once an administrator resumes it."
	}
	return text + " It can ask you again."
}

// notConnected is the failure for an application that can't use the account. Its name is told only
// to a user who has allowed it before: nobody may learn here which applications exist.
func notConnected(v *site.Session, id string) error {
	client := v.View.Client(id)
	if client == nil || client.State == ledger.Deleted || !v.View.HasAllowed(v.User.ID, id) {
		return site.ErrNotFound
	}
	return &site.Failure{
		Status: http.StatusNotFound, Title: parts.NameOfApp(client) + " isn’t connected", Back: parts.PathApps, BackText: "Connected apps",
		Text: "It can’t use your account: you disconnected it, or its access has ended. It can ask you again.",
	}
}
