package middleware

import (
	"encoding/json"
	"net/http"
	"strings"
)

// refusal is one answer of RFC 6750 §3.1. All of it is fixed text: nothing of
// the request is ever in an answer.
type refusal struct {
	status      int
	code        string // error; empty for the bare challenge
	description string // error_description
	scope       string // what is needed, for insufficient_scope
}

var (
	// A request without any token learns the scheme and nothing more.
	noToken = refusal{status: http.StatusUnauthorized}

	badRequest = refusal{
		status: http.StatusBadRequest, code: "invalid_request",
		description: "The Authorization header must be one Bearer token",
	}
	invalid = refusal{
		status: http.StatusUnauthorized, code: "invalid_token",
		description: "The access token is invalid",
	}
	expired = refusal{
		status: http.StatusUnauthorized, code: "invalid_token",
		description: "The access token has expired",
	}
	// Our trouble, not the token's: the client must neither drop the token nor
	// refresh it, so there is no challenge.
	keysUnavailable = refusal{
		status: http.StatusServiceUnavailable, code: "temporarily_unavailable",
		description: "The access token can't be verified at the moment",
	}
)

// retryAfter is in seconds, about the time in which the key set is asked for
// again.
const retryAfter = "5"

func insufficientScope(names string) *refusal {
	return &refusal{
		status: http.StatusForbidden, code: "insufficient_scope",
		description: "The access token lacks a scope that this request needs",
		scope:       names,
	}
}

// refuse writes an answer; nothing else in the package does.
func (g *Guard) refuse(w http.ResponseWriter, f *refusal) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	if f.status == http.StatusServiceUnavailable {
		h.Set("Retry-After", retryAfter)
	} else {
		h.Set("WWW-Authenticate", g.challenge(f))
	}
	if f.code == "" {
		h.Set("Content-Length", "0")
		w.WriteHeader(f.status)
		return
	}
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(f.status)
	// An error here means that the client has gone; there is nobody to tell.
	_ = json.NewEncoder(w).Encode(struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}{f.code, f.description})
}

// challenge is the value of WWW-Authenticate.
func (g *Guard) challenge(f *refusal) string {
	var parameters []string
	if g.realm != "" {
		parameters = append(parameters, g.realm)
	}
	if f.code != "" {
		parameters = append(parameters, parameter("error", f.code), parameter("error_description", f.description))
	}
	if f.scope != "" {
		parameters = append(parameters, parameter("scope", f.scope))
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
