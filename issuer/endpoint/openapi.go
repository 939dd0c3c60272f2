package endpoint

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/julienschmidt/httprouter"
)

//go:embed openapi.json
var openAPI string

// OpenAPI returns the description of the endpoints in OpenAPI 3.1, for a server with these
// base addresses, without trailing slash.
func OpenAPI(baseURL, appURL string) []byte {
	return []byte(strings.NewReplacer("{base_url}", baseURL, "{app_url}", appURL).Replace(openAPI))
}

// openAPI returns the handler of GET /v2/openapi.json, with the document rendered once.
func (e *Endpoints) openAPI() httprouter.Handle {
	s := e.Server.View().Settings()
	body := OpenAPI(s.BaseURL, s.AppURL)
	digest := sha256.Sum256(body)
	etag := `"` + hex.EncodeToString(digest[:12]) + `"`
	return func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
		serveDocument(w, r, "application/json", body, etag, e.Server.View().Settings().JWKSMaxAge)
	}
}
