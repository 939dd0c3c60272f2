package endpoint

import (
	"log/slog"
	"mime"
	"net/http"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/issuer/clientdoc"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/limit"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/requestlog"
)

// The limits on registrations from one address, on each node: a burst, and a rate per second.
// Many users of one office may have one address, and each of their programs registers once.
const (
	registerBurst   = 60
	registerRate    = 0.1
	maxRegistrants  = 10_000 // addresses that are counted
	maxRegistration = 8 << 10
)

// register handles POST /v2/auth/oauth2/register (RFC 7591 §3). The response has no credential,
// so scripts of every origin may read it.
func (e *Endpoints) register(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	openToScripts(w)
	if wait := e.registrations.Take(limit.Network(e.ClientIP(r)), e.Now()); wait > 0 {
		w.Header().Set("Retry-After", seconds(wait))
		e.refuseRegistration(w, r, http.StatusTooManyRequests, &oauth.Error{
			Code: oauth.TemporarilyUnavailable, Description: "There were too many registrations. Wait before the next one.", Cause: uint16(ledger.Throttled),
		})
		return
	}
	body, err := readBody(w, r, maxRegistration)
	if err != nil {
		e.refuseBody(w, err)
		return
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		e.refuseRegistration(w, r, http.StatusBadRequest, &oauth.Error{
			Code: oauth.InvalidClientMetadata, Description: "The body must be application/json.", Cause: uint16(ledger.RequestMalformed),
		})
		return
	}
	asked, malformed := clientdoc.ParseRegistration(body)
	if malformed != nil {
		e.refuseRegistration(w, r, http.StatusBadRequest, unregistrable(malformed))
		return
	}
	clientID, refused := e.Server.Register(asked)
	if refused != nil {
		e.refuseRegistration(w, r, http.StatusBadRequest, refused)
		return
	}
	writeJSON(w, http.StatusCreated, oauth.NewRegistered(clientID, asked.Name, asked.RedirectURIs))
}

// unregistrable is the error for a body that is no registration (RFC 7591 §3.2.2).
func unregistrable(e *clientdoc.Error) *oauth.Error {
	refused := &oauth.Error{Code: oauth.InvalidClientMetadata, Cause: uint16(ledger.RegistrationRefused)}
	switch e.Reason {
	case clientdoc.RedirectURIsMissing:
		refused.Code, refused.Description = oauth.InvalidRedirectURI, "The member redirect_uris is missing."
	case clientdoc.GrantNotOffered:
		refused.Description = "The client needs the grant type authorization_code and the response type code."
	default:
		refused.Description = "The body is not valid JSON, repeats a member, or has one of another type."
	}
	return refused
}

// refuseRegistration writes an error of RFC 7591 §3.2.2, with an error_id.
func (e *Endpoints) refuseRegistration(w http.ResponseWriter, r *http.Request, status int, refused *oauth.Error) {
	cause := ledger.Cause(refused.Cause)
	refused.ID = e.Server.ErrorID("", ledger.Refusal{Code: refused.Code, Cause: cause})
	requestlog.Add(r.Context(), slog.String("cause", cause.String()))
	writeError(w, status, refused)
}

func (e *Endpoints) acceptsAgents() bool {
	return e.Server.View().Settings().AcceptsAgents()
}

// whileAgents returns the handler of a path that exists only while agents are accepted.
func (e *Endpoints) whileAgents(h httprouter.Handle) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
		if !e.acceptsAgents() {
			NotFound(w, r)
			return
		}
		h(w, r, p)
	}
}
