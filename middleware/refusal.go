package middleware

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Refusal is an answer to a request that may not pass: RFC 6750 §3.1, and what
// has nothing to do with the token. All of it is fixed text of the program:
// nothing of the request is ever in an answer.
type Refusal struct {
	Status      int           // of HTTP
	Code        string        // error; empty for the bare challenge
	Description string        // error_description
	Scope       string        // what is needed, for insufficient_scope
	RetryAfter  time.Duration // of a 503

	// silent refusals have no challenge: another token would not help.
	silent bool
}

// copy is the caller's own, so that nobody can change the refusals of others.
func (r Refusal) copy() *Refusal { return &r }

// Error makes a Refusal an error, for frameworks whose handlers return one.
func (r *Refusal) Error() string {
	if r.Code == "" {
		return http.StatusText(r.Status)
	}
	return r.Code + ": " + r.Description
}

var (
	// A request without any token learns the scheme and nothing more.
	noToken = Refusal{Status: http.StatusUnauthorized}

	badRequest = Refusal{
		Status: http.StatusBadRequest, Code: "invalid_request",
		Description: "The Authorization header must be one Bearer token",
	}
	badPath = Refusal{
		Status: http.StatusBadRequest, Code: "invalid_request", silent: true,
		Description: "The path can be read in more than one way",
	}
	invalid = Refusal{
		Status: http.StatusUnauthorized, Code: "invalid_token",
		Description: "The access token is invalid",
	}
	expired = Refusal{
		Status: http.StatusUnauthorized, Code: "invalid_token",
		Description: "The access token has expired",
	}
	closed = Refusal{
		Status: http.StatusForbidden, Code: "insufficient_scope",
		Description: "No scope opens this route",
	}
	// The same answer whether the team exists or not, so it tells nothing of
	// that. No scope would help, so there is no challenge.
	notMember = Refusal{
		Status: http.StatusForbidden, Code: "access_denied", silent: true,
		Description: "The user does not belong to the team or organization in the path",
	}
)

// defaultRetry is for a 503 when nobody knows better.
const defaultRetry = 5 * time.Second

// unavailable is our trouble, not the token's: the client must neither drop the
// token nor refresh it, so there is no challenge.
func unavailable(description string, retryAfter time.Duration) *Refusal {
	if retryAfter <= 0 {
		retryAfter = defaultRetry
	}
	return &Refusal{
		Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", silent: true,
		Description: description, RetryAfter: retryAfter,
	}
}

func insufficientScope(names ...string) *Refusal {
	return &Refusal{
		Status: http.StatusForbidden, Code: "insufficient_scope",
		Description: "The access token lacks a scope that this request needs",
		Scope:       strings.Join(names, " "),
	}
}

// Refuse writes a refusal; nothing else in the package does.
func (g *Guard) Refuse(w http.ResponseWriter, f *Refusal) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	if challenge := g.Challenge(f); challenge != "" {
		h.Set("WWW-Authenticate", challenge)
	}
	if f.RetryAfter > 0 {
		seconds := (f.RetryAfter + time.Second - 1) / time.Second
		h.Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	if f.Code == "" {
		h.Set("Content-Length", "0")
		w.WriteHeader(f.Status)
		return
	}
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(f.Status)
	// The members of the challenge, once more for those who read bodies. An
	// error here means that the client has gone; there is nobody to tell.
	_ = json.NewEncoder(w).Encode(struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
		Scope       string `json:"scope,omitempty"`
	}{f.Code, f.Description, f.Scope})
}

// Challenge is the value of WWW-Authenticate, or empty if the refusal is not
// about the token.
func (g *Guard) Challenge(f *Refusal) string {
	if f.silent {
		return ""
	}
	var parameters []string
	if g.realm != "" {
		parameters = append(parameters, g.realm)
	}
	if f.Code != "" {
		parameters = append(parameters, parameter("error", f.Code), parameter("error_description", f.Description))
	}
	if f.Scope != "" {
		parameters = append(parameters, parameter("scope", f.Scope))
	}
	if g.metadata != "" {
		parameters = append(parameters, g.metadata)
	}
	if len(parameters) == 0 {
		return "Bearer"
	}
	return "Bearer " + strings.Join(parameters, ", ")
}

// parameter is one auth-param. It panics on a value outside the characters of
// RFC 6750 §3, which are those of a quoted-string without escapes.
func parameter(name, value string) string {
	for i := range len(value) {
		if c := value[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			panic("middleware: " + name + " holds a character that a challenge can't")
		}
	}
	return name + `="` + value + `"`
}
