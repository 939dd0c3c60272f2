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
		Text:   "The application sent you here with a request that can’t be read. Nothing was shared with it.",
		Detail: e.Description,
	}
}

// explain explains why a request can't be shown for consent. It neither links nor repeats the
// redirect URI, and does not name a client that isn't approved, since nobody has reviewed
// these texts.
func explain(p *ledger.Problem) *site.Failure {
	if f := explainAgent(p.Cause, ""); f != nil {
		return f
	}
	f := &site.Failure{Status: http.StatusBadRequest, Cause: p.Cause, Detail: p.Error.Description}
	switch p.Cause {
	case ledger.UnknownClient:
		f.Title = "Application not found"
		f.Text = "The link that brought you here names an application that is not registered with this service. Nothing was shared with it."
	case ledger.ClientPending:
		f.Status = http.StatusForbidden
		f.Title = "This application has not been reviewed yet"
		f.Text = "An administrator of this service has to review an application before anybody can use it. Nothing was shared with it. Please try again later."
		f.Detail = "The client is pending. If it is yours, ask an administrator of this service."
	case ledger.ClientRejected:
		f.Status = http.StatusForbidden
		f.Title = "This application was not approved"
		f.Text = "An administrator of this service has reviewed the application and did not approve it. Nothing was shared with it."
		f.Detail, f.SignIn = "The client was rejected.", "If it is yours, sign in, and this page tells you the reason."
	case ledger.ClientSuspended:
		f.Status = http.StatusForbidden
		f.Title = "This application is suspended"
		f.Text = "An administrator of this service has stopped the application for now. Nothing new was shared with it."
		f.Detail, f.SignIn = "The client is suspended.", "If it is yours, sign in, and this page tells you the reason."
	default: // the redirect URI
		f.SignIn = "If the application is yours, sign in, and this page shows you the difference."
		f.Title = "This link does not lead back to its application"
		f.Text = "The address to return to is missing, or is not one that the application has registered. To keep you safe we stopped here. Nothing was shared."
	}
	return f
}
