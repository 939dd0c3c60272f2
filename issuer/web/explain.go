package web

import (
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// unreadableRequest is the failure for a request whose client and redirect URI can't be
// determined.
func unreadableRequest(e *oauth.Error) *failure {
	return &failure{
		status: http.StatusBadRequest, title: "This link is not complete", cause: ledger.RequestMalformed,
		text:   "The application sent you here with a request that can’t be read. Nothing was shared with it.",
		detail: e.Description,
	}
}

// explain explains why a request can't be shown for consent. It neither links nor repeats the
// redirect URI, and does not name a client that isn't approved, since nobody has reviewed
// these texts.
func explain(p *ledger.Problem) *failure {
	if f := explainAgent(p.Cause, ""); f != nil {
		return f
	}
	f := &failure{status: http.StatusBadRequest, cause: p.Cause, detail: p.Error.Description}
	switch p.Cause {
	case ledger.UnknownClient:
		f.title = "Application not found"
		f.text = "The link that brought you here names an application that is not registered with this service. Nothing was shared with it."
	case ledger.ClientPending:
		f.status = http.StatusForbidden
		f.title = "This application has not been reviewed yet"
		f.text = "An administrator of this service has to review an application before anybody can use it. Nothing was shared with it. Please try again later."
		f.detail = "The client is pending. If it is yours, ask an administrator of this service."
	case ledger.ClientRejected:
		f.status = http.StatusForbidden
		f.title = "This application was not approved"
		f.text = "An administrator of this service has reviewed the application and did not approve it. Nothing was shared with it."
		f.detail, f.signIn = "The client was rejected.", "If it is yours, sign in, and this page tells you the reason."
	case ledger.ClientSuspended:
		f.status = http.StatusForbidden
		f.title = "This application is suspended"
		f.text = "An administrator of this service has stopped the application for now. Nothing was shared with it."
		f.detail, f.signIn = "The client is suspended.", "If it is yours, sign in, and this page tells you the reason."
	default: // the redirect URI
		f.signIn = "If the application is yours, sign in, and this page shows you the difference."
		f.title = "This link does not lead back to its application"
		f.text = "The address to return to is missing, or is not one that the application has registered. To keep you safe we stopped here. Nothing was shared."
	}
	return f
}
