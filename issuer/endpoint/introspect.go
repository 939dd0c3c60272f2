package endpoint

import (
	"errors"
	"net/http"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// introspect handles POST /v2/auth/oauth2/introspect (RFC 7662 §2).
func (e *Endpoints) introspect(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	request, answered, ok := e.presentedToken(w, r, false)
	if !ok {
		return
	}
	response, err := e.Server.Introspect(r.Context(), request)
	answered(err)
	var refused *oauth.Error
	switch {
	case errors.As(err, &refused):
		e.refuse(w, r, request.Client, refused)
	case err != nil:
		e.fail(w, r, err)
	default:
		writeJSON(w, http.StatusOK, response)
	}
}
