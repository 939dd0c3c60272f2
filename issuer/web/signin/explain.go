package signin

import (
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// unreadableRequest is the failure for a request whose client and redirect URI can't be
// determined.
func unreadableRequest(e *oauth.Error) *site.Failure {
	return &site.Failure{
		Status: http.StatusBadRequest, Title: "This link is not complete", Cause: ledger.RequestMalformed,
		Text:   "The app sent you here with a request that can’t be read. Nothing was shared. Tell the app’s developer.",
		Detail: e.Description,
	}
}

// explain explains why a request can't be shown for consent. It neither links nor repeats the
// redirect URI, and does not name a client that isn't approved, since nobody has reviewed
// these texts.
func (w *Area) explain(p *ledger.Problem, clientID string, client *ledger.Client) *site.Failure {
	if f := w.explainAgent(p.Cause, clientID, ""); f != nil {
		return f
	}
	service, app := w.Brand().Name, "This app"
	if client != nil && client.State == ledger.Approved {
		app = client.Name
	}
	f := &site.Failure{Status: http.StatusBadRequest, Cause: p.Cause, Detail: p.Error.Description}
	switch p.Cause {
	case ledger.UnknownClient:
		f.Title = "App not found"
		f.Text = "The link that brought you here names an app that " + service + " doesn’t know. Nothing was shared. Tell the app’s developer."
		f.Detail += " Compare it with the client ID on the page of your application."
	case ledger.ClientPending:
		f.Status = http.StatusForbidden
		f.Title = "This app has not been reviewed yet"
		f.Text = "An administrator of " + service + " has to review an app before anybody can use it. Nothing was shared with it. Try again later."
		f.Detail, f.SignIn = "The application is waiting for review.", "If it is yours, sign in to see since when."
	case ledger.ClientRejected:
		f.Status = http.StatusForbidden
		f.Title = "This app was not approved"
		f.Text = "An administrator of " + service + " reviewed the app and did not approve it. Nothing was shared with it."
		f.Detail, f.SignIn = "The application was rejected.", "If it is yours, sign in to see the reason."
	case ledger.ClientSuspended:
		f.Status = http.StatusForbidden
		f.Title = "This app is suspended"
		f.Text = "An administrator of " + service + " stopped the app for now. Nothing new was shared with it."
		f.Detail, f.SignIn = "The application is suspended.", "If it is yours, sign in to see the reason."
	case ledger.RedirectURIMissing:
		f.SignIn = "If the application is yours, sign in to see what to send."
		f.Title = app + " sent no return address"
		f.Text = "The app didn’t say where to send you back to. To keep you safe, we stopped here. Nothing was shared. Tell the app’s developer."
	default: // another redirect URI
		f.SignIn = "If the application is yours, sign in to see the difference."
		f.Title = app + " sent a wrong return address"
		f.Text = "The app asked to send you to an address that it hasn’t registered. To keep you safe, we stopped here. Nothing was shared. Tell the app’s developer."
	}
	return f
}
