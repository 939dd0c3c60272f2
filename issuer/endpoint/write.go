package endpoint

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// errorBody is an error response (RFC 6749 §5.2) with an error_id.
type errorBody struct {
	Error       oauth.Code `json:"error"`
	Description string     `json:"error_description"`
	ID          string     `json:"error_id,omitempty"`
}

func writeError(w http.ResponseWriter, status int, e *oauth.Error) {
	writeJSON(w, status, errorBody{e.Code, e.Description, e.ID})
}

// Header values that never change are shared, so that responses don't allocate them.
var (
	typeJSON  = []string{"application/json"}
	noStore   = []string{"no-store"}
	noCache   = []string{"no-cache"}
	noSniff   = []string{"nosniff"}
	noFrame   = []string{"DENY"}
	noContent = []string{"default-src 'none'; frame-ancestors 'none'"}
	oneYear   = []string{"max-age=31536000"}
	anyOrigin = []string{"*"}
	closing   = []string{"close"}
	empty     = []string{"0"}

	retryAfter = []string{"Retry-After"}
)

// writeJSON writes a response with a body that must not be stored (RFC 6749 §5.1).
func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // all bodies are types of this package or of oauth
	}
	h := w.Header()
	h["Content-Type"] = typeJSON
	h["Cache-Control"] = noStore
	h["Pragma"] = noCache
	h["Content-Length"] = []string{strconv.Itoa(len(text))}
	w.WriteHeader(status)
	w.Write(text) //nolint:errcheck // the client has disconnected
}
