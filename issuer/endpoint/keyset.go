package endpoint

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// keySet handles GET /.well-known/jwks.json. It needs no leader, so it works during every
// outage.
func (e *Endpoints) keySet(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	k := e.KeySet()
	serveDocument(w, r, "application/jwk-set+json", k.Body, k.ETag, k.MaxAge)
}

// metadata handles GET /.well-known/oauth-authorization-server (RFC 8414 §3).
func (e *Endpoints) metadata(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	s := e.Server.View().Settings()
	described := oauth.DescribeServer(s.BaseURL, s.AppURL, scope.All().Names())
	if s.AcceptsAgents() {
		described.Documents, described.RegistrationEndpoint = true, s.BaseURL+oauth.PathRegister
	}
	described.PolicyURI, described.TermsURI = s.Brand.PrivacyURL, s.Brand.TermsURL
	body, err := json.Marshal(described)
	if err != nil {
		e.fail(w, r, fmt.Errorf("render metadata: %w", err))
		return
	}
	serveDocument(w, r, "application/json", body, "", s.JWKSMaxAge)
}

// serveDocument serves a document that any origin may read and anybody may cache.
func serveDocument(w http.ResponseWriter, r *http.Request, contentType string, body []byte, etag string, maxAge time.Duration) {
	h := w.Header()
	h["Access-Control-Allow-Origin"] = anyOrigin
	h.Set("Cache-Control", "public, max-age="+strconv.Itoa(int(maxAge.Seconds())))
	if etag != "" {
		h.Set("ETag", etag)
		if oauth.MatchesETag(r.Header["If-None-Match"], etag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		w.Write(body) //nolint:errcheck // the client is gone
	}
}
