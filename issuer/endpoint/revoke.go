package endpoint

import (
	"errors"
	"net/http"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// revoke handles POST /v2/auth/oauth2/revoke (RFC 7009 §2). The response to a value that is
// not a token of the client, or not a token at all, is that to a token that was revoked. The
// client can't handle such an error (RFC 7009 §2.2), which would also reveal whether a token
// that another client was issued is genuine. Such values count as failures, as at the token endpoint.
func (e *Endpoints) revoke(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	request, answered, ok := e.presentedToken(w, r, true)
	if !ok {
		return
	}
	err := e.Server.Revoke(r.Context(), request)
	answered(err)
	var refused *oauth.Error
	switch {
	case err == nil:
	case !errors.As(err, &refused):
		e.fail(w, r, err)
		return
	case refused.Code != oauth.InvalidGrant:
		e.refuse(w, r, request.Client, refused)
		return
	case e.throttled(w, r, request.Client, refused):
		return
	}
	h := w.Header()
	h["Cache-Control"] = noStore
	h["Pragma"] = noCache
	h["Content-Length"] = empty
	w.WriteHeader(http.StatusOK)
}
