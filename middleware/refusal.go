package middleware

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Refusal is the answer to a refused request: RFC 6750 §3.1, and refusals that are not
// about the token. It is fixed text of the program, without any part of the request.
type Refusal struct {
	Status      int           // of HTTP
	Code        string        // error; empty for the bare challenge
	Description string        // error_description
	Scope       string        // the required scopes, for insufficient_scope
	RetryAfter  time.Duration // of a 503

	// silent refusals have no challenge, since another token would not help.
	silent bool
}

// copy returns a copy that the caller may change.
func (r Refusal) copy() *Refusal { return &r }

// Error makes a Refusal an error, for frameworks whose handlers return one.
func (r *Refusal) Error() string {
	if r.Code == "" {
		return http.StatusText(r.Status)
	}
	return r.Code + ": " + r.Description
}

var (
	// The answer to a request without a token has no error (RFC 6750 §3.1).
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
	// The answer is the same whether the team exists or not. No scope would help, so there
	// is no challenge.
	notMember = Refusal{
		Status: http.StatusForbidden, Code: "access_denied", silent: true,
		Description: "The user does not belong to the team or organization in the path",
	}
)

// defaultRetry is the Retry-After of a 503 if none is known.
const defaultRetry = 5 * time.Second

// unavailable returns a 503 for a failure of this service. The client should neither drop
// nor refresh its token, so there is no challenge.
func unavailable(description string, retryAfter time.Duration) *Refusal {
	if retryAfter <= 0 {
		retryAfter = defaultRetry
	}
	return &Refusal{
		Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", silent: true,
		Description: description, RetryAfter: retryAfter,
	}
}

// InsufficientScope returns the refusal of a token without scopes that the request needs,
// for [Guard.Refuse]. It is for handlers whose routes don't tell what a request needs, such
// as an MCP server with a scope for each tool: the client asks for these scopes and tries
// again. It panics as [Guard.Require] does.
func InsufficientScope(scopes ...string) *Refusal {
	mustScopes("InsufficientScope", scopes)
	return insufficientScope(scopes...)
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
	// The body repeats the members of the challenge. An error means that the client has
	// disconnected.
	_ = json.NewEncoder(w).Encode(struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
		Scope       string `json:"scope,omitempty"`
	}{f.Code, f.Description, f.Scope})
}

// Challenge returns the value of WWW-Authenticate, or an empty string if the refusal is
// not about the token.
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
	switch {
	case f.Scope != "":
		parameters = append(parameters, parameter("scope", f.Scope))
	case f.Status == http.StatusUnauthorized && g.scopes != "":
		parameters = append(parameters, g.scopes)
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
			panic("middleware: " + name + " has a character that a challenge can't contain")
		}
	}
	return name + `="` + value + `"`
}
