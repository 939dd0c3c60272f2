package endpoint

import (
	"net/http"
	"strings"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// Applications that run in a browser are public clients. They call some endpoints from
// origins that this server doesn't know, so every origin is permitted (Fetch §3.3), without
// credentials: these endpoints read no cookie. The pages and the authorization step never
// permit one.

// crossOrigin are the endpoints that scripts of every origin may call by POST.
var crossOrigin = []string{oauth.PathToken, oauth.PathRevoke}

// options returns the handler of OPTIONS for a path with these methods, which also answers a
// preflight. Scripts may set the headers in allowHeaders: Authorization isn't among them, so
// that a browser doesn't send the secret of a confidential client. For Chromium the asterisk
// covers Authorization too, so a preflight that asks for it is not granted anything.
func options(methods string) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
		h := w.Header()
		h.Set("Allow", methods+", OPTIONS")
		h.Set("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
		asked := strings.ToLower(r.Header.Get("Access-Control-Request-Headers"))
		if r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != "" && !strings.Contains(asked, "authorization") {
			h["Access-Control-Allow-Origin"] = anyOrigin
			h.Set("Access-Control-Allow-Methods", methods)
			h.Set("Access-Control-Allow-Headers", allowHeaders)
			h.Set("Access-Control-Max-Age", preflightAge)
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

const (
	// allowHeaders are the headers of a cross-origin request. A body of JSON needs
	// Content-Type; tracing libraries and agents add others, which have no effect here.
	// By Fetch §3.3.5 the asterisk does not cover Authorization.
	allowHeaders = "Content-Type, *"
	preflightAge = "7200" // seconds; Chromium keeps a preflight no longer
)

// exposeToScripts lets scripts of every origin read the response, unless the request carried
// a client secret, which doesn't belong in a browser. Nor may they read the response to a
// request without a client_id, since its body may not have been understood.
//
// The headers don't depend on Origin, and no cache may store the response, so it needs no
// Vary.
func exposeToScripts(w http.ResponseWriter, c oauth.ClientCredentials) {
	if c.ID == "" || c.Secret != "" || c.Basic {
		return
	}
	openToScripts(w)
}

// openToScripts lets scripts of every origin read the response.
func openToScripts(w http.ResponseWriter) {
	w.Header()["Access-Control-Allow-Origin"] = anyOrigin
	w.Header()["Access-Control-Expose-Headers"] = retryAfter
}
